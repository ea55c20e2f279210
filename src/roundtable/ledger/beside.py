"""What lies beside the events in the same database belongs to the ledger itself, whatever stands
before it; and of which kind that is can be asked without its driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from ..ports import Ledger
from .late import LateLedger

if TYPE_CHECKING:
    from .postgres import PostgresLedger
    from .sqlite import SqliteLedger


async def beneath(ledger: Ledger) -> Ledger:
    """The ledger itself, opened by now."""
    return await ledger.opened() if isinstance(ledger, LateLedger) else ledger


def in_postgres(ledger: Ledger) -> TypeGuard[PostgresLedger]:
    return _named(ledger, "PostgresLedger")


def in_sqlite(ledger: Ledger) -> TypeGuard[SqliteLedger]:
    return _named(ledger, "SqliteLedger")


def _named(ledger: Ledger, name: str) -> bool:
    return any(
        each.__name__ == name and each.__module__.startswith(f"{__package__}.")
        for each in type(ledger).__mro__
    )
