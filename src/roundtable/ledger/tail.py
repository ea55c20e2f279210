"""Tailing: follow a discussion's events as they come, without missing or doubling one.

A tail registers for news before it first reads, so that nothing falls between the two. News is
only ever a hint that there may be more; what there is, is read from the ledger.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass
from threading import Lock

from ..core.events import DiscussionClosed, LimitsRaised, StageReopened, StoredEvent

PAGE = 500
"""How many events a tail reads at a time: a late joiner of a long discussion is no burden."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some events, and how the discussion stood just before they were read."""

    events: list[StoredEvent]
    last_seq: int
    closed: bool


class Waiter:
    """The ear of one who waits. It belongs to the event loop in which it was made."""

    def __init__(self) -> None:
        self.known = 0
        """The highest number that it has been told of."""
        self._loop = asyncio.get_running_loop()
        self._must_look = False
        self._changed = asyncio.Event()

    async def change_beyond(self, seen: Callable[[], int]) -> None:
        """See `roundtable.ports.Ear`."""
        while self.known <= seen() and not self._must_look:
            self._changed.clear()
            await self._changed.wait()
        self._must_look = False

    def tell(self, seq: int | None) -> None:
        """From any thread: there is an event `seq`; None: anything may have happened."""
        with suppress(RuntimeError):  # the loop is closed, and the tail with it
            self._loop.call_soon_threadsafe(self._hear, seq)

    def _hear(self, seq: int | None) -> None:
        if seq is None:
            self._must_look = True
        else:
            self.known = max(self.known, seq)
        self._changed.set()


class ChangeSignal:
    """All tails of one ledger, and how to wake those that are concerned. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiters: dict[str, list[Waiter]] = {}

    @contextmanager
    def listening(self, discussion_id: str) -> Iterator[Waiter]:
        waiter = Waiter()
        with self._lock:
            self._waiters.setdefault(discussion_id, []).append(waiter)
        try:
            yield waiter
        finally:
            with self._lock:
                others = self._waiters[discussion_id]
                others.remove(waiter)
                if not others:
                    del self._waiters[discussion_id]

    def tailed(self) -> list[str]:
        """The discussions that somebody tails."""
        with self._lock:
            return list(self._waiters)

    def announce(self, discussion_id: str, seq: int | None) -> None:
        """Tell the tails of a discussion of event `seq`; None makes them look for themselves."""
        with self._lock:
            waiters = list(self._waiters.get(discussion_id, ()))
        for waiter in waiters:
            if seq is None or waiter.known < seq:
                waiter.tell(seq)

    def announce_all(self) -> None:
        for discussion_id in self.tailed():
            self.announce(discussion_id, None)


def _goes_on(page: Page, closed_at: int) -> bool:
    """Whether a discussion that was closed there was opened again since, as far as the page tells;
    where it does not reach to the end, the next one will."""
    if closed_at > page.last_seq:
        return False  # it was closed while the page was read
    later = [record for record in page.events if record.seq > closed_at]
    if any(isinstance(record.event, StageReopened | LimitsRaised) for record in later):
        return True
    return bool(page.events) and page.events[-1].seq < page.last_seq


async def follow(
    listening: AbstractAsyncContextManager[Waiter],
    read: Callable[[int], Awaitable[Page]],
    after: int,
) -> AsyncGenerator[StoredEvent, None]:
    """The events after `after` as `read` gives them page by page, until the discussion closes."""
    async with listening as waiter:
        while True:
            page = await read(after)
            for record in page.events:
                after = record.seq
                yield record
                if isinstance(record.event, DiscussionClosed) and not _goes_on(page, record.seq):
                    return
            if page.closed and after >= page.last_seq:
                return
            if len(page.events) < PAGE:
                seen = max(after, page.last_seq)
                await waiter.change_beyond(lambda seen=seen: seen)
