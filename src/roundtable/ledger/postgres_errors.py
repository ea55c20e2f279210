"""What PostgreSQL's errors mean to a caller, and what can be done about each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from ..core.errors import (
    LedgerBroken,
    LedgerBusy,
    LedgerError,
    LedgerFull,
    LedgerReadOnly,
    LedgerUnreachable,
)


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Within it, what the driver raises becomes an error of our tree that names `where`."""
    try:
        yield
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
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
