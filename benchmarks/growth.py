"""Growth: what one more event costs a discussion of 10,000 events ÷ one of 10, and what it costs
to show and export 10,000 speeches.

Two discussions of the same kind lie in one ledger, and what is measured is done to the one and to
the other in turn: a remark through the tools and through the service, which is decided on by the
rules of its procedure, in every procedure; a vote to end; a status; and what a page that is watched
gets for one more event. `show` and `export` are commands of their own, with all that they load. CPU
is that of the whole process, and medians count.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.procedures.everywhere import HELD

from benchmarks.measured import Measured
from benchmarks.provider import settings
from roundtable.bootstrap import App, start
from roundtable.core.declaration import Declaration, DeclaredStance, DeclaredVote
from roundtable.core.effects import turn_id
from roundtable.core.events import Event, NewEvent, SpeechGiven, StageClosed, StageOpened
from roundtable.core.values import HOST_WIRE_NAME, OUTSIDE
from roundtable.core.verdict_sources import REMARK
from roundtable.ledger.sqlite import SqliteLedger
from roundtable.ports import Ledger
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.toolset import Toolset
from roundtable.surfaces.web.drafts import DraftStore
from roundtable.surfaces.web.sse import Rooms
from roundtable.views.meeting_status import DISCUSSION

FEW, MANY = 10, 10_000
"""Events, and speeches of what is shown and exported."""
REPEATED = 31
GOAL = 1.3
SECONDS = 2.0
SEATS = 10
TEXT = "A sentence of the usual length, said by one of the experts to the others. " * 5
PAGE = ("export", "--format", "page")
"""It holds each speech as a browser shows it, and is only told."""
COMMANDS = (
    ("show",),
    ("show", "--full"),
    ("show", "--json"),
    *(("export", "--format", form) for form in ("md", "html", "json")),
    PAGE,
)
ENV = {"OPENAI_API_KEY": "key", "ROUNDTABLE_SEARCH": "none"}

UNHEARD = "what a seat reads that has heard none of it"
Act = Callable[[str], Awaitable[object]]
"""What is done to a discussion."""


def run() -> list[Measured]:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        rows = asyncio.run(_grown(home))
        for told, declares, goal in (("", False, SECONDS), (", all of which declare", True, None)):
            closed = asyncio.run(_held(home, declares=declares))
            rows += [_command(home, closed, command, told, goal) for command in COMMANDS]
        return rows


async def _grown(home: Path) -> list[Measured]:
    """The same acts in a short and a long discussion."""
    rows: list[Measured] = []
    async with _started(home) as (app, ledger):
        for name, held in HELD.items():
            if "," in name or name in ("meeting", "delphi"):
                continue
            request = OpenRequest(**held.request)
            few, many = [(await app.service.open(request)).discussion_id for _ in "12"]
            await _fill(ledger, app, few, FEW)
            await _fill(ledger, app, many, MANY)
            rows.append(await _ratio(f"a remark and its decision, {name}", _remark(app), few, many))
        toolset = Toolset(app, web=False)
        few, many = [await _meeting(toolset) for _ in "12"]
        await _fill(ledger, app, few, FEW)
        await _fill(ledger, app, many, MANY)
        rows.append(await _ratio("a remark and its decision, meeting", _remark(app), few, many))
        for name, act in _acts(toolset).items():
            rows.append(await _ratio(name, act, few, many))
        # Whoever has not heard ten thousand speeches has them counted and the newest folded.
        rows.append(await _ratio(UNHEARD, lambda id_: toolset.read(id_, "p0"), few, many, None))
        rows.append(await _page(app, few, many))
        await toolset.close()
    return rows


@asynccontextmanager
async def _started(home: Path) -> AsyncIterator[tuple[App, Ledger]]:
    chosen = settings(home, ENV)
    ledger = await SqliteLedger.open(home / "roundtable.db")
    async with start(chosen, env=ENV, ledger=ledger) as app:
        yield app, ledger


async def _meeting(toolset: Toolset) -> str:
    """A meeting in its second round, where all have declared something in the first."""
    opened = await toolset.create_discussion(
        topic="How is billing to be built?",
        participants=[{"profile": f"p{n}", "role": f"Seat {n}"} for n in range(3)],
        max_rounds=3,
    )
    id_ = opened.discussion_id
    for number in range(3):
        declared = {"position": f"Position {number}.", "new_points": [f"Point {number} counts."]}
        await toolset.speak(id_, f"p{number}", TEXT, declared)
    return id_


def _remark(app: App) -> Act:
    numbers = count()

    async def act(id_: str) -> None:
        await app.service.speak(id_, HOST_WIRE_NAME, f"Remark {next(numbers)}. {TEXT}")

    return act


def _acts(toolset: Toolset) -> dict[str, Act]:
    numbers = count()

    async def remark(id_: str) -> None:
        await toolset.speak(id_, HOST_WIRE_NAME, f"Remark {next(numbers)}. {TEXT}")

    async def vote(id_: str) -> None:
        votes = (await toolset.status(id_)).votes_to_end
        await toolset.vote(id_, "p1", "p1" not in votes)

    async def status(id_: str) -> None:
        await toolset.status(id_, "p1")

    return {
        "a remark through the tools": remark,
        "a vote to end, and a status": vote,
        "a status": status,
    }


async def _page(app: App, few: str, many: str) -> Measured:
    """One more event on a page that is watched: its frame, and what derives from the whole."""
    rooms = Rooms(app.service, DraftStore())
    remark = _remark(app)

    async def update(id_: str) -> None:
        async with rooms.enter(id_) as room:
            before = room.last_seq
            await remark(id_)
            frames = room.feed(before)
            while room.last_seq == before:
                await anext(frames)
            await frames.aclose()
            await room.derived()

    try:
        return await _ratio("a page's update", update, few, many)
    finally:
        await rooms.close()


async def _ratio(name: str, act: Act, few: str, many: str, goal: float | None = GOAL) -> Measured:
    """The median CPU of an act in the one discussion ÷ in the other, done in turn."""
    taken: dict[str, list[float]] = {few: [], many: []}
    for _ in range(REPEATED):
        for id_, seconds in taken.items():
            begun = time.process_time()
            await act(id_)
            seconds.append(1000 * (time.process_time() - begun))
    # The first time, everything is read.
    short, long = (statistics.median(taken[id_][1:]) for id_ in (few, many))
    return Measured(name, long / short, "x", goal, f"{long:.2f} ms against {short:.2f} ms")


async def _fill(ledger: Ledger, app: App, id_: str, events: int) -> None:
    """Let the chair remark until a discussion has so many events."""
    state = await app.service.read(id_)
    host = state.start.host.id
    said = (
        SpeechGiven(
            turn_id=turn_id(0, REMARK, f"{HOST_WIRE_NAME}-{number}"),
            stage=REMARK,
            round=0,
            participant=host,
            model=OUTSIDE,
            text=f"Remark {number}. {TEXT[:300]}",
        )
        for number in range(1, 1 + events - state.seq)
    )
    await _append(ledger, id_, said)


async def _append(ledger: Ledger, id_: str, events: Iterator[Event]) -> None:
    while some := list(islice(events, 500)):
        await ledger.append(id_, [NewEvent(each, datetime.now(UTC)) for each in some])


async def _held(home: Path, *, declares: bool) -> str:
    """A meeting of 10,000 speeches in 1,000 rounds that was stopped. Where all of them declare
    something, every round has a record, a count and a measure of its own."""
    async with _started(home) as (app, ledger):
        toolset = Toolset(app, web=False)
        opened = await toolset.create_discussion(
            topic="Should billing become a service of its own?",
            participants=[{"profile": f"p{n}", "role": f"Seat {n}"} for n in range(SEATS)],
            choices=["Split it off", "Leave it"],
            max_rounds=10,
        )
        id_ = opened.discussion_id
        await _append(ledger, id_, _rounds(MANY // SEATS, declares=declares))
        await app.service.stop(id_, by="the benchmark")
        state = await app.service.read(id_)
        assert len(state.speeches) == MANY
        assert state.closed is not None
        await toolset.close()
        return id_


def _rounds(rounds: int, *, declares: bool) -> Iterator[Event]:
    seats = [f"p{number}" for number in range(SEATS)]
    for round_ in range(1, rounds + 1):
        turns = tuple(turn_id(round_, DISCUSSION, seat) for seat in seats)
        yield StageOpened(stage=DISCUSSION, round=round_, turns=turns)
        for number, seat in enumerate(seats):
            yield SpeechGiven(
                turn_id=turns[number],
                stage=DISCUSSION,
                round=round_,
                participant=seat,
                model=OUTSIDE,
                text=f"Speech {round_} of {seat}. {TEXT}",
                declaration=_declared(round_, number) if declares else None,
            )
        yield StageClosed(stage=DISCUSSION, round=round_, spoke=tuple(seats))


def _declared(round_: int, seat: int) -> Declaration:
    choice = "o1" if (seat + round_ // 100) % 3 else "o2"
    return Declaration(
        votes=(DeclaredVote(on="d1", choice=choice),),
        position=f"Seat {seat} holds {choice} for the reasons of round {round_}.",
        confidence=70,
        new_points=(f"Point of seat {seat}.",) if round_ == 1 else (),
        stances=(DeclaredStance(id=f"p{1 + round_ % SEATS}", stance="agree"),)
        if round_ > 1
        else (),
    )


def _command(
    home: Path, id_: str, command: Sequence[str], told: str, goal: float | None
) -> Measured:
    """Seconds of CPU that a command takes, compiled as an installed one is."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    own = {
        **ENV,
        "ROUNDTABLE_HOME": str(home),
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
        "PYTHONPYCACHEPREFIX": str(home / "compiled"),
    }
    taken: list[float] = []
    for _ in range(4):
        before = _children()
        subprocess.run(
            [sys.executable, "-m", "roundtable", command[0], id_, *command[1:]],
            stdout=subprocess.DEVNULL,
            env={**inherited, **own},
            cwd=home,
            check=True,
        )
        taken.append(_children() - before)
    name = f"{' '.join(command)} of {MANY:,} speeches{told}"
    return Measured(name, statistics.median(taken[1:]), "s CPU", goal if command != PAGE else None)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
