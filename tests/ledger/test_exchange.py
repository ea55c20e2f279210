"""What processes at one PostgreSQL tell each other: after the commit, together, never relied on;
few connections; and the same through a pooler."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import Any

import asyncpg
import pytest

from roundtable.core.errors import LedgerBusy
from roundtable.ledger import postgres_watch
from roundtable.ledger.exchange import LONGEST, MANY, MOST_NOTICES, Exchange
from roundtable.ledger.postgres import EVENTS, PostgresLedger
from roundtable.ports import Ear
from tests.ledger.child import child
from tests.ledger.events import note, opened, texts

ID = "rt_00000001"


@asynccontextmanager
async def opening(
    url: str, *, patience: float = 10.0, listen: str | None = None
) -> AsyncIterator[PostgresLedger]:
    ledger = await PostgresLedger.open(url, patience=patience, listen=listen)
    try:
        yield ledger
    finally:
        await ledger.close()


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def _hears(ear: Ear, seen: int) -> None:
    async with asyncio.timeout(20):
        await ear.change_beyond(lambda: seen)


# What is said


@pytest.mark.requirement("I-14")
async def test_appends_are_told_after_the_commit_and_together(postgres_url: str) -> None:
    heard: list[str] = []
    async with connected(postgres_url) as other, opening(postgres_url) as ledger:
        await other.add_listener(EVENTS, lambda *said: heard.append(str(said[3])))
        ids = [f"rt_{number}" for number in range(20)]
        for id_ in ids:
            await ledger.append(id_, [opened()])
        for number in range(10):
            await asyncio.gather(*(ledger.append(id_, [note(str(number))]) for id_ in ids))
        await ledger.append(ID, [opened()])
        await ledger.exchange.close()
        await other.fetchval("SELECT 1")  # what was sent before its answer has arrived with it
    lines = [line for notice in heard for line in notice.split("\n")]
    assert {f"11 {id_}" for id_ in ids} | {f"1 {ID}"} <= set(lines)
    assert len(heard) < 220 / 5
    assert len(lines) == len(set(lines))  # of each only how far it has come


async def test_a_process_that_ends_still_tells_what_it_did(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_watch, "SELDOM", 3600.0)
    async with opening(postgres_url) as ledger:
        await ledger.append(ID, [opened()])
        async with ledger.listening(ID) as ear:
            waiting = asyncio.create_task(_hears(ear, 1))
            async with opening(postgres_url) as other:
                await other.append(ID, [note("one")])
                await other.append(ID, [note("two")])
            await waiting
            await _hears(ear, 2)


class Wire:
    """Notices as they would go out."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    async def send(self, channels: list[str], said: list[str]) -> None:
        self.said += zip(channels, said, strict=True)


async def test_more_than_is_worth_telling_is_said_by_one_word() -> None:
    wire = Wire()
    exchange = Exchange(None, wire.send, lambda: None)
    for number in range(20_000):
        exchange.say("a", f"{number} rt_{number:08x}", name=f"rt_{number:08x}")
        if number < 300:
            exchange.say("b", f"line {number}")
    await exchange.close()
    assert [said for channel, said in wire.said if channel == "a"] == [MANY]
    lines = [line for channel, said in wire.said if channel == "b" for line in said.split("\n")]
    assert lines == [f"line {number}" for number in range(300)]


async def test_no_notice_is_longer_than_postgresql_takes() -> None:
    wire = Wire()
    exchange = Exchange(None, wire.send, lambda: None)
    for number in range(1_000):
        exchange.say("a", f"{number} rt_日本{number:08x}", name=str(number))
    await exchange.close()
    assert 1 < len(wire.said) <= MOST_NOTICES
    assert max(len(said.encode()) for _, said in wire.said) <= LONGEST


async def test_many_that_moved_are_found_by_one_look(postgres_url: str) -> None:
    async with opening(postgres_url) as ledger, connected(postgres_url) as other:
        await ledger.append(ID, [opened()])
        async with ledger.listening(ID) as ear:
            await _behind_its_back(other, 2)
            waiting = asyncio.create_task(_hears(ear, 1))
            await other.execute("SELECT pg_notify($1, $2)", EVENTS, MANY)
            await waiting


# What was not said


async def _behind_its_back(connection: asyncpg.Connection[Any], seq: int) -> None:
    """As a process leaves it that died between its commit and its notice."""
    async with connection.transaction():
        await connection.execute("UPDATE discussions SET last_seq = $1 WHERE id = $2", seq, ID)
        await connection.execute(
            "INSERT INTO events SELECT discussion_id, $1, at, 'NoteAdded', 1, NULL, $2 FROM events"
            " WHERE discussion_id = $3 AND seq = 1",
            seq,
            note(str(seq)).event.model_dump_json(),
            ID,
        )


@pytest.mark.requirement("I-14")
async def test_an_append_that_nobody_told_of_is_found_by_looking(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_watch, "SELDOM", 0.05)
    async with opening(postgres_url) as ledger, connected(postgres_url) as other:
        await ledger.append(ID, [opened()])
        async with ledger.listening(ID) as ear:
            waiting = asyncio.create_task(_hears(ear, 1))
            await _behind_its_back(other, 2)
            await waiting
        assert texts(await ledger.read(ID)) == ["2"]


async def test_looking_for_a_thousand_is_one_transaction(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncExitStack() as stack:
        ledger = await stack.enter_async_context(opening(postgres_url))
        looks = count()
        real = ledger._watch._standing

        async def counting(ids: Any) -> Any:
            next(looks)
            return await real(ids)

        monkeypatch.setattr(ledger._watch, "_standing", counting)
        ids = [f"rt_{number}" for number in range(1_000)]
        for id_ in ids:
            await ledger.append(id_, [opened()])
        ears = [await stack.enter_async_context(ledger.listening(id_)) for id_ in ids]
        ledger._watch.soon()
        other = await stack.enter_async_context(opening(postgres_url))
        await other.append(ids[-1], [note()])
        await _hears(ears[-1], 1)
        assert next(looks) <= 2


# Connections


async def _ours(connection: asyncpg.Connection[Any]) -> int:
    return int(
        await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'roundtable'"
            " AND datname = current_database()"
        )
    )


@pytest.mark.requirement("I-14")
async def test_a_process_has_at_most_five_connections_however_much_it_does(
    postgres_url: str,
) -> None:
    async with connected(postgres_url) as other, AsyncExitStack() as stack:
        ledger = await stack.enter_async_context(opening(postgres_url))
        ids = [f"rt_{number}" for number in range(100)]
        await asyncio.gather(*(ledger.append(id_, [opened()]) for id_ in ids))
        for id_ in ids:
            await stack.enter_async_context(ledger.listening(id_))
        await asyncio.gather(*(ledger.append(id_, [note()]) for id_ in ids))
        leases = await asyncio.gather(*(ledger.take_lease(i, "me", ttl=60) for i in ids))
        await asyncio.gather(*(ledger.renew_lease(each, ttl=60) for each in leases))
        assert 1 < await _ours(other) <= 5


async def test_leases_are_renewed_together(postgres_url: str) -> None:
    async with connected(postgres_url) as other, opening(postgres_url) as ledger:
        leases = []
        for number in range(50):
            await ledger.append(f"rt_{number}", [opened()])
            leases.append(await ledger.take_lease(f"rt_{number}", "me", ttl=0))
        await asyncio.gather(*(ledger.renew_lease(each, ttl=60) for each in leases))
        rows = await other.fetch("SELECT xmin::text FROM leases WHERE expires_at > now()")
    assert len(rows) == 50
    assert len({row[0] for row in rows}) <= 2  # so many transactions wrote them


# Through a pooler


async def test_a_pooler_is_noticed(postgres_url: str, pgbouncer_url: str) -> None:
    async with opening(postgres_url) as direct, opening(pgbouncer_url) as through:
        assert (direct.pooled, through.pooled) == (False, True)
        assert (direct.exchange.can_listen, through.exchange.can_listen) == (True, False)


async def test_behind_a_pooler_others_are_heard_at_the_direct_address(
    postgres_url: str, pgbouncer_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_watch, "SELDOM", 3600.0)
    async with opening(pgbouncer_url, listen=postgres_url) as ledger:
        await ledger.append(ID, [opened()])
        async with (
            asyncio.timeout(30),
            ledger.listening(ID) as ear,
            child("append", pgbouncer_url, ID, "child", "2") as other,
        ):
            assert ledger.exchange.listens
            await other.hears("go")
            await _hears(ear, 1)
            await _hears(ear, 2)
            assert await other.says() == "done"
            await other.ends()


async def test_behind_a_pooler_nothing_stays_in_a_session(
    postgres_url: str, pgbouncer_url: str
) -> None:
    async with (
        connected(postgres_url) as other,
        opening(pgbouncer_url, patience=0.2) as ledger,
    ):
        await ledger.append(ID, [opened()])
        async with other.transaction():
            await other.execute("SELECT 1 FROM discussions FOR UPDATE")
            with pytest.raises(LedgerBusy):
                await ledger.append(ID, [note()])
        pooled = await asyncpg.connect(pgbouncer_url, statement_cache_size=0)
        for _ in range(10):
            async with pooled.transaction():
                assert await pooled.fetchval("SHOW lock_timeout") == "0"
                names = await pooled.fetch("SELECT name FROM pg_prepared_statements")
                assert [name for (name,) in names if name] == []
        await pooled.close()
        locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
        assert await other.fetchval(locks) == 0
