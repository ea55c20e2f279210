"""What the processes of one installation share in PostgreSQL: a few small documents, such as the
key that signs links and the list of what was given out, in place of files that one machine has.

They are read and changed by callers that do not wait (a request's head is judged at once), so each
use has a connection of its own, on a thread of its own, for a few milliseconds. A server keeps
copies instead, which are brought up to date by a signal.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import asyncpg

from ..core.errors import LedgerError, LedgerUnreachable
from .postgres import PostgresLedger, without_secrets
from .postgres_connection import migrate, translated

T = TypeVar("T")

CHANNEL = "roundtable_shared"
"""Where it is said that a document has changed."""
FRESH = 0.5
"""Seconds for which a copy is believed that nobody brings up to date."""
LOOK_EVERY = 2.0
"""Seconds after which a server looks for what it was not told of."""
_BELIEVED = 30.0
"""Seconds for which a server believes its copies while the database is away."""
_PATIENCE = 5.0
_INSERT = "INSERT INTO shared (name, version, body) VALUES ($1, 1, $2) ON CONFLICT DO NOTHING"
_LOCKED = "SELECT version, body FROM shared WHERE name = $1 FOR UPDATE"
_FOUND = "SELECT version, body FROM shared WHERE name = $1"
_PUT = """
    INSERT INTO shared (name, version, body) VALUES ($1, 1, $2)
    ON CONFLICT (name) DO UPDATE SET version = shared.version + 1, body = excluded.body
    RETURNING version
"""
_CHANGED = """
    SELECT shared.name, shared.version, shared.body
    FROM shared LEFT JOIN unnest($1::text[], $2::bigint[]) AS known (name, version) USING (name)
    WHERE known.version IS DISTINCT FROM shared.version
"""


@dataclass(frozen=True, slots=True)
class Copy:
    """A document as it was; without a body where there is none."""

    version: int
    body: str | None
    at: float


@cache
def shared_at(url: str) -> SharedDocuments:
    """Those of the database at this address, the same for the whole process."""
    return SharedDocuments(url)


class SharedDocuments:
    """Documents by name. Safe from any thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._where = without_secrets(url)
        self._copies: dict[str, Copy] = {}
        self._followed = False

    def read(self, name: str) -> Copy:
        """The document as it is, or was a moment ago. LedgerError if it cannot be known."""
        known = self._copies.get(name)
        age = time.monotonic() - known.at if known is not None else 0.0
        if known is not None and age < (_BELIEVED if self._followed else FRESH):
            return known
        if self._followed and known is not None:
            raise LedgerUnreachable(f"{self._where} does not answer.", "Try again in a moment.")
        with self._connected() as (run, connection):
            return self._took(name, run(connection.fetchrow(_FOUND, name)))

    def settled(self, name: str, proposed: str) -> str:
        """The document, which is `proposed` if there was none: of many that propose one wins."""
        with self._connected() as (run, connection):
            run(connection.execute(_INSERT, name, proposed))
            found = self._took(name, run(connection.fetchrow(_FOUND, name)))
        assert found.body is not None
        return found.body

    @contextmanager
    def changing(self, name: str) -> Iterator[Callable[[str], None]]:
        """Change a document; nobody else does meanwhile, and `read` tells it as it is. What is put
        counts when this ends without an error."""
        with self._connected() as (run, connection):
            run(connection.execute(_INSERT, name, ""))
            self._took(name, run(connection.fetchrow(_LOCKED, name)))

            def put(body: str) -> None:
                version = run(connection.fetchval(_PUT, name, body))
                self._copies[name] = Copy(version, body, time.monotonic())
                run(connection.execute("SELECT pg_notify($1, $2)", CHANNEL, name))

            try:
                yield put
            except BaseException:
                self._copies.pop(name, None)
                raise

    @asynccontextmanager
    async def followed(self, ledger: PostgresLedger) -> AsyncGenerator[None, None]:
        """Within it copies are brought up to date as others change what they are copies of, and
        nobody who reads waits."""
        changed = asyncio.Event()
        task = asyncio.create_task(self._follow(ledger, changed))
        async with ledger.exchange.hearing(CHANNEL, lambda _: changed.set()):
            self._followed = True
            try:
                yield
            finally:
                self._followed = False
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _follow(self, ledger: PostgresLedger, changed: asyncio.Event) -> None:
        while True:
            try:
                async with asyncio.timeout(LOOK_EVERY if ledger.exchange.listens else FRESH):
                    await changed.wait()
            except TimeoutError:
                pass
            changed.clear()
            try:
                await self._look(ledger)
            except LedgerError:
                continue  # the copies grow old, and whoever reads is told in time

    async def _look(self, ledger: PostgresLedger) -> None:
        known = dict(self._copies)
        async with ledger.connection() as connection:
            versions = [copy.version for copy in known.values()]
            rows = await connection.fetch(_CHANGED, list(known), versions)
        now = time.monotonic()
        for name, copy in known.items():
            if self._copies.get(name) is copy:
                self._copies[name] = Copy(copy.version, copy.body, now)
        for name, version, body in rows:
            if (newer := self._copies.get(name)) is None or newer.version < version:
                self._copies[name] = Copy(version, body or None, now)

    def _took(self, name: str, row: asyncpg.Record | None) -> Copy:
        version, body = (0, None) if row is None else row
        copy = self._copies[name] = Copy(version, body or None, time.monotonic())
        return copy

    @contextmanager
    def _connected(self) -> Iterator[tuple[_Run, asyncpg.Connection[Any]]]:
        """A transaction on a connection of its own, and how to run what it is asked."""
        loop = asyncio.new_event_loop()
        with translated(self._where), ThreadPoolExecutor(1) as thread:

            def run(work: Coroutine[Any, Any, T]) -> T:
                return thread.submit(loop.run_until_complete, work).result()

            connection = None
            try:
                connection = run(self._connect())
                yield run, connection
                run(connection.execute("COMMIT"))
                run(connection.close())
            finally:
                if connection is not None:
                    run(_ended(connection))
                thread.submit(loop.close).result()

    async def _connect(self) -> asyncpg.Connection[Any]:
        connection = await asyncpg.connect(
            self._url,
            timeout=_PATIENCE,
            command_timeout=_PATIENCE,
            statement_cache_size=0,
            server_settings={"application_name": "roundtable"},
        )
        # A command may come to a database that no discussion was opened in yet.
        await migrate(connection, self._where, patience=_PATIENCE)
        await connection.execute(f"BEGIN; SET LOCAL lock_timeout = {round(1000 * _PATIENCE)}")
        return connection


_Run = Callable[[Coroutine[Any, Any, Any]], Any]


async def _ended(connection: asyncpg.Connection[Any]) -> None:
    if not connection.is_closed():
        connection.terminate()
    await asyncio.sleep(0)  # for its transport to go
