"""A ledger that is opened when it is first needed: whoever needs none makes no file for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager

from ..core.events import NewEvent, StoredEvent
from ..ports import DiscussionSummary, Ear, Lease, Ledger


class LateLedger:
    """Implements the Ledger port over one that `open_` opens, once, with the first call."""

    def __init__(self, open_: Callable[[], Awaitable[Ledger]]) -> None:
        self._open = open_
        self._opened: Ledger | None = None
        self._opening = asyncio.Lock()

    async def opened(self) -> Ledger:
        """The other one, opened now if it is not."""
        return await self._ledger()

    async def _ledger(self) -> Ledger:
        async with self._opening:
            if self._opened is None:
                self._opened = await self._open()
            return self._opened

    async def append(
        self,
        discussion_id: str,
        events: Sequence[NewEvent],
        *,
        expected: int | None = None,
        lease: Lease | None = None,
    ) -> list[StoredEvent]:
        ledger = await self._ledger()
        return await ledger.append(discussion_id, events, expected=expected, lease=lease)

    async def read(
        self, discussion_id: str, *, after: int = 0, limit: int | None = None
    ) -> list[StoredEvent]:
        return await (await self._ledger()).read(discussion_id, after=after, limit=limit)

    async def tail(
        self, discussion_id: str, *, after: int = 0
    ) -> AsyncGenerator[StoredEvent, None]:
        ledger = await self._ledger()
        async with aclosing(ledger.tail(discussion_id, after=after)) as records:
            async for record in records:
                yield record

    @asynccontextmanager
    async def listening(self, discussion_id: str) -> AsyncGenerator[Ear, None]:
        async with (await self._ledger()).listening(discussion_id) as ear:
            yield ear

    async def summaries(
        self, *, limit: int | None = None, search: str | None = None, said: bool = False
    ) -> list[DiscussionSummary]:
        return await (await self._ledger()).summaries(limit=limit, search=search, said=said)

    async def delete(self, discussion_id: str) -> None:
        await (await self._ledger()).delete(discussion_id)

    async def driver(self, discussion_id: str) -> str | None:
        return await (await self._ledger()).driver(discussion_id)

    async def take_lease(self, discussion_id: str, owner: str, *, ttl: float) -> Lease:
        return await (await self._ledger()).take_lease(discussion_id, owner, ttl=ttl)

    async def renew_lease(self, lease: Lease, *, ttl: float) -> None:
        await (await self._ledger()).renew_lease(lease, ttl=ttl)

    async def release_lease(self, lease: Lease) -> None:
        await (await self._ledger()).release_lease(lease)

    async def close(self) -> None:
        """One that nobody needed stays unopened."""
        if self._opened is not None:
            await self._opened.close()
