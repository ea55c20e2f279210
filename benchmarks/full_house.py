"""A full house: a thousand discussions open in one process, each with a call of about a second.

Quick councils on a SQLite file, all opened and driven at once. Their speakers are scripted: they
wait as a model lets one wait, and answer with sentences of the recorded examples, so that lengths,
and how well they compress, are those of real answers. What is measured is how late the event loop
is (by a clock that ticks every 10 ms: a loop that stands still for a second misses a hundred of its
ticks, and each of them counts), the CPU of a discussion among a thousand ÷ among fifty, and what
each takes of memory and of the disk.
"""

from __future__ import annotations

import asyncio
import gc
import random
import re
import sqlite3
import statistics
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.procedures.everywhere import obedient

from benchmarks.measured import Measured
from benchmarks.provider import settings
from roundtable.bootstrap import App, start
from roundtable.core.state import State
from roundtable.examples import examples
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.core.values import Usage
from roundtable.procedures.opening import OpenRequest

FEW, MANY = 50, 1_000
ROUNDS = 4
"""How often the few are held: their CPU is then that of two hundred."""
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
    lags: Sequence[float]
    memory: float

    def lag(self, share: float) -> float:
        return sorted(self.lags)[int(share * (len(self.lags) - 1))]


class Prose:
    """A speaker that waits, and then keeps to the form in sentences that somebody once wrote."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        chance = random.Random(request.idempotency_key)  # noqa: S311 - nothing is guarded by it
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
    chosen = settings(home, {}, default_model=MODEL, concurrency=3 * MANY)
    async with start(chosen, env={}, scripts={"prose": Prose()}) as app:
        await _house(app, FEW)  # imports, templates, what is learnt once
        few = [await _house(app, FEW) for _ in range(ROUNDS)]
        many = await _house(app, MANY)
    stored, held = _stored(home)
    at_few = statistics.median(each.cpu for each in few) / FEW
    at_many = many.cpu / MANY
    detail = (
        f"p50 {1000 * many.lag(0.5):.0f} ms, worst {1000 * many.lag(1):.0f} ms; "
        f"among {FEW} p99 {1000 * statistics.median(each.lag(0.99) for each in few):.0f} ms"
    )
    return [
        Measured(f"event loop late, p99, {MANY:,} open", 1000 * many.lag(0.99), "ms", 100, detail),
        Measured(
            f"CPU per discussion, {MANY:,} ÷ {FEW}",
            at_many / at_few,
            "x",
            1.2,
            f"{1000 * at_many:.1f} ms against {1000 * at_few:.1f} ms; {many.wall:.1f} s in all, "
            f"among {FEW} {statistics.median(each.wall for each in few):.1f} s",
        ),
        Measured("memory per open discussion", many.memory / MANY / 1000, "KB", 150),
        Measured("database per quick council", stored / held / 1000, "KB", 30),
    ]


async def _house(app: App, count: int) -> House:
    """Hold so many councils at once."""
    gc.collect()
    at_first = peak = _resident()
    lags: list[float] = []

    async def watch() -> None:
        nonlocal peak
        begun, ticks = time.perf_counter(), 0
        while True:
            await asyncio.sleep(max(0.0, begun + (ticks + 1) * TICK - time.perf_counter()))
            now = time.perf_counter()
            while begun + (ticks + 1) * TICK <= now:
                ticks += 1
                lags.append(now - begun - ticks * TICK)
            if not ticks % 10:
                peak = max(peak, _resident())

    async def council(number: int) -> State:
        topic = f"{_sentences()[number % len(_sentences())]} Should we, in case {number}?"
        request = OpenRequest(topic=topic, options={"all": MODEL, "quick": True}, search=False)
        state = await app.service.open(request)
        return await app.service.run(state.discussion_id)

    watching = asyncio.create_task(watch())
    wall, cpu = time.perf_counter(), time.process_time()
    for state in await asyncio.gather(*(council(number) for number in range(count))):
        assert state.status == "concluded", state.closed
        assert state.usage.calls == 5, state.usage
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    return House(cpu, wall, lags, peak - at_first)


def _stored(home: Path) -> tuple[int, int]:
    """Bytes of the database, and how many discussions are in it."""
    file = home / "roundtable.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (held,) = connection.execute("SELECT count(*) FROM discussions").fetchone()
    return file.stat().st_size, held


def _resident() -> int:
    """This process's memory in bytes; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return 0
    return pages * 4096
