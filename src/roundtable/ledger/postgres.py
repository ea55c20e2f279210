"""The ledger in a PostgreSQL database: for many machines. Needs the extra `postgres`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from ..core.errors import LeaseHeld, LedgerError, LedgerUnreachable, UnknownDiscussion
from ..core.events import NewEvent, StoredEvent, dump
from ..ports import DiscussionSummary, Lease
from .append import Plan, folded, index_change, keys_of, plan_append, stored_event
from .leases import holder, lost
from .postgres_connection import CHANNEL, Listener, migrate, translated
from .tail import PAGE, ChangeSignal, Page, Waiter, follow
from .words import ROWS_AT_ONCE, SAYING, Words

Connection: TypeAlias = "PoolConnectionProxy[Any]"

# The row of the discussion is the lock under which its events are numbered.
_LOCK = "SELECT last_seq FROM discussions WHERE id = $1 FOR UPDATE"
_HEAD = "SELECT last_seq, status FROM discussions WHERE id = $1"
_BY_KEY = """
    SELECT seq, at, key, data FROM events WHERE discussion_id = $1 AND key = ANY ($2::text[])
"""
_AFTER = """
    SELECT seq, at, key, data FROM events WHERE discussion_id = $1 AND seq > $2
    ORDER BY seq LIMIT $3
"""
_INSERT_DISCUSSION = """
    INSERT INTO discussions
        (id, topic, search_text, procedure, status, opened_at, updated_at, last_seq)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
"""
# One round trip for all: the index, the events, and the notice that goes out with the commit.
_WRITE = """
    WITH moved AS (
        UPDATE discussions SET status = coalesce($2, status), updated_at = $3, last_seq = $4
        WHERE id = $1
    ), written AS (
        INSERT INTO events (discussion_id, seq, at, type, v, key, data)
        SELECT $1, seq, at, type, v, key, data
        FROM unnest($5::bigint[], $6::timestamptz[], $7::text[], $8::int[], $9::text[], $10::text[])
            AS new (seq, at, type, v, key, data)
    )
    SELECT pg_notify($11, $12)
"""
_SET_OUTCOME = "UPDATE discussions SET outcome = $2 WHERE id = $1"
_HEADLINES = """
    SELECT id, topic, procedure, status, opened_at, updated_at, last_seq, outcome,
        owner, coalesce(expires_at > clock_timestamp(), false) AS unexpired
    FROM discussions LEFT JOIN leases ON discussion_id = id
    WHERE strpos(search_text, $1) > 0
    ORDER BY updated_at DESC, opened_at DESC, id LIMIT $2
"""
_SAID = "SELECT discussion_id, data FROM events WHERE type = ANY($1)"
_LEASE = """
    SELECT owner, epoch, coalesce(expires_at > clock_timestamp(), false) AS unexpired
    FROM leases WHERE discussion_id = $1
"""
_GRANT = """
    INSERT INTO leases (discussion_id, owner, epoch, expires_at)
    VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))
    ON CONFLICT (discussion_id) DO UPDATE
    SET owner = excluded.owner, epoch = excluded.epoch, expires_at = excluded.expires_at
"""
_FENCE = """
    SELECT true FROM leases
    WHERE discussion_id = $1 AND owner = $2 AND epoch = $3 AND expires_at IS NOT NULL
"""
_RENEW = """
    UPDATE leases SET expires_at = clock_timestamp() + make_interval(secs => $4)
    WHERE discussion_id = $1 AND owner = $2 AND epoch = $3 AND expires_at IS NOT NULL
    RETURNING true
"""
_RELEASE = """
    UPDATE leases SET expires_at = NULL WHERE discussion_id = $1 AND owner = $2 AND epoch = $3
"""

_CONNECTIONS = 10
_SLOWEST_STATEMENT = 60.0


class PostgresLedger:
    """See `roundtable.ports.Ledger`. Belongs to the event loop it was opened in, with `open`."""

    def __init__(self, url: str, patience: float) -> None:
        self._where = _without_secrets(url)
        self._closed = False
        self._signal = ChangeSignal()
        options: dict[str, Any] = {
            "timeout": patience,
            "command_timeout": _SLOWEST_STATEMENT,
            "server_settings": {
                "application_name": "roundtable",
                "lock_timeout": str(max(1, round(patience * 1000))),
            },
        }
        self._listener = Listener(lambda: asyncpg.connect(url, **options), self._signal)
        self._pool = asyncpg.create_pool(
            url, min_size=0, max_size=_CONNECTIONS, reset=_reset, **options
        )

    @classmethod
    async def open(cls, url: str, *, patience: float = 10.0) -> PostgresLedger:
        """Connect to the database at `url` (`postgresql://…`), and migrate it if it is older.

        `patience` is how many seconds to wait for the server (LedgerUnreachable), and for locks
        that others hold (LedgerBusy).
        """
        ledger = cls(url, patience)
        try:
            with translated(ledger._where):
                await ledger._pool
            async with ledger._connection() as connection:
                await migrate(connection, ledger._where)
        except ValueError as error:  # what asyncpg makes of an address that it cannot parse
            raise LedgerUnreachable(
                f"{ledger._where} is not an address of a database: {error}.",
                "Write it as postgresql://user:password@host/database.",
            ) from error
        except BaseException:
            ledger._pool.terminate()
            raise
        return ledger

    async def append(
        self,
        discussion_id: str,
        events: Sequence[NewEvent],
        *,
        expected: int | None = None,
        lease: Lease | None = None,
    ) -> list[StoredEvent]:
        batch = tuple(events)
        plan = None
        while plan is None:
            async with self._transaction() as connection:
                plan = await _append(connection, discussion_id, batch, expected, lease)
        return list(plan.outcome)

    async def read(
        self, discussion_id: str, *, after: int = 0, limit: int | None = None
    ) -> list[StoredEvent]:
        return (await self._page(discussion_id, after, limit)).events

    def tail(self, discussion_id: str, *, after: int = 0) -> AsyncGenerator[StoredEvent, None]:
        async def page(start: int) -> Page:
            return await self._page(discussion_id, start, PAGE)

        return follow(self._listening(discussion_id), page, after)

    async def summaries(
        self, *, limit: int | None = None, search: str | None = None, said: bool = False
    ) -> list[DiscussionSummary]:
        search = (search or "").strip() if said else search
        if said and search:
            words = await self._looked_through(Words(search))
            async with self._connection() as connection:
                rows = await connection.fetch(_HEADLINES, "", None)
            found = [row for row in rows if words.in_discussion(row["id"], row["topic"])]
            return [_summary(row) for row in (found if limit is None else found[:limit])]
        async with self._connection() as connection:
            rows = await connection.fetch(_HEADLINES, folded(search or ""), limit)
        return [_summary(row) for row in rows]

    async def _looked_through(self, words: Words) -> Words:
        async with self._transaction() as connection:
            rows = await connection.cursor(_SAID, list(SAYING))
            while some := await rows.fetch(ROWS_AT_ONCE):
                await asyncio.to_thread(words.look, [(row[0], row[1]) for row in some])
        return words

    async def delete(self, discussion_id: str) -> None:
        # Its events and its lease go with it: ON DELETE CASCADE.
        async with self._transaction() as connection:
            if not await connection.fetchval(
                "DELETE FROM discussions WHERE id = $1 RETURNING true", discussion_id
            ):
                raise UnknownDiscussion(discussion_id)
            await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, f" {discussion_id}")

    async def driver(self, discussion_id: str) -> str | None:
        async with self._connection() as connection:
            row = await connection.fetchrow(_LEASE, discussion_id)
        return holder(row["owner"], unexpired=row["unexpired"]) if row else None

    async def take_lease(self, discussion_id: str, owner: str, *, ttl: float) -> Lease:
        async with self._transaction() as connection:
            if await connection.fetchval(_LOCK, discussion_id) is None:
                raise UnknownDiscussion(discussion_id)
            epoch = 0
            if row := await connection.fetchrow(_LEASE, discussion_id):
                epoch = row["epoch"]
                if held_by := holder(row["owner"], unexpired=row["unexpired"]):
                    raise LeaseHeld(discussion_id, held_by)
            await connection.execute(_GRANT, discussion_id, owner, epoch + 1, ttl)
            return Lease(discussion_id, owner, epoch + 1)

    async def renew_lease(self, lease: Lease, *, ttl: float) -> None:
        async with self._connection() as connection:
            if not await connection.fetchval(_RENEW, *_identity(lease), ttl):
                raise lost(lease)

    async def release_lease(self, lease: Lease) -> None:
        async with self._connection() as connection:
            await connection.execute(_RELEASE, *_identity(lease))

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._signal.announce_all()
        await self._listener.close()
        await self._pool.close()

    async def _page(self, discussion_id: str, after: int, limit: int | None) -> Page:
        async with self._connection() as connection:
            # The head first: events that come between the two are then news, not overlooked.
            head = await connection.fetchrow(_HEAD, discussion_id)
            if head is None:
                raise UnknownDiscussion(discussion_id)
            rows = await connection.fetch(_AFTER, discussion_id, after, limit)
        events = [_stored_event(discussion_id, row) for row in rows]
        return Page(events, head["last_seq"], head["status"] != "running")

    @asynccontextmanager
    async def _listening(self, discussion_id: str) -> AsyncGenerator[Waiter, None]:
        with self._signal.listening(discussion_id) as waiter:
            with translated(self._where):
                await self._listener.start()
            yield waiter

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[Connection, None]:
        if self._closed:
            raise LedgerError("This ledger has been closed.")
        with translated(self._where):
            async with self._pool.acquire() as connection:
                yield connection

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[Connection, None]:
        async with self._connection() as connection, connection.transaction():
            yield connection


async def _append(
    connection: Connection,
    discussion_id: str,
    events: tuple[NewEvent, ...],
    expected: int | None,
    lease: Lease | None,
) -> Plan | None:
    """None if another process opened the same discussion just now: then try again."""
    last_seq = await connection.fetchval(_LOCK, discussion_id)
    exists = last_seq is not None
    # Asked after the lock was given, in a statement of its own: only that sees the latest.
    if exists and lease and not await connection.fetchval(_FENCE, *_identity(lease)):
        raise lost(lease)
    known: dict[str, StoredEvent] = {}
    if exists and (keys := keys_of(events)):
        for row in await connection.fetch(_BY_KEY, discussion_id, keys):
            known[row["key"]] = _stored_event(discussion_id, row)
    plan = plan_append(discussion_id, last_seq, events, known, expected)
    if plan.new and not await _write(connection, discussion_id, plan.new):
        return None
    return plan


async def _write(connection: Connection, discussion_id: str, new: tuple[StoredEvent, ...]) -> bool:
    """False, with nothing written, if the discussion to be opened exists by now."""
    change = index_change(new)
    if opening := change.opening:
        done = await connection.execute(
            _INSERT_DISCUSSION,
            discussion_id,
            opening.topic,
            opening.search_text,
            opening.procedure,
            change.status,
            opening.opened_at,
            change.updated_at,
            change.last_seq,
        )
        if done == "INSERT 0 0":
            return False
    await connection.execute(
        _WRITE,
        discussion_id,
        change.status,
        change.updated_at,
        change.last_seq,
        [r.seq for r in new],
        [r.at for r in new],
        [r.event.type for r in new],
        [r.event.v for r in new],
        [r.key for r in new],
        [dump(r.event) for r in new],
        CHANNEL,
        f"{change.last_seq} {discussion_id}",
    )
    if change.outcome is not None:
        await connection.execute(_SET_OUTCOME, discussion_id, change.outcome)
    return True


def _summary(row: asyncpg.Record) -> DiscussionSummary:
    return DiscussionSummary(
        discussion_id=row["id"],
        topic=row["topic"],
        procedure=row["procedure"],
        status=row["status"],
        opened_at=row["opened_at"],
        updated_at=row["updated_at"],
        last_seq=row["last_seq"],
        driver=holder(row["owner"], unexpired=row["unexpired"]),
        outcome=row["outcome"],
    )


def _identity(lease: Lease) -> tuple[str, str, int]:
    return lease.discussion_id, lease.owner, lease.epoch


def _stored_event(discussion_id: str, row: asyncpg.Record) -> StoredEvent:
    return stored_event(discussion_id, row["seq"], row["at"], row["key"], row["data"])


async def _reset(connection: asyncpg.Connection[Any]) -> None:
    """Spare a round trip on each return to the pool: sessions hold nothing but transactions."""
    if connection.is_in_transaction():
        await connection.reset()


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
