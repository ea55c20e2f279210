"""The ledger in a PostgreSQL database: for many machines. Needs the extra `postgres`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import asyncpg

from ..core.errors import LeaseHeld, LedgerError, LedgerUnreachable, UnknownDiscussion
from ..core.events import NewEvent, StoredEvent
from ..ports import QUEUED, DiscussionSummary, Lease
from .append import Plan, folded
from .exchange import MANY, Exchange
from .leases import holder, lost
from .postgres_append import (
    append_at_once,
    append_within,
    identity,
    locked,
    prepare_to_append,
    row_event,
)
from .postgres_connection import FAILURES, Connection, behind_pooler, migrate, translated
from .postgres_leases import OF_A_JOB, RUNS, Renewals
from .postgres_watch import Watch
from .tail import PAGE, ChangeSignal, Page, Waiter, follow
from .words import ROWS_AT_ONCE, SAYING, Words

_ASIDE = "aside"
_NOT_IDLE = "SELECT set_config('idle_in_transaction_session_timeout', '3000', true)"
_HEAD = "SELECT last_seq, status FROM discussions WHERE id = $1"
_AFTER = """
    SELECT seq, at, key, data FROM events WHERE discussion_id = $1 AND seq > $2
    ORDER BY seq LIMIT $3
"""
_NOTIFY = "SELECT pg_notify(channel, said) FROM unnest($1::text[], $2::text[]) AS n (channel, said)"
_STANDING = "SELECT id, last_seq FROM discussions WHERE id = ANY ($1::text[])"
# Its job, if it has one: waiting, driven, or set aside and not taken up by anybody since.
_JOB = f"""(
    SELECT CASE WHEN state <> 'failed' THEN state WHEN {OF_A_JOB} THEN '{_ASIDE}' END
    FROM jobs WHERE key = 'drive/' || discussions.id AND status = 'running' LIMIT 1
)"""  # noqa: S608
_HEADLINES = f"""
    SELECT id, topic, procedure, status, opened_at, updated_at, last_seq, outcome,
        owner, {RUNS} AS unexpired, {_JOB} AS job
    FROM discussions LEFT JOIN leases ON discussion_id = id
    WHERE strpos(search_text, $1) > 0
    ORDER BY updated_at DESC, opened_at DESC, id LIMIT $2
"""  # noqa: S608
# Page by page instead of with a cursor, which would hold one transaction open for all of it.
_SAID = """
    SELECT discussion_id, seq, data FROM events
    WHERE type = ANY ($1::text[]) AND (discussion_id, seq) > ($2, $3)
    ORDER BY discussion_id, seq LIMIT $4
"""
_LEASE = f"""
    SELECT owner, epoch, {RUNS} AS unexpired FROM leases WHERE discussion_id = $1
"""  # noqa: S608
_DRIVER = f"""
    SELECT owner, {RUNS} AS unexpired, {_JOB} AS job
    FROM discussions LEFT JOIN leases ON discussion_id = id WHERE id = $1
"""  # noqa: S608
_GRANT = """
    INSERT INTO leases (discussion_id, owner, epoch, expires_at)
    VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))
    ON CONFLICT (discussion_id) DO UPDATE
    SET owner = excluded.owner, epoch = excluded.epoch, expires_at = excluded.expires_at
"""
_RELEASE = """
    UPDATE leases SET expires_at = NULL WHERE discussion_id = $1 AND owner = $2 AND epoch = $3
"""

# Each takes its time, and may be ahead by a burst: `full_at` is when all of it has passed. Whoever
# would be too far ahead takes nothing, and is told by how much.
_RATE = """
    WITH taken AS (
        INSERT INTO rates AS r (name, by, full_at)
        VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
        ON CONFLICT (name, by) DO UPDATE
        SET full_at = greatest(r.full_at, clock_timestamp()) + make_interval(secs => $3)
        WHERE greatest(r.full_at, clock_timestamp()) + make_interval(secs => $3)
            <= clock_timestamp() + make_interval(secs => $4)
        RETURNING true
    )
    SELECT CASE WHEN EXISTS (SELECT FROM taken) THEN 0 ELSE coalesce((
        SELECT greatest(extract(epoch FROM full_at - clock_timestamp()) + $3 - $4, 0.001)
        FROM rates WHERE name = $1 AND by = $2
    ), 0.001) END::float8
"""
EVENTS = "roundtable"
"""The channel on which appends are told."""
_CONNECTIONS = 4
"""Of one process, and one more that listens: for hundreds of processes a server has few each."""
_WARM_FOR = 200.0
"""Seconds for which connections that nobody uses are known to be open: the pool keeps them a bit
longer."""
_WARM_WITHIN = 5.0
_SLOWEST_STATEMENT = 30.0
_SWEEP_EVERY = 60.0


class PostgresLedger:
    """See `roundtable.ports.Ledger`. Belongs to the event loop it was opened in, with `open`."""

    def __init__(self, url: str, patience: float, listen: str | None, *, pooled: bool) -> None:
        self._where = without_secrets(url)
        self._patience = str(max(1, round(patience * 1000)))
        self._closed = False
        self._signal = ChangeSignal()
        self.pooled = pooled
        """Whether a pooler stands between us and the server: then a session lasts as long as a
        transaction, and nothing may be left in it."""
        options = _options(patience)
        direct = url if listen is None and not pooled else listen
        connect = None if direct is None else partial(asyncpg.connect, direct, **options)
        self.exchange = Exchange(connect, self._notify, self._missed)
        self._watch = Watch(self._standing, self._signal, lambda: self.exchange.listens)
        self._renewals = Renewals(self.connection)
        self._beginning = asyncio.Lock()
        self._orders: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """In which order this process appends to a discussion."""
        self._hears = False
        self._swept = 0.0
        self._warming = asyncio.Lock()
        self._warm_until = 0.0
        if pooled:
            options["statement_cache_size"] = 0
        self._pool = asyncpg.create_pool(
            url, min_size=0, max_size=_CONNECTIONS, reset=_reset, **options
        )

    @classmethod
    async def open(
        cls, url: str, *, patience: float = 10.0, listen: str | None = None
    ) -> PostgresLedger:
        """Connect to the database at `url` (`postgresql://…`), and migrate it if it is older.

        `patience` is how many seconds to wait for the server (LedgerUnreachable), and for locks
        that others hold (LedgerBusy). `listen` is an address of the same database without a pooler
        in between, where `url` has one: signals of other processes are heard there. Without it,
        and behind a pooler, it is looked for what they appended.
        """
        where = without_secrets(url)
        try:
            with translated(where):
                pooled = await _prepared(url, patience, where)
            ledger = cls(url, patience, listen, pooled=pooled)
            with translated(where):
                await ledger._pool
        except ValueError as error:  # what asyncpg makes of an address that it cannot parse
            raise LedgerUnreachable(
                f"{where} is not an address of a database: {error}.",
                "Write it as postgresql://user:password@host/database.",
            ) from error
        return ledger

    async def append(
        self,
        discussion_id: str,
        events: Sequence[NewEvent],
        *,
        expected: int | None = None,
        lease: Lease | None = None,
        also: Callable[[Connection], Awaitable[None]] | None = None,
    ) -> list[StoredEvent]:
        """As the port has it; `also` is done in the same transaction, once the events are in."""
        batch = tuple(events)
        # Ours would wait for each other in the database, each with a connection that others need.
        order = self._orders.setdefault(discussion_id, asyncio.Lock())
        try:
            async with order:
                plan = await self._appended(discussion_id, batch, expected, lease, also)
        except (asyncio.CancelledError, LedgerUnreachable):
            self._announce(discussion_id, None)  # perhaps it was stored before that
            raise
        if plan.new:
            self._announce(discussion_id, plan.new[-1].seq)
        return list(plan.outcome)

    async def _appended(
        self,
        discussion_id: str,
        events: tuple[NewEvent, ...],
        expected: int | None,
        lease: Lease | None,
        also: Callable[[Connection], Awaitable[None]] | None,
    ) -> Plan:
        asked = (discussion_id, events, expected, lease, self._patience)
        plan = None
        if also is None:
            async with self.connection() as connection:
                try:
                    plan = await append_at_once(connection, *asked)
                except (TimeoutError, asyncio.CancelledError):
                    if not self.pooled:  # who does not answer is not waited for to be told so
                        connection.terminate()
                    raise
        while plan is None:
            async with self._transaction() as connection:
                plan = await append_within(connection, *asked)
                if plan is not None and also is not None:
                    await also(connection)
        return plan

    async def read(
        self, discussion_id: str, *, after: int = 0, limit: int | None = None
    ) -> list[StoredEvent]:
        return (await self._page(discussion_id, after, limit)).events

    def tail(self, discussion_id: str, *, after: int = 0) -> AsyncGenerator[StoredEvent, None]:
        async def page(start: int) -> Page:
            return await self._page(discussion_id, start, PAGE)

        return follow(self.listening(discussion_id), page, after)

    async def summaries(
        self, *, limit: int | None = None, search: str | None = None, said: bool = False
    ) -> list[DiscussionSummary]:
        search = (search or "").strip() if said else search
        if said and search:
            words = await self._looked_through(Words(search))
            async with self.connection() as connection:
                rows = await connection.fetch(_HEADLINES, "", None)
            found = [row for row in rows if words.in_discussion(row["id"], row["topic"])]
            return [_summary(row) for row in (found if limit is None else found[:limit])]
        async with self.connection() as connection:
            rows = await connection.fetch(_HEADLINES, folded(search or ""), limit)
        return [_summary(row) for row in rows]

    async def _looked_through(self, words: Words) -> Words:
        id_, seq = "", 0
        while True:
            async with self.connection() as connection:
                rows = await connection.fetch(_SAID, list(SAYING), id_, seq, ROWS_AT_ONCE)
            await asyncio.to_thread(words.look, [(row[0], row[2]) for row in rows])
            if len(rows) < ROWS_AT_ONCE:
                return words
            id_, seq, _ = rows[-1]

    async def delete(self, discussion_id: str) -> None:
        # Its events and its lease go with it: ON DELETE CASCADE.
        async with self._transaction() as connection:
            if await locked(connection, discussion_id, self._patience) is None:
                raise UnknownDiscussion(discussion_id)
            await connection.execute("DELETE FROM discussions WHERE id = $1", discussion_id)
        self._announce(discussion_id, None)

    async def driver(self, discussion_id: str) -> str | None:
        async with self.connection() as connection:
            row = await connection.fetchrow(_DRIVER, discussion_id)
        return _driver(row) if row else None

    async def take_lease(self, discussion_id: str, owner: str, *, ttl: float) -> Lease:
        async with self._transaction() as connection:
            if await locked(connection, discussion_id, self._patience) is None:
                raise UnknownDiscussion(discussion_id)
            epoch = 0
            if row := await connection.fetchrow(_LEASE, discussion_id):
                epoch = row["epoch"]
                if held_by := holder(row["owner"], unexpired=row["unexpired"]):
                    raise LeaseHeld(discussion_id, held_by)
            await connection.execute(_GRANT, discussion_id, owner, epoch + 1, ttl)
            return Lease(discussion_id, owner, epoch + 1)

    async def renew_lease(self, lease: Lease, *, ttl: float) -> None:
        if not await self._renewals.renew(lease, ttl):
            raise lost(lease)

    async def release_lease(self, lease: Lease) -> None:
        async with self.connection() as connection:
            await connection.execute(_RELEASE, *identity(lease))

    async def close(self) -> None:
        if self._closed:
            return
        await self.exchange.close()  # with its last words, for which a connection is needed
        self._closed = True
        await self._watch.close()
        await self._renewals.close()
        self._signal.announce_all()
        await self._pool.close()

    @asynccontextmanager
    async def listening(self, discussion_id: str) -> AsyncGenerator[Waiter, None]:
        with self._signal.listening(discussion_id) as waiter:
            async with self._beginning:  # once for all who wait, however many they are
                if not self._hears:
                    self._watch.start()
                    await self.exchange.hear(EVENTS, self._heard)
                    self._hears = True
            yield waiter

    async def warm(self) -> None:
        """Have every connection open, and ready to append: an answer must not wait for that. What
        fails here is left to whoever needs it."""
        now = asyncio.get_running_loop().time
        async with self._warming:
            if self._closed or now() < self._warm_until:
                return
            self._warm_until = now() + _WARM_FOR
            with suppress(TimeoutError, *FAILURES):
                async with asyncio.timeout(_WARM_WITHIN), AsyncExitStack() as stack:
                    for _ in range(_CONNECTIONS):
                        connection = await stack.enter_async_context(self._pool.acquire())
                        if not self.pooled:
                            await prepare_to_append(connection)

    def hang_up(self) -> None:
        """Wait for a server no longer that does not answer: whatever is asked of it fails from now
        on."""
        self._pool.terminate()

    async def append_within(
        self, connection: Connection, discussion_id: str, events: Sequence[NewEvent]
    ) -> None:
        """Append to a discussion that is there, within a transaction that is open; `tell` others of
        it when that is committed."""
        plan = await append_within(
            connection, discussion_id, tuple(events), None, None, self._patience
        )
        assert plan is not None, "only an opening can come too late"

    def tell(self, discussion_id: str) -> None:
        """Let whoever follows this discussion look for what is new in it."""
        self._announce(discussion_id, None)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Connection, None]:
        """For what lies beside the events: the queue, gates, schedules, purses. A process that is
        stopped within it loses it after a moment, and with it the rows that others wait for."""
        async with self._transaction() as connection:
            await connection.execute(_NOT_IDLE)
            yield connection

    # What is told

    def _announce(self, discussion_id: str, seq: int | None) -> None:
        """To those who wait here at once, to the other processes soon; without a number they look
        for themselves."""
        self._signal.announce(discussion_id, seq)
        self.exchange.say(
            EVENTS, f"{'' if seq is None else seq} {discussion_id}", name=discussion_id
        )

    def _heard(self, line: str) -> None:
        if line == MANY:
            self._watch.soon()
            return
        seq, _, discussion_id = line.partition(" ")
        self._signal.announce(discussion_id, int(seq) if seq.isdecimal() else None)

    def _missed(self) -> None:
        self._watch.soon()

    async def _notify(self, channels: list[str], said: list[str]) -> None:
        async with self.connection() as connection:
            await connection.execute(_NOTIFY, channels, said)

    async def _standing(self, ids: Sequence[str]) -> Mapping[str, int]:
        async with self.connection() as connection:
            return dict(await connection.fetch(_STANDING, list(ids)))

    async def waits(self, name: str, by: str, every: float, burst: int) -> float:
        """0 if somebody may do something once more now, which then counts; else the seconds until
        it may. It may be done `burst` times at once, and once more `every` so many seconds."""
        now = asyncio.get_running_loop().time()
        async with self.connection() as connection:
            left: float = await connection.fetchval(_RATE, name, by, every, every * burst)
            if now - self._swept > _SWEEP_EVERY:  # whoever guesses leaves a row for each guess
                self._swept = now
                await connection.execute("DELETE FROM rates WHERE full_at < clock_timestamp()")
        return left

    # What is read and written

    async def _page(self, discussion_id: str, after: int, limit: int | None) -> Page:
        async with self.connection() as connection:
            # The head first: events that come between the two are then news, not overlooked.
            head = await connection.fetchrow(_HEAD, discussion_id)
            if head is None:
                raise UnknownDiscussion(discussion_id)
            rows = await connection.fetch(_AFTER, discussion_id, after, limit)
        events = [row_event(discussion_id, row) for row in rows]
        return Page(events, head["last_seq"], head["status"] != "running")

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection, None]:
        """One of the few connections of this process; what the driver raises becomes LedgerError.
        Behind a pooler it comes with a transaction."""
        if self._closed:
            raise LedgerError("This ledger has been closed.")
        with translated(self._where):
            async with self._pool.acquire() as connection:
                if not self.pooled:
                    yield connection
                else:  # a statement is prepared and then executed, in one and the same session
                    async with connection.transaction():
                        yield connection

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[Connection, None]:
        async with self.connection() as connection:
            if self.pooled:
                yield connection
            else:
                async with connection.transaction():
                    yield connection


async def _prepared(url: str, patience: float, where: str) -> bool:
    """Bring the database up to date; whether it is reached through a pooler. By a connection of its
    own, without a limit on what a statement takes: a migration may take long."""
    options = {**_options(patience), "command_timeout": None, "statement_cache_size": 0}
    connection = await asyncpg.connect(url, **options)
    try:
        pooled = await behind_pooler(connection)
        await migrate(connection, where, patience=patience)
        await connection.close()
    finally:
        connection.terminate()
    return pooled


def _options(patience: float) -> dict[str, Any]:
    return {
        "timeout": patience,
        "command_timeout": _SLOWEST_STATEMENT,
        "server_settings": {"application_name": "roundtable"},
    }


def _summary(row: asyncpg.Record) -> DiscussionSummary:
    return DiscussionSummary(
        discussion_id=row["id"],
        topic=row["topic"],
        procedure=row["procedure"],
        status=row["status"],
        opened_at=row["opened_at"],
        updated_at=row["updated_at"],
        last_seq=row["last_seq"],
        driver=_driver(row),
        outcome=row["outcome"],
        set_aside=row["job"] == _ASIDE,
    )


def _driver(row: asyncpg.Record) -> str | None:
    held_by = holder(row["owner"], unexpired=row["unexpired"])
    return held_by or (QUEUED if row["job"] not in (None, _ASIDE) else None)


async def _reset(connection: asyncpg.Connection[Any]) -> None:
    """Spare a round trip on each return to the pool: sessions hold nothing but transactions."""
    if connection.is_in_transaction():
        await connection.reset()


def without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
