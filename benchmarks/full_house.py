"""A full house: a thousand discussions open in one process, each with a call of about a second.

Quick councils on a SQLite file, all opened and driven at once. Their speakers are scripted: they
wait as a model lets one wait, and answer with sentences of the recorded examples, so that lengths,
and how well they compress, are those of real answers. What is measured is how late the event loop
is (by a clock that ticks every 10 ms: a loop that stands still for a second misses a hundred of its
ticks, and each of them counts), the CPU of a discussion among a thousand ÷ among fifty, and what
each takes of memory and of the disk. A tick is late by our doing for as long as this process
computed since the one before; what other processes took of the machine meanwhile is only told.
"""

from __future__ import annotations

import asyncio
import gc
import random
import re
import sqlite3
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.procedures.everywhere import obedient

from benchmarks.measured import Measured
from benchmarks.provider import settings
from roundtable.bootstrap import App, start
from roundtable.core.values import SearchHit, Usage
from roundtable.engine.garbage import short_looks
from roundtable.examples import examples
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest

FEW, MANY = 50, 1_000
ROUNDS = 4
"""How often the few are held, half of them before the many and half after, since a shared machine
is not always as quick: their CPU is then that of two hundred."""
WAIT = (0.6, 1.4)
"""Seconds that a call takes, at least and at most."""
TICK = 0.01
MODEL = "scripted/prose"
SENTENCES = 4
"""In each section of an answer: three to four hundred words in all."""
_PLACE = re.compile(r"^.* by scripted/prose\.$", re.MULTILINE)


@dataclass(frozen=True)
class House:
    """What so many discussions at once took."""

    cpu: float
    wall: float
    lags: Sequence[tuple[float, float]]
    """How late each tick was, by our doing and in all."""

    def lag(self, share: float, *, in_all: bool = False) -> float:
        """Milliseconds; a share of 0.5 is the median."""
        late = sorted(each[in_all] for each in self.lags)
        return 1000 * late[int(share * (len(late) - 1))]


class Prose:
    """A speaker that waits, and then keeps to the form in sentences that somebody once wrote."""

    def __init__(self) -> None:
        self.silent = False
        """Whether it says nothing more, once a discussion has come to its last call."""
        self.asked = 0
        """How often it was asked for a last word and was silent."""
        self.asked_by_all = asyncio.Event()

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        if self.silent and "/synthesis/" in request.idempotency_key:
            self.asked += 1
            if self.asked == MANY:
                self.asked_by_all.set()
            await asyncio.Event().wait()
        chance = random.Random(request.idempotency_key)
        await asyncio.sleep(chance.uniform(*WAIT))
        text = _PLACE.sub(
            lambda _: " ".join(chance.sample(_sentences(), SENTENCES)), obedient(request)
        )
        on_words(text)
        tokens_in = (len(request.system) + len(request.user)) // 4
        usage = Usage(calls=1, input_tokens=tokens_in, output_tokens=len(text) // 4)
        return Reply(text=text, usage=usage, served_by=request.model, finish_reason="stop")

    async def close(self) -> None:
        """There is nothing to close."""


class Pages:
    """A search that takes a second."""

    name = "pages"

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        await asyncio.sleep(1)
        texts = [" ".join(_sentences()[n : n + 4]) for n in range(count)]
        place = "https://example.org"
        return [SearchHit(title=query, url=f"{place}/{n}", text=t) for n, t in enumerate(texts)]


@cache
def _sentences() -> list[str]:
    found = [
        sentence
        for example in examples().values()
        if example.language == "en"
        for record in example.records()
        if record.event.type == "SpeechGiven"
        for sentence in re.findall(r"[A-Z][^.\n|#\[\]]{60,220}\.", record.event.text)
    ]
    return sorted(set(found))


def run() -> list[Measured]:
    with TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(home: Path) -> list[Measured]:
    async with _started(home / "held", prose := Prose()) as app:
        grown = await _held_open(app, prose)
    async with _started(home / "run", Prose()) as app:
        with short_looks():  # as a server does
            few, searching = [], []
            for number in range(ROUNDS):
                if number == ROUNDS // 2:
                    many = await _house(app, MANY)
                few.append(await _house(app, FEW))
                searching.append(await _house(app, FEW, search=True))
    at_few = statistics.median(each.cpu for each in few) / FEW
    at_many = many.cpu / MANY
    late = (
        f"p50 {many.lag(0.5):.0f} ms, worst {many.lag(1):.0f} ms; "
        f"among {FEW} p99 {statistics.median(each.lag(0.99) for each in few):.0f} ms; "
        f"with what others took of the machine p99 {many.lag(0.99, in_all=True):.0f} ms"
    )
    cpu = (
        f"{1000 * at_many:.1f} ms against {1000 * at_few:.1f} ms; {many.wall:.1f} s in all, "
        f"among {FEW} {statistics.median(each.wall for each in few):.1f} s"
    )
    return [
        Measured(f"event loop late, p99, {MANY:,} open", many.lag(0.99), "ms", 100, late),
        Measured(f"CPU per discussion, {MANY:,} ÷ {FEW}", at_many / at_few, "x", 1.2, cpu),
        Measured(
            f"{FEW} councils with a search ÷ without, wall",
            statistics.median(s.wall / f.wall for s, f in zip(searching, few, strict=True)),
            "x",
            1.3,
        ),
        Measured("memory per open discussion", grown / MANY / 1000, "KB", 150, "at the last call"),
        Measured("database per quick council", _stored(home / "run") / 1000, "KB", 30),
    ]


@asynccontextmanager
async def _started(home: Path, prose: Prose) -> AsyncIterator[App]:
    """The program with this speaker, warmed up: imports, templates, what is learnt once."""
    chosen = settings(home, {}, default_model=MODEL, concurrency=3 * MANY)
    async with start(chosen, env={}, scripts={"prose": prose}, search=Pages()) as app:
        await _house(app, FEW)
        yield app


async def _house(app: App, count: int, *, search: bool = False) -> House:
    """Hold so many councils at once."""
    lags: list[tuple[float, float]] = []

    async def watch() -> None:
        begun, ticks, used = time.perf_counter(), 0, time.process_time()
        while True:
            await asyncio.sleep(max(0.0, begun + (ticks + 1) * TICK - time.perf_counter()))
            now, before, used = time.perf_counter(), used, time.process_time()
            while begun + (ticks + 1) * TICK <= now:
                ticks += 1
                late = now - begun - ticks * TICK
                lags.append((min(late, used - before), late))

    watching = asyncio.create_task(watch())
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(_council(app, number, search=search) for number in range(count)))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    return House(cpu, wall, lags)


async def _council(app: App, number: int, *, search: bool = False) -> None:
    sentences = _sentences()
    topic = f"{sentences[number % len(sentences)]} Should we, in case {number}?"
    request = OpenRequest(topic=topic, options={"all": MODEL, "quick": True}, search=search)
    discussion_id = (await app.service.open(request)).discussion_id
    state = await app.service.run(discussion_id)
    assert state.status == "concluded", state.closed
    assert state.usage.calls == 5, state.usage


async def _held_open(app: App, prose: Prose) -> int:
    """Bytes by which this process grows while so many wait for their last word, all at once."""
    gc.collect()
    at_first = _resident()
    prose.silent = True
    councils = [asyncio.create_task(_council(app, number)) for number in range(MANY)]
    await prose.asked_by_all.wait()
    grown = _resident() - at_first
    for each in councils:
        each.cancel()
    await asyncio.gather(*councils, return_exceptions=True)
    return grown


def _stored(home: Path) -> float:
    """Bytes of the database for each council that came to its end."""
    file = home / "roundtable.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (held,) = connection.execute("SELECT count(*) FROM discussions").fetchone()
    return float(file.stat().st_size / held)


def _resident() -> int:
    """This process's memory in bytes; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return 0
    return pages * 4096
