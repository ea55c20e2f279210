"""A ledger in memory: for rehearsals and tests. It is gone when it is closed."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from ..core.errors import LeaseHeld, UnknownDiscussion
from ..core.events import NewEvent, StoredEvent, dump
from ..ports import DiscussionSummary, Lease
from .append import folded, index_change, keys_of, plan_append
from .leases import holder, lost
from .tail import PAGE, ChangeSignal, Page, Waiter, follow
from .words import SAYING, Words


@dataclass(slots=True)
class _Stream:
    summary: DiscussionSummary
    events: list[StoredEvent] = field(default_factory=list)
    keys: dict[str, StoredEvent] = field(default_factory=dict)


@dataclass(slots=True)
class _Held:
    lease: Lease
    until: float


class MemoryLedger:
    """Implements the Ledger port for one process and one event loop."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._streams: dict[str, _Stream] = {}
        self._leases: dict[str, _Held] = {}
        self._signal = ChangeSignal()
        self._monotonic = monotonic

    async def append(
        self,
        discussion_id: str,
        events: Sequence[NewEvent],
        *,
        expected: int | None = None,
        lease: Lease | None = None,
    ) -> list[StoredEvent]:
        stream = self._streams.get(discussion_id)
        known = (
            {key: stream.keys[key] for key in keys_of(events) if key in stream.keys}
            if stream
            else {}
        )
        if stream is not None and lease is not None and self._current(lease) is None:
            raise lost(lease)
        plan = plan_append(
            discussion_id, len(stream.events) if stream else None, events, known, expected
        )
        if plan.new:
            self._write(discussion_id, stream, plan.new)
            self._signal.announce(discussion_id, plan.new[-1].seq)
        return list(plan.outcome)

    def _write(
        self, discussion_id: str, stream: _Stream | None, new: tuple[StoredEvent, ...]
    ) -> None:
        change = index_change(new)
        if stream is None:
            assert change.opening is not None, "a stream begins with DiscussionOpened"
            opening = change.opening
            stream = self._streams[discussion_id] = _Stream(
                DiscussionSummary(
                    discussion_id,
                    opening.topic,
                    opening.procedure,
                    "running",
                    opening.opened_at,
                    change.updated_at,
                    0,
                    None,
                )
            )
        stream.events.extend(new)
        stream.keys.update({record.key: record for record in new if record.key is not None})
        stream.summary = replace(
            stream.summary,
            status=change.status or stream.summary.status,
            outcome=change.outcome or stream.summary.outcome,
            updated_at=change.updated_at,
            last_seq=change.last_seq,
        )

    async def read(
        self, discussion_id: str, *, after: int = 0, limit: int | None = None
    ) -> list[StoredEvent]:
        events = self._stream(discussion_id).events[after:]
        return events if limit is None else events[:limit]

    def tail(self, discussion_id: str, *, after: int = 0) -> AsyncGenerator[StoredEvent, None]:
        async def read(cursor: int) -> Page:
            stream = self._stream(discussion_id)
            page = stream.events[cursor : cursor + PAGE]
            return Page(page, stream.summary.last_seq, stream.summary.status != "running")

        return follow(self.listening(discussion_id), read, after)

    @asynccontextmanager
    async def listening(self, discussion_id: str) -> AsyncIterator[Waiter]:
        with self._signal.listening(discussion_id) as waiter:
            yield waiter

    async def summaries(
        self, *, limit: int | None = None, search: str | None = None, said: bool = False
    ) -> list[DiscussionSummary]:
        wanted = folded(search or "")
        words = Words(search or "") if said else None
        if words is not None:
            for discussion_id, stream in self._streams.items():
                spoken = (r.event for r in stream.events if r.event.type in SAYING)
                words.look((discussion_id, dump(event)) for event in spoken)
        found = [
            replace(stream.summary, driver=self._driver(discussion_id))
            for discussion_id, stream in self._streams.items()
            if (
                words.in_discussion(discussion_id, stream.summary.topic)
                if words is not None
                else wanted in folded(stream.summary.topic)
            )
        ]
        found.sort(key=lambda row: (row.updated_at, row.discussion_id), reverse=True)
        return found if limit is None else found[:limit]

    async def delete(self, discussion_id: str) -> None:
        self._stream(discussion_id)
        del self._streams[discussion_id]
        self._leases.pop(discussion_id, None)
        self._signal.announce(discussion_id, None)

    async def driver(self, discussion_id: str) -> str | None:
        return self._driver(discussion_id)

    async def take_lease(self, discussion_id: str, owner: str, *, ttl: float) -> Lease:
        self._stream(discussion_id)
        driver = self._driver(discussion_id)
        if driver is not None:
            raise LeaseHeld(discussion_id, driver)
        last = self._leases.get(discussion_id)
        lease = Lease(discussion_id, owner, last.lease.epoch + 1 if last else 1)
        self._leases[discussion_id] = _Held(lease, self._monotonic() + ttl)
        return lease

    async def renew_lease(self, lease: Lease, *, ttl: float) -> None:
        held = self._current(lease)
        if held is None:
            raise lost(lease)
        held.until = self._monotonic() + ttl

    async def release_lease(self, lease: Lease) -> None:
        held = self._current(lease)
        if held is not None:
            held.until = float("-inf")

    async def close(self) -> None:
        self._streams.clear()
        self._signal.announce_all()

    def _stream(self, discussion_id: str) -> _Stream:
        if discussion_id not in self._streams:
            raise UnknownDiscussion(discussion_id)
        return self._streams[discussion_id]

    def _current(self, lease: Lease) -> _Held | None:
        """The lease if no newer one was taken and it was not given back."""
        held = self._leases.get(lease.discussion_id)
        if held is None or held.lease.epoch != lease.epoch or held.until == float("-inf"):
            return None
        return held

    def _driver(self, discussion_id: str) -> str | None:
        held = self._leases.get(discussion_id)
        if held is None:
            return None
        return holder(held.lease.owner, unexpired=held.until > self._monotonic())
