"""A council without a model: a stubborn Scholar, a sycophantic Muse, and your own Engineer.

Run it: python examples/rehearsal.py
"""

from __future__ import annotations

import asyncio
import tempfile

from roundtable import Roundtable
from roundtable.ports import SpeakRequest
from roundtable.speakers.scripted import ScriptedSpeaker


def engineer(request: SpeakRequest) -> str:
    """A speaker of your own is a function from a request to words. What it holds, it declares."""
    vote = '{"on": "d1", "before": "o2", "choice": "o2", "acceptable": [], "rejects": ["o1"]}'
    declaration = (
        f'\n```declaration\n{{"votes": [{vote}], '
        '"position": "Start with one deployable; split when a team splits.", "confidence": 90, '
        '"conditions": [], "new_points": [], "stances": [], "adopted": [], "abstain": null}\n```'
    )
    if "Critique of Others" in request.user:
        return (
            "## Critique of Others\nNobody counted the machines.\n"
            "## Contradictions / Tensions\nnone\n"
            "## Updated Position\nStart with one deployable; split when a team splits.\n"
            "## Updated Confidence\nhigh, the numbers are clear.\n"
            "## What Changed\nnothing" + declaration
        )
    return (
        "## Analysis\nFive people cannot operate twenty services.\n"
        "## Verification\nOne on-call rota covers at most three of them.\n"
        "## Confidence\nhigh\n"
        "## Dissent\nI would not sign a design without a rollback plan." + declaration
    )


async def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        own = {"house-engineer": ScriptedSpeaker(engineer)}
        async with Roundtable(home=home, model="scripted/echo", speakers=own) as table:
            verdict = await table.ask(
                "Should a team of five build on microservices?",
                scholar="scripted/stubborn",
                engineer="scripted/house-engineer",
                muse="scripted/sycophant",
            )
    print(verdict.headline)
    print(verdict.written)
    for dissent in verdict.dissent:
        print(f"{dissent.participant}: {dissent.position}")


if __name__ == "__main__":
    asyncio.run(main())
