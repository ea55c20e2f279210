"""Connections to PostgreSQL: what their errors mean, how the schema is brought up to date, and the
one connection that hears of every committed append.

A notice sent while that connection was down is lost for good; so whenever it stands again, every
tail is made to look for itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from ..core.errors import (
    LedgerBroken,
    LedgerBusy,
    LedgerError,
    LedgerFull,
    LedgerReadOnly,
    LedgerUnreachable,
)
from .migrations import pending
from .tail import ChangeSignal

# The last of them is what the driver says of a connection that is cut while it is being used.
_FAILURES = (
    OSError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Within it, what the driver raises becomes an error of our tree that names `where`."""
    try:
        yield
    except _FAILURES as error:
        raise _translate(error, where) from error


def _translate(error: Exception, where: str) -> LedgerError:
    match error:
        case asyncpg.DiskFullError() | asyncpg.OutOfMemoryError():
            return LedgerFull(
                f"The server of {where} has no room left.",
                "Free some space there and try again; what was written before is safe.",
            )
        case asyncpg.ReadOnlySQLTransactionError() | asyncpg.InsufficientPrivilegeError():
            return LedgerReadOnly(
                f"{where} cannot be written: {error}.",
                "Grant this user the right to, or choose another database with ROUNDTABLE_DB.",
            )
        case (
            asyncpg.LockNotAvailableError()
            | asyncpg.QueryCanceledError()
            | asyncpg.TransactionRollbackError()
        ):
            return LedgerBusy(
                f"Another process holds {where} locked.", "Try again when it has finished."
            )
        case (
            asyncpg.DataCorruptedError()
            | asyncpg.IndexCorruptedError()
            | asyncpg.UndefinedTableError()
            | asyncpg.UndefinedColumnError()
        ):
            return LedgerBroken(
                f"{where} is damaged: {error}.", "Restore the database from a backup."
            )
        case (
            asyncpg.DuplicateTableError()
            | asyncpg.DuplicateObjectError()
            | asyncpg.DuplicateFunctionError()
        ):
            return LedgerBroken(
                f"{where} holds tables of another program: {error}.",
                "Choose another, empty database with ROUNDTABLE_DB; this one was left as it is.",
            )
        case asyncpg.InvalidAuthorizationSpecificationError() | asyncpg.InvalidCatalogNameError():
            return LedgerUnreachable(
                f"{where} refuses the connection: {error}.",
                "Check the user, the password and the database's name in ROUNDTABLE_DB.",
            )
        case (
            OSError()
            | asyncpg.InterfaceError()
            | asyncpg.InternalClientError()
            | asyncpg.PostgresConnectionError()
            | asyncpg.OperatorInterventionError()
            | asyncpg.InsufficientResourcesError()
        ):
            return LedgerUnreachable(
                f"{where} does not answer ({str(error) or type(error).__name__}).",
                "Check that the server runs, and the address in ROUNDTABLE_DB.",
            )
        case _:
            return LedgerError(f"{where}: {error}.")


Connection: TypeAlias = "PoolConnectionProxy[Any]"

_LOCK = 0x526F756E
"""The advisory lock under which processes migrate one after the other."""


async def migrate(connection: Connection, where: str) -> None:
    """Apply what is lacking, all or nothing. LedgerTooNew if the database is ahead of us."""
    if not pending("postgres", await _version(connection), where):
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        # Asked again under the lock: another process may have migrated it meanwhile.
        for migration in pending("postgres", await _version(connection), where):
            await connection.execute(migration.sql)
            await _set_version(connection, migration.version)


async def _version(connection: Connection) -> int:
    if await connection.fetchval("SELECT to_regclass('roundtable_schema')") is None:
        return 0
    return int(await connection.fetchval("SELECT version FROM roundtable_schema"))


async def _set_version(connection: Connection, version: int) -> None:
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS roundtable_schema ("
        " one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row), version integer NOT NULL)"
    )
    await connection.execute(
        "INSERT INTO roundtable_schema (version) VALUES ($1)"
        " ON CONFLICT (one_row) DO UPDATE SET version = excluded.version",
        version,
    )


CHANNEL = "roundtable"
_HEARTBEAT = 15.0
"""Seconds between signs of life: a connection cut without a word must not stay unnoticed."""
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
_PATIENCE = 30.0
"""Seconds without a connection after which the tails find out for themselves, and raise."""

Connect = Callable[[], Awaitable["asyncpg.Connection[Any]"]]


@dataclass(frozen=True, slots=True)
class _Session:
    connection: asyncpg.Connection[Any]
    ended: asyncio.Event


class Listener:
    """Announces what comes over the channel, from `start` to `close`."""

    def __init__(self, connect: Connect, signal: ChangeSignal) -> None:
        self._connect = connect
        self._signal = signal
        self._starting = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when it listens, or has listened before and will again."""
        async with self._starting:
            if self._task is None:
                session = await self._listen()
                self._task = asyncio.create_task(self._keep_listening(session))

    async def close(self) -> None:
        async with self._starting:
            if self._task is not None:
                self._task.cancel()
                with suppress(asyncio.CancelledError):
                    await self._task

    async def _keep_listening(self, session: _Session) -> None:
        try:
            while True:
                await self._until_ended(session)
                session.connection.terminate()
                session = await self._listen_again()
                self._signal.announce_all()
        finally:
            with suppress(*_FAILURES):
                await session.connection.close(timeout=1)

    async def _listen(self) -> _Session:
        session = _Session(await self._connect(), asyncio.Event())
        session.connection.add_termination_listener(lambda _: session.ended.set())
        try:
            await session.connection.add_listener(CHANNEL, self._heard)
        except BaseException:
            session.connection.terminate()
            raise
        return session

    async def _listen_again(self) -> _Session:
        loop = asyncio.get_running_loop()
        since, pause = loop.time(), _SHORTEST_PAUSE
        while True:
            try:
                return await self._listen()
            except _FAILURES:
                if loop.time() - since > _PATIENCE:
                    self._signal.announce_all()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _until_ended(self, session: _Session) -> None:
        while not session.ended.is_set():
            try:
                async with asyncio.timeout(_HEARTBEAT):
                    await session.ended.wait()
            except TimeoutError:
                try:
                    await session.connection.execute("SELECT 1", timeout=_HEARTBEAT)
                except _FAILURES:
                    return

    def _heard(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        seq, _, discussion_id = str(payload).partition(" ")
        self._signal.announce(discussion_id, int(seq) if seq.isdecimal() else None)
