"""The PostgreSQL ledger with servers that are absent, locked, read-only, newer or not its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from roundtable.core.errors import (
    LeaseLost,
    LedgerBroken,
    LedgerBusy,
    LedgerReadOnly,
    LedgerTooNew,
    LedgerUnreachable,
)
from roundtable.ledger import migrations as migrations_module
from roundtable.ledger.migrations import migrations
from roundtable.ledger.postgres import PostgresLedger
from roundtable.ledger.postgres_connection import MIGRATING
from tests.ledger.events import closed, note, opened, texts

ID = "rt_00000001"


@asynccontextmanager
async def opening(url: str, *, patience: float = 10.0) -> AsyncIterator[PostgresLedger]:
    ledger = await PostgresLedger.open(url, patience=patience)
    try:
        yield ledger
    finally:
        await ledger.close()


@asynccontextmanager
async def another_program(url: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def test_a_server_that_is_not_there_is_unreachable_and_the_password_is_not_told() -> None:
    with pytest.raises(LedgerUnreachable) as caught:
        await PostgresLedger.open("postgresql://me:secret@127.0.0.1:1/roundtable")
    assert "127.0.0.1:1/roundtable" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.remedy


async def test_a_database_that_does_not_exist_is_unreachable(postgres_url: str) -> None:
    with pytest.raises(LedgerUnreachable, match="refuses"):
        await PostgresLedger.open(f"{postgres_url}_not")


@pytest.mark.parametrize("url", ["postgresql://host:port/db", "postgresql://h/d?sslmode=maybe"])
async def test_an_address_that_makes_no_sense_is_unreachable(url: str) -> None:
    with pytest.raises(LedgerUnreachable):
        await PostgresLedger.open(url)


async def test_a_database_of_another_program_is_refused_and_left_as_it_is(
    postgres_url: str,
) -> None:
    async with another_program(postgres_url) as other:
        await other.execute("CREATE TABLE events (theirs int)")
        with pytest.raises(LedgerBroken, match="another program"):
            await PostgresLedger.open(postgres_url)
        tables = await other.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    assert [row["tablename"] for row in tables] == ["events"]


@pytest.mark.requirement("I-15")
async def test_an_older_database_is_migrated_by_one_of_many(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        first = migrations("postgres")[0]
        patch.setattr(migrations_module, "migrations", lambda _: (first,))
        async with opening(postgres_url) as ledger:
            await ledger.append(ID, [opened(), note("old")])

    ledgers = await asyncio.gather(*(PostgresLedger.open(postgres_url) for _ in range(4)))

    assert texts(await ledgers[0].read(ID)) == ["old"]
    await ledgers[3].take_lease(ID, "me", ttl=60)
    for ledger in ledgers:
        await ledger.close()


@pytest.mark.requirement("I-15")
async def test_an_empty_database_is_filled_by_one_of_those_who_found_it_empty(
    postgres_url: str,
) -> None:
    """Both have looked, and wait: the second must look again, not remember what it saw."""
    async with another_program(postgres_url) as other:
        async with other.transaction():
            await other.execute("SELECT pg_advisory_xact_lock($1)", MIGRATING)
            both = [asyncio.create_task(PostgresLedger.open(postgres_url)) for _ in range(2)]
            await _wait_for_a_lock(other, len(both))
        for ledger in await asyncio.gather(*both):
            await ledger.close()


@pytest.mark.requirement("I-15")
async def test_a_newer_database_is_refused(postgres_url: str) -> None:
    async with opening(postgres_url):
        pass
    async with another_program(postgres_url) as other:
        await other.execute("UPDATE roundtable_schema SET version = 99")
    with pytest.raises(LedgerTooNew, match="99") as caught:
        await PostgresLedger.open(postgres_url)
    assert "ROUNDTABLE_DB" in caught.value.remedy


@pytest.mark.parametrize("sql", ["UPDATE events SET data = ''", "DELETE FROM events"])
async def test_events_can_be_neither_changed_nor_removed_one_by_one(
    postgres_url: str, sql: str
) -> None:
    async with opening(postgres_url) as ledger, another_program(postgres_url) as other:
        await ledger.append(ID, [opened(), note("kept")])
        with pytest.raises(asyncpg.RaiseError):
            await other.execute(sql)
        assert texts(await ledger.read(ID)) == ["kept"]


@pytest.mark.requirement("I-14")
async def test_a_lock_held_for_too_long_is_busy_and_passes(postgres_url: str) -> None:
    async with (
        another_program(postgres_url) as other,
        opening(postgres_url, patience=0.2) as ledger,
    ):
        await ledger.append(ID, [opened()])
        async with other.transaction():
            await other.execute("SELECT 1 FROM discussions FOR UPDATE")
            with pytest.raises(LedgerBusy) as caught:
                await ledger.append(ID, [note()])
            assert caught.value.remedy
            assert len(await ledger.read(ID)) == 1
        assert [r.seq for r in await ledger.append(ID, [note()])] == [2]


async def test_a_read_only_database_can_be_read_but_not_written(postgres_url: str) -> None:
    async with opening(postgres_url) as ledger:
        await ledger.append(ID, [opened()])
    name = postgres_url.rpartition("/")[2]
    async with another_program(postgres_url) as other:
        await other.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")

    async with opening(postgres_url) as ledger:
        assert len(await ledger.summaries()) == len(await ledger.read(ID)) == 1
        with pytest.raises(LedgerReadOnly) as caught:
            await ledger.append(ID, [note()])
        assert caught.value.remedy


async def test_a_tail_misses_nothing_when_its_connections_are_cut(postgres_url: str) -> None:
    async with opening(postgres_url) as ledger, another_program(postgres_url) as other:
        await ledger.append(ID, [opened()])

        async def follow() -> list[int]:
            return [record.seq async for record in ledger.tail(ID)]

        async with opening(postgres_url) as writer, asyncio.timeout(30):
            tail = ledger.tail(ID)
            seqs = [(await anext(tail)).seq]
            for seq in range(2, 7):
                waiting = asyncio.ensure_future(anext(tail))
                await other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
                )
                await writer.append(ID, [note(str(seq))])
                seqs.append((await waiting).seq)
            await writer.append(ID, [closed()])
            seqs += [record.seq async for record in tail]
            assert seqs == list(range(1, 8)) == await follow()


async def test_the_ledger_works_again_when_the_server_has_cut_its_connections(
    postgres_url: str,
) -> None:
    async with opening(postgres_url) as ledger, another_program(postgres_url) as other:
        await ledger.append(ID, [opened()])
        await other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        async with asyncio.timeout(10):
            while True:
                try:
                    await ledger.append(ID, [note("once")], expected=1)
                    break
                except LedgerUnreachable:
                    continue
        assert texts(await ledger.read(ID)) == ["once"]


async def _wait_for_a_lock(other: asyncpg.Connection[Any], how_many: int = 1) -> None:
    """Until so many do."""
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    async with asyncio.timeout(60):
        while await other.fetchval(waiting) < how_many:
            pass


@pytest.mark.requirement("I-14")
async def test_an_append_that_waits_is_fenced_by_what_was_done_meanwhile(postgres_url: str) -> None:
    async with opening(postgres_url) as ledger, another_program(postgres_url) as other:
        await ledger.append(ID, [opened()])
        lease = await ledger.take_lease(ID, "me", ttl=60)
        async with another_program(postgres_url) as watcher:
            async with other.transaction():
                await other.execute("SELECT FROM discussions WHERE id = $1 FOR UPDATE", ID)
                waiting = asyncio.create_task(ledger.append(ID, [note("late")], lease=lease))
                await _wait_for_a_lock(watcher)
                await other.execute("UPDATE leases SET owner = 'you', epoch = epoch + 1")
            with pytest.raises(LeaseLost):
                await waiting
        assert texts(await ledger.read(ID)) == []


@pytest.mark.requirement("I-14")
async def test_an_append_that_waits_finds_what_was_stored_by_its_key_meanwhile(
    postgres_url: str,
) -> None:
    async with (
        opening(postgres_url) as ledger,
        opening(postgres_url) as another,
        another_program(postgres_url) as other,
        another_program(postgres_url) as watcher,
    ):
        await ledger.append(ID, [opened()])
        async with other.transaction():
            await other.execute("SELECT FROM discussions WHERE id = $1 FOR UPDATE", ID)
            both = [
                asyncio.create_task(each.append(ID, [note("once", key="k"), note("more")]))
                for each in (ledger, another)
            ]
            await _wait_for_a_lock(watcher, 2)
        first, second = await asyncio.gather(*both)
        assert first[0] == second[0], "what one key stands for is one event"
        assert texts(await ledger.read(ID)) == ["once", "more", "more"]


async def test_a_server_that_is_not_waited_for_any_more_fails_at_once(postgres_url: str) -> None:
    async with opening(postgres_url) as ledger, another_program(postgres_url) as other:
        await ledger.append(ID, [opened()])
        async with other.transaction():
            await other.execute("SELECT FROM discussions WHERE id = $1 FOR UPDATE", ID)
            waiting = asyncio.create_task(ledger.append(ID, [note("never")]))
            await _wait_for_a_lock(other)
            ledger.hang_up()
            with pytest.raises(LedgerUnreachable):
                await waiting
