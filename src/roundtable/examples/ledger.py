"""The examples beside the user's own discussions: one ledger for whoever reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager

from ..core.errors import NotAllowed
from ..core.events import NewEvent, StoredEvent
from ..ports import DiscussionSummary, Ear, Lease, Ledger
from . import find_example, is_example


class WithExamples:
    """Implements the Ledger port over another one. `example:NAME` is read from what came with the
    program and never written; everything else is the other ledger's, its list too."""

    def __init__(self, own: Ledger) -> None:
        self._own = own

    async def read(
        self, discussion_id: str, *, after: int = 0, limit: int | None = None
    ) -> list[StoredEvent]:
        if not is_example(discussion_id):
            return await self._own.read(discussion_id, after=after, limit=limit)
        records = await _recorded(discussion_id)
        return list(records[after : None if limit is None else after + limit])

    def tail(self, discussion_id: str, *, after: int = 0) -> AsyncGenerator[StoredEvent, None]:
        if not is_example(discussion_id):
            return self._own.tail(discussion_id, after=after)
        return _told(discussion_id, after)

    def listening(self, discussion_id: str) -> AbstractAsyncContextManager[Ear]:
        return self._own.listening(discussion_id)  # of an example there is never any news

    async def summaries(
        self, *, limit: int | None = None, search: str | None = None, said: bool = False
    ) -> list[DiscussionSummary]:
        return await self._own.summaries(limit=limit, search=search, said=said)

    async def append(
        self,
        discussion_id: str,
        events: Sequence[NewEvent],
        *,
        expected: int | None = None,
        lease: Lease | None = None,
    ) -> list[StoredEvent]:
        _refuse(discussion_id)
        return await self._own.append(discussion_id, events, expected=expected, lease=lease)

    async def delete(self, discussion_id: str) -> None:
        _refuse(discussion_id)
        await self._own.delete(discussion_id)

    async def driver(self, discussion_id: str) -> str | None:
        return await self._own.driver(discussion_id)

    async def take_lease(self, discussion_id: str, owner: str, *, ttl: float) -> Lease:
        _refuse(discussion_id)
        return await self._own.take_lease(discussion_id, owner, ttl=ttl)

    async def renew_lease(self, lease: Lease, *, ttl: float) -> None:
        await self._own.renew_lease(lease, ttl=ttl)

    async def release_lease(self, lease: Lease) -> None:
        await self._own.release_lease(lease)

    async def close(self) -> None:
        await self._own.close()


async def _recorded(discussion_id: str) -> tuple[StoredEvent, ...]:
    # A long one takes a moment to read, for which others should not wait.
    return await asyncio.to_thread(find_example(discussion_id).records)


async def _told(discussion_id: str, after: int) -> AsyncGenerator[StoredEvent, None]:
    for record in (await _recorded(discussion_id))[after:]:
        yield record


def _refuse(discussion_id: str) -> None:
    """NotAllowed for an example; UnknownName for one that does not exist."""
    if is_example(discussion_id):
        raise NotAllowed(
            f"{find_example(discussion_id).id} is a recorded example: it is there to be read.",
            'Put a question to a table of your own: roundtable "Should we …?"',
        )
