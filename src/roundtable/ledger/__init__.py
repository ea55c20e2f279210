"""The ledger: events in SQLite or PostgreSQL, one schema, one behaviour.

Neither driver is imported before a ledger of its kind is opened.
"""

from __future__ import annotations

from pathlib import Path

from ..core.errors import UsageError
from ..core.extras import needs
from ..ports import Ledger

_POSTGRES = ("postgresql://", "postgres://")


def is_postgres(where: str | Path) -> bool:
    """Whether a ledger at this address is in PostgreSQL."""
    return str(where).startswith(_POSTGRES)


async def open_ledger(where: str | Path, *, listen: str | None = None) -> Ledger:
    """Open the ledger at `where`: a file (SQLite), or a `postgresql://` address; `listen` is an
    address of the same database without a pooler in between.

    A missing file is created, an older schema is migrated. UsageError for another kind of address.
    """
    address = str(where)
    if is_postgres(address):
        return await _open_postgres(address, listen)
    if "://" in address:
        scheme = address.partition("://")[0]
        raise UsageError(
            f"A ledger cannot be kept at a {scheme}:// address.",
            "Give the path of a file (SQLite), or a postgresql:// address.",
        )
    from .sqlite import SqliteLedger

    return await SqliteLedger.open(where)


async def _open_postgres(url: str, listen: str | None) -> Ledger:
    try:
        from .postgres import PostgresLedger
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise needs("A PostgreSQL ledger", "postgres") from error
    return await PostgresLedger.open(url, listen=listen)
