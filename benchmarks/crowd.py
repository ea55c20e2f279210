"""A crowd: many processes that speak in one discussion at once, each through its own toolset.

Some hold a seat and speak once in each round, as soon as the round lets them; all of them remark as
the coordinator in between.

    python -m benchmarks.crowd HOME DISCUSSION NAME ROUNDS REMARKS     one of them
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from roundtable.core.errors import NotAllowed
from roundtable.core.state import State
from roundtable.surfaces.toolset import Toolset
from roundtable.surfaces.toolset.moderate import SeatWish
from roundtable.surfaces.toolset.opening import open_toolset
from roundtable.views.meeting_status import DISCUSSION

Begin = Callable[[Sequence[str]], Awaitable[Callable[[], Awaitable[None]]]]
"""Starts one of them with its words; what it gives waits for its end, which must be a good one."""
MOST_SEATS, MOST_ROUNDS, MOST_EXTRA = 12, 10, 20


@dataclass(frozen=True)
class Outcome:
    """What became of it, and how long it took."""

    state: State
    seconds: float


async def speak_there(home: Path, discussion_id: str, name: str, rounds: int, remarks: int) -> None:
    """Speak in so many rounds and make so many remarks; whatever fails is raised."""
    async with open_toolset(home=home, workspace=home, web=False) as toolset:
        for number in range(max(rounds, remarks)):
            if number < remarks:
                text = f"remark {number} of {name}"
                await toolset.speak(discussion_id, "coordinator", text, key=text)
            if number < rounds:
                await _in_turn(toolset, discussion_id, name, f"round {number + 1} of {name}")


async def _in_turn(toolset: Toolset, discussion_id: str, name: str, text: str) -> None:
    cursor = 0
    while True:
        try:
            await toolset.speak(discussion_id, name, text, key=text)
            return
        except NotAllowed:  # the round is not over yet: others have to speak first
            news = await toolset.poll(discussion_id, cursor=cursor, wait=5)
            cursor = news.cursor


async def begun(words: Sequence[str]) -> Callable[[], Awaitable[None]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.crowd", *words), stderr=asyncio.subprocess.PIPE
    )

    async def ended() -> None:
        _, said = await process.communicate()
        assert process.returncode == 0, said.decode()

    return ended


async def gather(home: Path, processes: int, speeches: int, begin: Begin = begun) -> Outcome:
    """Let so many processes speak so many times each."""
    seats = min(processes, MOST_SEATS)
    rounds = min(speeches, MOST_ROUNDS + MOST_EXTRA)
    places: list[SeatWish] = [
        {"profile": f"p{number}", "role": f"Seat {number}"} for number in range(seats)
    ]
    async with open_toolset(home=home, workspace=home, web=False) as toolset:
        opened = await toolset.create_discussion(
            topic="How many can speak at once?",
            participants=places,
            max_rounds=min(rounds, MOST_ROUNDS),
            speech_order="parallel",
        )
        id_ = opened.discussion_id
        if rounds > MOST_ROUNDS:
            await toolset.app.service.extend(id_, rounds - MOST_ROUNDS, by="benchmark")
        began = time.perf_counter()
        crowd = [
            await begin(
                (
                    *(str(home), id_, f"p{number}"),
                    *(
                        (str(rounds), str(speeches - rounds))
                        if number < seats
                        else ("0", str(speeches))
                    ),
                )
            )
            for number in range(processes)
        ]
        for ended in crowd:
            await ended()
        seconds = time.perf_counter() - began
        return Outcome(await toolset.app.service.read(id_), seconds)


def check(outcome: Outcome, processes: int, speeches: int) -> None:
    """Nothing is lost, nothing is doubled, and every round is everybody's."""
    texts = [speech.text for speech in outcome.state.speeches]
    assert len(texts) == len(set(texts)) == processes * speeches
    seats = len(outcome.state.participants)
    rounds = min(speeches, MOST_ROUNDS + MOST_EXTRA)
    spoken = [s for s in outcome.state.speeches if s.stage == DISCUSSION]
    assert Counter(s.round for s in spoken) == dict.fromkeys(range(1, rounds + 1), seats)
    assert [s.round for s in spoken] == sorted(s.round for s in spoken)
    assert all(s.text == f"round {s.round} of {s.participant}" for s in spoken)


def main() -> None:
    home, discussion_id, name, rounds, remarks = sys.argv[1:]
    asyncio.run(speak_there(Path(home), discussion_id, name, int(rounds), int(remarks)))


def run(processes: int = 16, speeches: int = 50) -> Outcome:
    with tempfile.TemporaryDirectory() as home:
        outcome = asyncio.run(gather(Path(home), processes, speeches))
    check(outcome, processes, speeches)
    return outcome


if __name__ == "__main__":
    main()
