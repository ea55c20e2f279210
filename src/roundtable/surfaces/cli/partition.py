"""`roundtable partition`: the events of a large ledger on a server, spread over several tables."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ...core.errors import UsageError
from ...core.text import counted
from .here import settings_here
from .terminal import confirmed, echo_error


def partition_command(flags: Mapping[str, Any]) -> int:
    address = settings_here().server
    if address is None:
        raise UsageError(
            "The ledger is a file, which has no partitions.",
            "They are for PostgreSQL: ROUNDTABLE_DB=postgresql://…",
        )
    return asyncio.run(_partitioned(address, flags["into"], asked=flags["yes"]))


async def _partitioned(address: str, parts: int, *, asked: bool) -> int:
    from ...ledger.postgres_partition import partition

    if not asked:
        told = "All events are written anew, and nobody can use the ledger meanwhile. Go on?"
        if not await confirmed(told):
            echo_error("Nothing was changed.")
            return 1
    events = await partition(address, parts)
    echo_error(f"There are {counted(events, 'event')} in {parts} partitions now.")
    return 0
