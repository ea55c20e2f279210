"""Interrupt a discussion in the middle, and continue later without repeating a finished call.

Run it: python examples/resume_after_interruption.py
"""

from __future__ import annotations

import asyncio
import tempfile

from roundtable import Roundtable
from roundtable.core.events import StageClosed
from roundtable.ports import SpeakRequest
from roundtable.speakers.scripted import ScriptedSpeaker

calls: list[str] = []


def counted(request: SpeakRequest) -> str:
    calls.append(request.idempotency_key)
    return (
        "A short answer without the required sections: it is used, and flagged.\n"
        '```declaration\n{"position": "Drink tea.", "votes": [], "abstain": null}\n```'
    )


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        own = {"counted": ScriptedSpeaker(counted)}
        async with Roundtable(home=home, model="scripted/counted", speakers=own) as table:
            discussion_id = ""
            async for record in table.discuss("Tea or coffee?", all="scripted/counted"):
                discussion_id = record.discussion_id
                if isinstance(record.event, StageClosed) and record.event.stage == "answer":
                    break  # as if the program had been killed here
        async with Roundtable(home=home, model="scripted/counted", speakers=own) as table:
            state = await table.run(discussion_id)
    first = [call for call in calls if "/1/answer/" in call]
    print(f"{len(first)} calls in round 1, none of them again: {state.status}")


if __name__ == "__main__":
    asyncio.run(main())
