"""The ledger: events in SQLite or PostgreSQL, one schema, one behaviour.

Neither driver is imported before a ledger of its kind is opened.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from ..core.errors import UsageError
from ..core.extras import needs
from ..ports import Ledger

if TYPE_CHECKING:
    from .postgres import PostgresLedger

_POSTGRES = ("postgresql://", "postgres://")


async def open_ledger(where: str | Path, *, listen: str | None = None) -> Ledger:
    """Open the ledger at `where`: a file (SQLite), or a `postgresql://` address; `listen` is an
    address of the same database without a pooler in between.

    A missing file is created, an older schema is migrated. UsageError for another kind of address.
    """
    address = str(where)
    if address.startswith(_POSTGRES):
        return await _open_postgres(address, listen)
    if "://" in address:
        scheme = address.partition("://")[0]
        raise UsageError(
            f"A ledger cannot be kept at a {scheme}:// address.",
            "Give the path of a file (SQLite), or a postgresql:// address.",
        )
    from .sqlite import SqliteLedger

    return await SqliteLedger.open(where)


def is_server(ledger: Ledger) -> TypeGuard[PostgresLedger]:
    """Whether it is one on a server, which others work at too."""
    if (module := sys.modules.get(f"{__name__}.postgres")) is None:
        return False
    return isinstance(ledger, module.PostgresLedger)


async def _open_postgres(url: str, listen: str | None) -> Ledger:
    try:
        from .postgres import PostgresLedger
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise needs("A PostgreSQL ledger", "postgres") from error
    return await PostgresLedger.open(url, listen=listen)
