"""The journal: one discussion as the ledger holds it, and this process's only way to append.

What happened is appended at once, whatever others wrote meanwhile. What was decided is appended
only to the very state that it was decided in. The state never holds what is not stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence, Set
from typing import TypeVar

from ..core.budget import Spending
from ..core.errors import LedgerConflict
from ..core.events import (
    AttemptFailed,
    AttemptFinished,
    AttemptStarted,
    Event,
    NewEvent,
    StoredEvent,
)
from ..core.state import State
from ..ports import Clock, Lease, Ledger
from .outage import Outage
from .states import Reading
from .tools import OnEvent, no_events

T = TypeVar("T")

Keyed = tuple[Event, str | None]
"""An event and its idempotency key."""
Outcome = tuple[Event, str]
"""An event that happened. Its key makes it one, however often it is appended."""
Build = Callable[[State], Sequence[Keyed]]
"""What to append in a state."""


class Journal:
    """Keeps a state in step with the ledger: always a whole prefix of the stream."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        reading: Reading,
        lease: Lease | None = None,
        on_event: OnEvent = no_events,
        outage: Outage | None = None,
    ) -> None:
        """With an `outage`, a database that goes away is waited for; without, it raises. Several
        journals may share a reading."""
        self._reading = reading
        self.changed = asyncio.Event()
        """Set when events came in that somebody else appended."""
        self.settled = asyncio.Event()
        """Set when the next call has come to its end; there is a new one after that."""
        self.choosing: dict[str, str] = {}
        """The model that each participant was about to call last: seats that lose theirs at the
        same moment see what the others have chosen, before it is stored."""
        self._ledger = ledger
        self._clock = clock
        self._lease = lease
        self._on_event = on_event
        self._outage = outage
        self._deciding = asyncio.Lock()
        self._waiting: list[Build] = []
        self._ahead: list[Keyed] = []

    @classmethod
    async def load(
        cls,
        ledger: Ledger,
        clock: Clock,
        discussion_id: str,
        lease: Lease | None = None,
        on_event: OnEvent = no_events,
        outage: Outage | None = None,
    ) -> Journal:
        records = await ledger.read(discussion_id)
        return cls(ledger, clock, Reading(records), lease, on_event, outage)

    @property
    def state(self) -> State:
        return self._reading.state

    @property
    def keys(self) -> Set[str]:
        """The idempotency keys of the events in the state."""
        return self._reading.keys

    async def record(self, *outcomes: Outcome) -> None:
        """Append what happened. The ledger has it in hand before anything else of ours runs, and
        a cancellation waits until it is stored: what was paid for is not lost on the way. Where
        there is no ledger just now, it is kept until there is one."""
        cancelled = False
        while True:
            try:
                await self._append(outcomes)
                break
            except asyncio.CancelledError:
                cancelled = True  # perhaps it was stored, perhaps not: its key lets us ask again
                self._hurry()
        if cancelled:
            raise asyncio.CancelledError

    async def record_decision(self, events: Sequence[Event], decided_at: int) -> None:
        """Append what was decided at event `decided_at`, or nothing if the ledger has moved on
        since: then the state is the newest, to be decided on anew."""
        try:
            await self._append([(event, None) for event in events], expected=decided_at)
        except LedgerConflict:
            await self.catch_up()

    async def record_checked(self, build: Build) -> None:
        """Append what `build` makes of the newest state, built anew whenever somebody else was
        first. Those that come while an append is being written go into the next one together.

        A cancellation waits for it: who is cancelled finds it in the state, or it is not there.
        """
        self._waiting.append(build)
        await _to_its_end(self._append_waiting(build), self._hurry)

    def spending(self) -> Spending:
        """What is spent or set aside, also by what is about to be appended together."""
        ahead = [event.reserved for event, _ in self._ahead if isinstance(event, AttemptStarted)]
        return self.state.spending(self._clock.now(), ahead)

    @property
    def about_to(self) -> frozenset[str]:
        """The turns whose calls are about to begin, together with one that is being built."""
        return frozenset(
            event.turn_id for event, _ in self._ahead if isinstance(event, AttemptStarted)
        )

    async def catch_up(self) -> None:
        """Take in what others appended."""

        def read() -> Awaitable[list[StoredEvent]]:
            return self._ledger.read(self.state.discussion_id, after=self.state.seq)

        if self._apply(await self._through(read)):
            self.changed.set()

    async def follow(self) -> None:
        """Take in what others append as it comes, until cancelled."""
        async with self._ledger.listening(self.state.discussion_id) as ear:
            while True:
                await self.catch_up()
                await ear.change_beyond(lambda: self.state.seq)

    async def renew_lease(self, *, ttl: float) -> None:
        """Keep the right to drive. LeaseLost if somebody else has it."""
        lease = self._lease
        assert lease is not None, "only a driver renews"
        if lease.lasting:
            return
        await self._through(lambda: self._ledger.renew_lease(lease, ttl=ttl))

    async def append_kept(self, outcome: Sequence[NewEvent]) -> None:
        """Append what happened earlier and could not be stored then. It is kept already, together
        with what follows it: it is neither kept again nor dropped here."""
        await self._take(await self._through(self._storing(outcome)))

    def end(self) -> None:
        """Whoever drives has gone: no database is waited for any more. What happened and cannot
        be stored is kept."""
        if self._outage is not None:
            self._outage.end()

    async def _append_waiting(self, mine: Build) -> None:
        async with self._deciding:
            try:
                while mine in self._waiting:  # else somebody before has appended it with its own
                    together = tuple(self._waiting)
                    try:
                        await self._append(self._built(together), expected=self.state.seq)
                        del self._waiting[: len(together)]
                    except LedgerConflict:
                        await self.catch_up()
            except BaseException:
                self._waiting.remove(mine)  # the others try for themselves
                raise

    def _built(self, builds: Sequence[Build]) -> list[Keyed]:
        """What they come to in the newest state, each knowing of the reservations before it."""
        built = self._ahead = []
        for build in builds:
            built.extend(build(self.state))
        self._ahead = []
        return built

    async def _append(self, events: Sequence[Keyed], expected: int | None = None) -> None:
        if not events:
            return
        if expected is None:
            now = self._clock.now()  # whenever it is stored: it happened now
            await self._store([NewEvent(event, now, key) for event, key in events])
            return

        def decided() -> Awaitable[list[StoredEvent]]:
            now = self._clock.now()
            new = [NewEvent(event, now, key) for event, key in events]
            id_ = self.state.discussion_id
            return self._ledger.append(id_, new, expected=expected, lease=self._lease)

        await self._take(await self._through(decided))

    async def _store(self, outcome: Sequence[NewEvent]) -> None:
        await self._take(await self._through(self._storing(outcome), outcome))

    def _storing(self, outcome: Sequence[NewEvent]) -> Callable[[], Awaitable[list[StoredEvent]]]:
        id_ = self.state.discussion_id
        return lambda: self._ledger.append(id_, outcome, lease=self._lease)

    async def _take(self, stored: Sequence[StoredEvent]) -> None:
        self._apply(stored)
        if any(record.seq > self.state.seq for record in stored):
            await self.catch_up()  # others, or appends of ours still under way, come before it

    async def _through(
        self, work: Callable[[], Awaitable[T]], outcome: Sequence[NewEvent] = ()
    ) -> T:
        return await (work() if self._outage is None else self._outage.through(work, outcome))

    def _hurry(self) -> None:
        if self._outage is not None:
            self._outage.hurry()

    def _apply(self, records: Sequence[StoredEvent]) -> bool:
        """Take in those that follow without a gap; whether there were any. A record may come
        twice, by an append and by a reading, and counts once."""
        before = self.state.seq
        for record in records:
            if self._reading.take(record):
                if isinstance(record.event, AttemptFinished | AttemptFailed):
                    self.settled.set()
                    self.settled = asyncio.Event()
                self._on_event(record, self.state)
        return self.state.seq > before


async def _to_its_end(work: Coroutine[None, None, None], hurry: Callable[[], None]) -> None:
    """Do the work whole, and be cancelled only then."""
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True  # and it may come again: impatience must not lose words either
            hurry()
    task.result()
    if cancelled:
        raise asyncio.CancelledError
