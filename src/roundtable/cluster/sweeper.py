"""The sweeper: finds what goes on nowhere although it should, and queues it; and takes away what
the queue needs no more.

Not everything that nobody drives is meant: what somebody interrupted by hand, or has not yet let
begin, waits for that person. Meant is what was driven when its driver vanished, be it a worker, a
server or a terminal, and whatever a worker has driven before.
"""

from __future__ import annotations

from ..core.errors import LedgerTooNew, UnknownDiscussion
from ..core.state import State, fold
from ..views.driving import needs_driver
from . import statements as sql
from .queue import PostgresQueue

_LOCK = 0x53776565
"""The advisory lock under which one worker sweeps at a time."""


async def sweep(queue: PostgresQueue) -> list[str]:
    """The discussions that wait for a worker now, and did not before."""
    await queue.ready()
    async with queue.ledger.transaction() as connection:
        if not await connection.fetchval("SELECT pg_try_advisory_xact_lock($1)", _LOCK):
            return []
        await connection.execute(sql.TIDY)
        await connection.execute(sql.TIDY_LOG)
        rows = await connection.fetch(sql.FORSAKEN)
    found = []
    for row in rows:
        id_ = row["id"]
        state = await _goes_on(queue, id_)
        if state and await queue.put(id_, by=state.start.account, let_in=True):
            found.append(id_)
    return found


async def _goes_on(queue: PostgresQueue, discussion_id: str) -> State | None:
    """How it stands, if it is neither paused nor led by hand."""
    try:
        state = fold(await queue.ledger.read(discussion_id))
    except (LedgerTooNew, UnknownDiscussion):  # newer workers sweep, too; or it is gone by now
        return None
    return state if needs_driver(state) else None
