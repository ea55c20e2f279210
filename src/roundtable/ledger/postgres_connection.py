"""Connections to PostgreSQL: what their errors mean, whether a pooler stands in between, and how
the schema is brought up to date.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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

# The last of them is what the driver says of a connection that is cut while it is being used.
FAILURES = (
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
    except FAILURES as error:
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
            | asyncpg.IdleInTransactionSessionTimeoutError()
        ):
            return LedgerUnreachable(
                f"{where} does not answer ({str(error) or type(error).__name__}).",
                "Check that the server runs, and the address in ROUNDTABLE_DB.",
            )
        case _:
            return LedgerError(f"{where}: {error}.")


Connection: TypeAlias = "asyncpg.Connection[Any] | PoolConnectionProxy[Any]"


async def behind_pooler(connection: Connection) -> bool:
    """Whether statements go through a pooler such as PgBouncer, which may give each transaction
    another session of the server: it tells its clients a process number of its own making."""
    async with connection.transaction():
        asked = await connection.fetchval("SELECT pg_backend_pid()")
    return bool(asked != connection.get_server_pid())


MIGRATING = 0x526F756E
"""The advisory lock under which processes migrate one after the other."""


async def migrate(connection: Connection, where: str, *, patience: float) -> None:
    """Apply what is lacking, all or nothing. LedgerTooNew if the database is ahead of us,
    LedgerBusy if others hold it locked for longer than `patience`."""
    async with connection.transaction():
        lacking = pending("postgres", await _version(connection), where)
    if not lacking:
        return
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = {max(1, round(patience * 1000))}")
        await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATING)
        # Asked again under the lock: another process may have migrated it meanwhile.
        for migration in pending("postgres", await _version(connection), where):
            await connection.execute(migration.sql)
            await _set_version(connection, migration.version)


async def _version(connection: Connection) -> int:
    # Read from the table of tables: by its name alone the server may answer from memory that there
    # is none, also when another process has made it since.
    known = "SELECT FROM pg_class WHERE relname = 'roundtable_schema' AND pg_table_is_visible(oid)"
    if not await connection.fetchval(f"SELECT EXISTS ({known})"):
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
