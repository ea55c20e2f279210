"""The SQLite ledger: its threads, and what it does when others lock the file or it is full."""

# ruff: noqa: ASYNC240 - a test may wait for its files

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
from pathlib import Path

import pytest

from roundtable.core.errors import (
    LedgerBroken,
    LedgerBusy,
    LedgerFull,
    LedgerTooNew,
)
from roundtable.ledger.sqlite import SqliteLedger
from tests.ledger.events import closed, note, opened, texts
from tests.ledger.sqlite_places import another_program, opening

ID = "rt_00000001"
LONG = random.Random(1).randbytes(50_000).hex()
"""A hundred thousand characters that cannot be packed into few."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


async def test_the_database_is_durable_and_safe_for_several_processes(path: Path) -> None:
    async with opening(path) as ledger:
        settings = [
            await ledger._worker.read(lambda c, name=name: c.execute(f"PRAGMA {name}").fetchone())  # type: ignore[misc]
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert settings == [("wal",), (2,), (1,)]


async def test_no_thread_and_no_file_is_left_when_it_is_closed(path: Path) -> None:
    before = set(threading.enumerate())
    async with opening(path) as ledger:
        await ledger.append(ID, [opened()])
        tail = ledger.tail(ID)
        await anext(tail)
        assert len(set(threading.enumerate()) - before) == 2
    assert set(threading.enumerate()) == before
    assert [file.name for file in path.parent.glob("ledger.db*")] == ["ledger.db"]
    await tail.aclose()


async def test_no_thread_is_left_when_it_cannot_be_opened(path: Path) -> None:
    before = set(threading.enumerate())
    path.write_text("no database")
    with pytest.raises(LedgerBroken):
        await SqliteLedger.open(path)
    assert set(threading.enumerate()) == before


def test_several_event_loops_may_share_a_ledger(path: Path) -> None:
    async def write(ledger: SqliteLedger, name: str) -> None:
        for number in range(20):
            await ledger.append(ID, [note(f"{name}{number}")])

    async def follow(ledger: SqliteLedger) -> None:
        async with asyncio.timeout(20):
            followed.extend([record.seq async for record in ledger.tail(ID)])

    async def main() -> None:
        async with opening(path) as ledger:
            await ledger.append(ID, [opened()])
            await asyncio.gather(
                asyncio.to_thread(asyncio.run, follow(ledger)),
                *(asyncio.to_thread(asyncio.run, write(ledger, name)) for name in "ab"),
                _close_after(ledger, 41),
            )

    async def _close_after(ledger: SqliteLedger, seq: int) -> None:
        async for record in ledger.tail(ID):
            if record.seq == seq:
                await ledger.append(ID, [closed()])

    followed: list[int] = []
    asyncio.run(main())
    assert followed == list(range(1, 43))


async def test_an_event_of_a_newer_program_is_said_to_be_too_new(path: Path) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened()])
        with another_program(path) as connection:
            connection.execute(
                "INSERT INTO events VALUES (?, 2, '2027-01-01T00:00:00+00:00', 'New', 1, NULL, ?)",
                (ID, '{"type": "New", "v": 1}'),
            )
        with pytest.raises(LedgerTooNew, match="Event 2"):
            await ledger.read(ID)


@pytest.mark.parametrize("sql", ["UPDATE events SET data = ''", "DELETE FROM events"])
async def test_events_can_be_neither_changed_nor_removed_one_by_one(path: Path, sql: str) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened(), note("kept")])
        with another_program(path) as connection, pytest.raises(sqlite3.IntegrityError):
            connection.execute(sql)
        assert texts(await ledger.read(ID)) == ["kept"]


@pytest.mark.requirement("I-14")
async def test_a_lock_held_for_too_long_is_busy_and_passes(path: Path) -> None:
    async with opening(path, patience=0.05) as ledger:
        await ledger.append(ID, [opened()])
        with another_program(path) as other:
            other.execute("BEGIN IMMEDIATE")
            outcomes = await asyncio.gather(
                *(ledger.append(ID, [note()]) for _ in range(5)), return_exceptions=True
            )
            assert [type(outcome) for outcome in outcomes] == [LedgerBusy] * 5
            assert len(await ledger.read(ID)) == 1
            other.execute("ROLLBACK")
        assert [r.seq for r in await ledger.append(ID, [note("after")])] == [2]


@pytest.mark.requirement("I-14")
async def test_a_lock_held_for_a_while_is_waited_for(path: Path) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened()])
        with another_program(path) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(ledger.append(ID, [note()]))
            done, _ = await asyncio.wait([waiting], timeout=0.05)
            assert not done
            other.execute("COMMIT")
            async with asyncio.timeout(10):
                assert [r.seq for r in await waiting] == [2]


async def _limit_pages(ledger: SqliteLedger, room: int | None) -> None:
    """Let the database grow by `room` pages at most, as if the disk were full then."""

    def limit(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        most = 1_000_000 if room is None else pages + room
        connection.execute(f"PRAGMA max_page_count = {most}").fetchone()

    await ledger._worker.read(limit)


async def test_a_full_disk_loses_nothing_and_the_ledger_stays_usable(path: Path) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened(), note("before")])
        await _limit_pages(ledger, 2)
        with pytest.raises(LedgerFull) as caught:
            await ledger.append(ID, [note("small"), note(LONG)])
        assert caught.value.remedy
        assert texts(await ledger.read(ID)) == ["before"]

        await ledger.append(ID, [note("still fits")])
        await _limit_pages(ledger, None)
        await ledger.append(ID, [note(LONG)])
        assert [r.seq for r in await ledger.read(ID)] == [1, 2, 3, 4]


async def test_one_append_too_big_for_the_disk_does_not_fail_its_neighbours(path: Path) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened()])
        await _limit_pages(ledger, 2)
        said = ["one", LONG, "two"]
        outcomes = await asyncio.gather(
            *(ledger.append(ID, [note(text)]) for text in said), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes] == [list, LedgerFull, list]
        assert texts(await ledger.read(ID)) == ["one", "two"]
