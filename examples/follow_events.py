"""Follow a discussion event by event, as the terminal and a live page do.

Run it: python examples/follow_events.py
"""

from __future__ import annotations

import asyncio
import tempfile

from roundtable import Roundtable
from roundtable.core.events import SpeechGiven, VerdictReached


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        async with Roundtable(home=home, model="scripted/echo") as table:
            question = "Should we rewrite the billing service?"
            async for record in table.discuss(question, all="scripted/stubborn", quick=True):
                match record.event:
                    case SpeechGiven() as speech:
                        print(
                            f"{record.seq:>3}  {speech.participant}: {len(speech.text)} characters"
                        )
                    case VerdictReached() as reached:
                        print(f"{record.seq:>3}  verdict, confidence {reached.verdict.confidence}")
                    case event:
                        print(f"{record.seq:>3}  {event.type}")


if __name__ == "__main__":
    asyncio.run(main())
