"""Four participants, four rounds: sixteen calls one after another, with what each one took.

Run it: python examples/meeting_4x4.py
"""

from __future__ import annotations

import asyncio
import json
import tempfile

from roundtable import Roundtable
from roundtable.core.events import AttemptFinished
from roundtable.ports import SpeakRequest
from roundtable.speakers.scripted import ScriptedSpeaker

SEATS = ("Architect", "Backend", "Frontend", "Operations")


def speaker(request: SpeakRequest) -> str:
    """Keeps its view over the rounds: nobody gives in, so all four rounds take place."""
    role = next(seat for seat in SEATS if f"/{seat.lower()}/" in request.idempotency_key)
    declaration = {
        "votes": [{"on": "d1", "before": "silent", "choice": "any"}],
        "position": f"{role} measures its own part before anything moves.",
        "new_points": [f"{role} needs its own measurements first."],
    }
    return (
        f"As {role} I look at what my part of the shop would have to carry. "
        + "The queue is short, the table is long, and nobody has measured either of them. " * 16
        + f"\n\n```declaration\n{json.dumps(declaration)}\n```"
    )


async def main() -> None:
    seats = [{"profile": seat.lower(), "role": seat, "model": "scripted/seat"} for seat in SEATS]
    with tempfile.TemporaryDirectory() as home:
        own = {"seat": ScriptedSpeaker(speaker)}
        async with Roundtable(home=home, model="scripted/echo", speakers=own) as table:
            calls = 0
            async for record in table.discuss(
                "Should the shop move to one database?",
                procedure="meeting",
                participants=seats,
                max_rounds=4,
            ):
                event = record.event
                if isinstance(event, AttemptFinished) and "/discussion/" in event.turn_id:
                    calls += 1
                    print(f"{event.turn_id:<24} {event.seconds * 1000:6.1f} ms")
            print(f"{calls} calls to participants")


if __name__ == "__main__":
    asyncio.run(main())
