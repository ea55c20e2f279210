"""What an event costs in the ledger: `python benchmarks/ledger.py [postgresql://…]`.

Prints, for SQLite and PostgreSQL side by side, events per second and CPU per event: one by one,
from sixteen writers at once, and ten to an append; and what one more event costs in a discussion
of 10,000 events against one of 10, which must not be more. CPU is that of this process alone.
Without an address, a PostgreSQL server is started as the tests do it (without syncing to disk).
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.ledger.events import note, opened  # noqa: E402
from tests.postgres import NoPostgres, postgres_server  # noqa: E402

from roundtable.ledger import open_ledger  # noqa: E402
from roundtable.ports import Ledger  # noqa: E402

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


async def measure(where: str) -> dict[str, str]:
    ledger = await open_ledger(where)
    rows: dict[str, str] = {}
    for number, (name, way) in enumerate(WAYS.items()):
        discussion_id = f"rt_{number}"
        await ledger.append(discussion_id, [opened()])
        wall, cpu = time.perf_counter(), time.process_time()
        await way(ledger, discussion_id)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        rows[name] = _speed(wall, cpu)
    rows[f"one more at {LARGE:,} : at {SMALL}"] = await growth(ledger)
    await ledger.close()
    return rows


def bare_commits(path: Path) -> str:
    """The floor: the same text, durably, without a ledger, a thread or an event loop."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE events (id TEXT, seq INTEGER, data TEXT)")
        wall, cpu = time.perf_counter(), time.process_time()
        for seq in range(EVENTS):
            connection.execute("INSERT INTO events VALUES ('rt_0', ?, ?)", (seq, TEXT))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return _speed(wall, cpu)


async def growth(ledger: Ledger) -> str:
    """One more event in a long and in a short discussion, in turn, so that noise hits both."""
    await _fill(ledger, "rt_large", LARGE)
    for number in range(PAIRS):
        await _fill(ledger, f"rt_small_{number}", SMALL)
    small: list[float] = []
    large: list[float] = []
    for number in range(PAIRS):
        small.append(await _cost(ledger, f"rt_small_{number}"))
        large.append(await _cost(ledger, "rt_large"))
    ratio = statistics.median(large) / statistics.median(small)
    return f"{ratio:8.2f} x the CPU"


def _speed(wall: float, cpu: float) -> str:
    return f"{EVENTS / wall:8,.0f}/s {1000 * cpu / EVENTS:7.3f} ms CPU"


async def _fill(ledger: Ledger, discussion_id: str, events: int) -> None:
    await ledger.append(discussion_id, [opened(), *(note(TEXT) for _ in range(events - 1))])


async def _cost(ledger: Ledger, discussion_id: str) -> float:
    event = note(TEXT)
    start = time.process_time()
    await ledger.append(discussion_id, [event])
    return time.process_time() - start


def main() -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        places = {"SQLite": str(Path(folder) / "ledger.db")}
        if sys.argv[1:]:
            places["PostgreSQL"] = sys.argv[1]
        else:
            try:
                places["PostgreSQL"] = stack.enter_context(postgres_server()).new_database()
            except NoPostgres as error:
                print(error)
        floor = bare_commits(Path(folder) / "bare.db")
        measured = {name: asyncio.run(measure(where)) for name, where in places.items()}
    print(f"{'':28}" + "".join(f"{name:>28}" for name in measured))
    for row in next(iter(measured.values())):
        print(f"{row:28}" + "".join(f"{rows[row]:>28}" for rows in measured.values()))

    print(f"bare sqlite3, a transaction for each event: {floor}")


if __name__ == "__main__":
    main()
