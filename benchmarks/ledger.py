"""What an event costs in the ledger, on SQLite and PostgreSQL.

Events per second and CPU per event: one by one, from sixteen writers at once, and ten to an
append; and what one more event costs in a discussion of 10,000 events ÷ in one of 10, which must
not be more. CPU is that of this process alone. The PostgreSQL server is the one that the tests
start, without syncing to disk, or the one that BENCHMARK_POSTGRES names.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from pathlib import Path

from tests.ledger.events import note, opened
from tests.postgres import NoPostgres, postgres_server

from benchmarks.measured import Measured
from roundtable.ledger import open_ledger
from roundtable.ports import Ledger

EVENTS = 800
WRITERS = 16
BATCH = 10
SMALL, LARGE = 10, 10_000
PAIRS = 300
TEXT = "A sentence of the usual length, said by one expert to the others. " * 8


async def one_by_one(ledger: Ledger, discussion_id: str) -> None:
    for _ in range(EVENTS):
        await ledger.append(discussion_id, [note(TEXT)])


async def from_many_writers(ledger: Ledger, discussion_id: str) -> None:
    async def write() -> None:
        for _ in range(EVENTS // WRITERS):
            await ledger.append(discussion_id, [note(TEXT)])

    await asyncio.gather(*(write() for _ in range(WRITERS)))


async def many_to_an_append(ledger: Ledger, discussion_id: str) -> None:
    for _ in range(EVENTS // BATCH):
        await ledger.append(discussion_id, [note(TEXT) for _ in range(BATCH)])


Way = Callable[[Ledger, str], Awaitable[None]]
WAYS: dict[str, Way] = {
    "one by one": one_by_one,
    f"{WRITERS} writers at once": from_many_writers,
    f"{BATCH} to an append": many_to_an_append,
}


async def measure(place: str, where: str) -> list[Measured]:
    ledger = await open_ledger(where)
    rows: list[Measured] = []
    for number, (name, way) in enumerate(WAYS.items()):
        discussion_id = f"rt_{number}"
        await ledger.append(discussion_id, [opened()])
        wall, cpu = time.perf_counter(), time.process_time()
        await way(ledger, discussion_id)
        rows.append(
            _speed(f"{place}, events {name}", time.perf_counter() - wall, time.process_time() - cpu)
        )
    ratio = await growth(ledger)
    name = f"{place}, CPU of one more event at {LARGE:,} ÷ at {SMALL}"
    await ledger.close()
    return [*rows, Measured(name, ratio, "x", 1.2)]


def bare_commits(path: Path) -> Measured:
    """The floor: the same text, durably, without a ledger, a thread or an event loop."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE events (id TEXT, seq INTEGER, data TEXT)")
        wall, cpu = time.perf_counter(), time.process_time()
        for seq in range(EVENTS):
            connection.execute("INSERT INTO events VALUES ('rt_0', ?, ?)", (seq, TEXT))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return _speed("bare sqlite3, a transaction for each event", wall, cpu)


async def growth(ledger: Ledger) -> float:
    """One more event in a long and in a short discussion, in turn, so that noise hits both."""
    await _fill(ledger, "rt_large", LARGE)
    for number in range(PAIRS):
        await _fill(ledger, f"rt_small_{number}", SMALL)
    small: list[float] = []
    large: list[float] = []
    for number in range(PAIRS):
        small.append(await _cost(ledger, f"rt_small_{number}"))
        large.append(await _cost(ledger, "rt_large"))
    return statistics.median(large) / statistics.median(small)


def _speed(name: str, wall: float, cpu: float) -> Measured:
    told = f"{1000 * cpu / EVENTS:.3f} ms CPU for each"
    return Measured(name, round(EVENTS / wall), "/s", detail=told)


async def _fill(ledger: Ledger, discussion_id: str, events: int) -> None:
    await ledger.append(discussion_id, [opened(), *(note(TEXT) for _ in range(events - 1))])


async def _cost(ledger: Ledger, discussion_id: str) -> float:
    event = note(TEXT)
    start = time.process_time()
    await ledger.append(discussion_id, [event])
    return time.process_time() - start


def run() -> list[Measured]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places = {"SQLite": str(folder / "ledger.db")}
        try:
            places["PostgreSQL"] = os.environ.get("BENCHMARK_POSTGRES") or (
                stack.enter_context(postgres_server()).new_database()
            )
        except NoPostgres as error:
            print(error)
        rows = [bare_commits(folder / "bare.db")]
        for place, where in places.items():
            rows += asyncio.run(measure(place, where))
        return rows
