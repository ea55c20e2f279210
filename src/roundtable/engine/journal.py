"""The journal: one discussion as this process sees it, and its only way to append."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ..core.errors import LedgerConflict
from ..core.events import Event, NewEvent, Recorded
from ..core.state import State, fold
from ..ports import Clock, Lease, Ledger
from .tools import OnEvent, no_events

Keyed = tuple[Event, str | None]
"""An event and its idempotency key."""


class Journal:
    """Keeps a state in step with the ledger. Appends of one discussion go one after another, so
    the state always holds a whole prefix of the stream."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        state: State,
        lease: Lease | None = None,
        on_event: OnEvent = no_events,
    ) -> None:
        self.state = state
        self.changed = asyncio.Event()
        """Set when events came in that somebody else appended."""
        self._ledger = ledger
        self._clock = clock
        self._lease = lease
        self._on_event = on_event
        self._lock = asyncio.Lock()

    @classmethod
    async def load(
        cls,
        ledger: Ledger,
        clock: Clock,
        discussion_id: str,
        lease: Lease | None = None,
        on_event: OnEvent = no_events,
    ) -> Journal:
        return cls(ledger, clock, fold(await ledger.read(discussion_id)), lease, on_event)

    async def record(self, *events: Keyed) -> None:
        """Append outcomes: they are true whatever else was appended meanwhile.

        A cancellation waits until they are in: what was paid for is not lost on the way.
        """
        writing = asyncio.create_task(self._record(events))
        cancelled = False
        while not writing.done():
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                cancelled = True  # and it may come again: impatience must not lose words either
        writing.result()
        if cancelled:
            raise asyncio.CancelledError

    async def record_decision(self, events: Sequence[Event], decided_at: int) -> bool:
        """Append what was decided at event `decided_at`; False if the ledger has moved on since."""
        async with self._lock:
            if self.state.seq != decided_at:
                return False
            try:
                await self._append([(event, None) for event in events], expected=decided_at)
            except LedgerConflict:
                await self._read_on()
                return False
            return True

    async def record_checked(self, build: Callable[[State], Sequence[Keyed]]) -> None:
        """Append what `build` makes of the newest state, again and again until it is the newest."""
        async with self._lock:
            while True:
                try:
                    await self._append(build(self.state), expected=self.state.seq)
                    return
                except LedgerConflict:
                    await self._read_on()

    async def catch_up(self) -> None:
        """Take in what others appended."""
        async with self._lock:
            await self._read_on()

    async def _record(self, events: Sequence[Keyed]) -> None:
        async with self._lock:
            await self._append(events)

    async def _append(self, events: Sequence[Keyed], expected: int | None = None) -> None:
        if not events:
            return
        now = self._clock.now()
        stored = await self._ledger.append(
            self.state.discussion_id,
            [NewEvent(event, now, key) for event, key in events],
            expected=expected,
            lease=self._lease,
        )
        new = [record for record in stored if record.seq > self.state.seq]
        if new and new[0].seq != self.state.seq + 1:
            await self._read_on()
        else:
            self._apply(new)

    async def _read_on(self) -> None:
        records = await self._ledger.read(self.state.discussion_id, after=self.state.seq)
        if records:
            self._apply(records)
            self.changed.set()

    def _apply(self, records: Sequence[Recorded]) -> None:
        for record in records:
            self.state.apply(record)
            self._on_event(record, self.state)
