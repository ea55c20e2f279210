"""Leases in PostgreSQL: taken one by one, renewed together. A thousand discussions that wait cost a
statement now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from ..ports import Lease
from .gathered import Gathered
from .postgres_connection import Connection

RENEW_EVERY = 0.5
"""Seconds between two renewals of one process, however many leases it has."""
ALIVE_FOR = 4.0
"""Seconds without a sign of life after which a worker has lost what it drives."""
OF_A_JOB = "leases.owner ~ '^job:[0-9]+:[0-9a-f-]{36}$'"
"""Whose owner is a job, and through it a worker: no process is called so."""
# A lease that a job brought runs for as long as its worker gives signs of life.
RUNS = f"""(
    coalesce(leases.expires_at > clock_timestamp(), false)
    AND (NOT {OF_A_JOB} OR EXISTS (
        SELECT FROM workers
        WHERE workers.id::text = split_part(leases.owner, ':', 3)
            AND workers.seen_at > clock_timestamp() - interval '{ALIVE_FOR} s'
    ))
)"""
_RENEW = """
    UPDATE leases SET expires_at = clock_timestamp() + make_interval(secs => mine.ttl)
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::float8[]) AS mine (id, owner, epoch, ttl)
    WHERE leases.discussion_id = mine.id AND leases.owner = mine.owner
        AND leases.epoch = mine.epoch AND leases.expires_at IS NOT NULL
    RETURNING leases.discussion_id, leases.owner, leases.epoch
"""


@dataclass(frozen=True, slots=True)
class _Wish:
    lease: Lease
    ttl: float
    renewed: asyncio.Future[bool]


class Renewals:
    """Renews the leases of this process."""

    def __init__(self, connection: Callable[[], AbstractAsyncContextManager[Connection]]) -> None:
        self._connection = connection
        self._wishes = Gathered(self._renew, every=RENEW_EVERY)

    async def renew(self, lease: Lease, ttl: float) -> bool:
        """Whether it was still ours to renew."""
        wish = _Wish(lease, ttl, asyncio.get_running_loop().create_future())
        self._wishes.add(wish)
        return await wish.renewed

    async def close(self) -> None:
        await self._wishes.close(within=0)

    async def _renew(self, wishes: list[_Wish]) -> None:
        try:
            found = await self._renewed({wish.lease: wish.ttl for wish in wishes})
        except Exception as error:  # whoever waits for it is told
            for wish in wishes:
                if not wish.renewed.done():
                    wish.renewed.set_exception(error)
            return
        for wish in wishes:
            if not wish.renewed.done():
                wish.renewed.set_result(wish.lease in found)

    async def _renewed(self, wanted: dict[Lease, float]) -> set[Lease]:
        async with self._connection() as connection:
            rows = await connection.fetch(
                _RENEW,
                [lease.discussion_id for lease in wanted],
                [lease.owner for lease in wanted],
                [lease.epoch for lease in wanted],
                list(wanted.values()),
            )
        return {Lease(*row) for row in rows}
