"""The worker commits together what waits together, and one failure stays alone."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roundtable.core.errors import LedgerError
from roundtable.ledger.sqlite_file import BusyRetry
from roundtable.ledger.worker import Work, Worker


@pytest.fixture
async def worker(tmp_path: Path) -> AsyncIterator[Worker]:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(tmp_path / "t.db", isolation_level=None)
        connection.execute("CREATE TABLE t (x)")
        return connection

    worker = Worker(connect, lambda error: LedgerError(str(error)), BusyRetry(5))
    await worker.start()
    yield worker
    await worker.close()


def insert(x: int) -> Work[int]:
    def work(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO t VALUES (?)", (x,))
        if x < 0:
            raise ValueError(f"{x} is negative")
        return x

    return work


def rows(connection: sqlite3.Connection) -> list[int]:
    return [x for (x,) in connection.execute("SELECT x FROM t")]


@asynccontextmanager
async def held_up(worker: Worker) -> AsyncIterator[list[str]]:
    """While in it, the worker gets on with nothing; gives the statements it has run since."""
    statements: list[str] = []
    free = threading.Event()

    def wait(connection: sqlite3.Connection) -> None:
        connection.set_trace_callback(statements.append)
        assert free.wait(10)

    waiting = asyncio.ensure_future(worker.read(wait))
    await asyncio.sleep(0)
    try:
        yield statements
    finally:
        free.set()
        await waiting


async def test_writes_that_wait_together_are_committed_together(worker: Worker) -> None:
    async with held_up(worker) as statements:
        writes = [asyncio.ensure_future(worker.write(insert(x))) for x in range(20)]
        await asyncio.sleep(0)

    assert await asyncio.gather(*writes) == list(range(20))
    assert statements.count("COMMIT") == 1
    assert await worker.read(rows) == list(range(20))


async def test_one_write_that_refuses_does_not_disturb_the_others(worker: Worker) -> None:
    def refuse(_: sqlite3.Connection) -> int:
        raise ValueError("refused")

    async with held_up(worker) as statements:
        jobs = (insert(1), refuse, insert(3))
        writes = [asyncio.ensure_future(worker.write(job)) for job in jobs]
        await asyncio.sleep(0)

    outcomes = await asyncio.gather(*writes, return_exceptions=True)

    assert [str(outcome) for outcome in outcomes] == ["1", "refused", "3"]
    assert statements.count("COMMIT") == 1
    assert await worker.read(rows) == [1, 3]


async def test_one_write_that_breaks_down_half_done_leaves_nothing_and_the_others_whole(
    worker: Worker,
) -> None:
    async with held_up(worker):
        writes = [asyncio.ensure_future(worker.write(insert(x))) for x in (1, -2, 3)]
        await asyncio.sleep(0)

    outcomes = await asyncio.gather(*writes, return_exceptions=True)

    assert [str(outcome) for outcome in outcomes] == ["1", "-2 is negative", "3"]
    assert await worker.read(rows) == [1, 3]


async def test_reads_and_writes_keep_their_order(worker: Worker) -> None:
    async with held_up(worker):
        jobs = [
            asyncio.ensure_future(job)
            for job in (
                worker.write(insert(1)),
                worker.read(lambda c: len(rows(c))),
                worker.write(insert(2)),
                worker.write(insert(3)),
                worker.read(lambda c: len(rows(c))),
            )
        ]
        await asyncio.sleep(0)

    assert await asyncio.gather(*jobs) == [1, 1, 2, 3, 3]


async def test_a_write_is_carried_out_though_its_caller_is_cancelled(worker: Worker) -> None:
    async with held_up(worker):
        write = asyncio.ensure_future(worker.write(insert(1)))
        await asyncio.sleep(0)
        write.cancel()

    assert await worker.read(rows) == [1]


async def test_a_group_whose_commit_fails_is_carried_out_one_by_one(worker: Worker) -> None:
    def spoil(connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("the disk is gone")

    async with held_up(worker):
        writes = [asyncio.ensure_future(worker.write(work)) for work in (insert(1), spoil)]
        await asyncio.sleep(0)

    first, second = await asyncio.gather(*writes, return_exceptions=True)

    assert first == 1
    assert isinstance(second, LedgerError)
    assert await worker.read(rows) == [1]


async def test_what_was_handed_in_before_the_end_is_finished(worker: Worker) -> None:
    writes = [asyncio.ensure_future(worker.write(insert(x))) for x in range(5)]
    await asyncio.sleep(0)
    await worker.close()

    assert await asyncio.gather(*writes) == list(range(5))
    with pytest.raises(LedgerError, match="closed"):
        await worker.read(rows)
