"""The journal: one discussion as this process sees it, and its only way to append."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass

from ..core.budget import Spending
from ..core.errors import LedgerConflict
from ..core.events import AttemptStarted, Event, NewEvent, StoredEvent
from ..core.state import State, fold
from ..ports import Clock, Lease, Ledger
from .tools import OnEvent, no_events

Keyed = tuple[Event, str | None]
"""An event and its idempotency key."""
Build = Callable[[State], Sequence[Keyed]]
"""What to append in a state."""


class Overtaken(Exception):
    """What this was built on was assumed, and did not come to be: it is to be decided anew."""


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
        self.keys: set[str] = set()
        """The idempotency keys of the events that this process has taken in."""
        self._ledger = ledger
        self._clock = clock
        self._lease = lease
        self._on_event = on_event
        self._lock = asyncio.Lock()
        self._wishes: list[PendingAppend] = []
        self._ahead: list[Event] = []
        self._forgotten = 0
        self._assumed: list[_Assumed] = []
        """What is in the state but not in the ledger yet: it goes along with the next append, so
        that a step of a procedure costs one commit and not four."""

    @classmethod
    async def load(
        cls,
        ledger: Ledger,
        clock: Clock,
        discussion_id: str,
        lease: Lease | None = None,
        on_event: OnEvent = no_events,
    ) -> Journal:
        records = await ledger.read(discussion_id)
        journal = cls(ledger, clock, fold(records), lease, on_event)
        journal.keys.update(record.key for record in records if record.key)
        return journal

    async def record(self, *events: Keyed) -> None:
        """Append outcomes: they are true whatever else was appended meanwhile.

        A cancellation waits until they are in: what was paid for is not lost on the way.
        """
        await _to_its_end(self._with_others(PendingAppend(lambda _: events, checked=False)))

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

    async def assume(self, events: Sequence[Event], decided_at: int) -> None:
        """Go on as if what was decided at event `decided_at` were recorded, unless the state has
        moved on since. It is recorded with whatever comes next, in the same commit, or by
        `settle`; a crash before loses nothing that cannot be decided again. If somebody else
        appends first, it is forgotten."""
        async with self._lock:
            if self.state.seq == decided_at:
                self._assume([(event, None) for event in events], certain=False)

    async def take_in(self, *events: Keyed) -> None:
        """Outcomes that what follows from them need not wait for: they are recorded like what is
        assumed, but whatever others append, they stay true and are never forgotten. A cancellation
        waits until they are in."""
        if self._lock.locked():
            await _to_its_end(self._take_in_turn(events))
        else:
            self._assume(events, certain=True)

    async def _take_in_turn(self, events: Iterable[Keyed]) -> None:
        async with self._lock:
            self._assume(events, certain=True)

    def _assume(self, events: Iterable[Keyed], *, certain: bool) -> None:
        now = self._clock.now()
        for event, key in events:
            if key is not None and key in self.keys:
                continue  # it is there already, whoever brought it
            record = StoredEvent(self.state.discussion_id, self.state.seq + 1, now, event, key)
            self.state.apply(record)
            if key is not None:
                self.keys.add(key)
            self._assumed.append(_Assumed(record, certain))

    async def settle(self) -> bool:
        """See that everything assumed is recorded; False if it had to be forgotten."""
        before = self._forgotten
        if self._assumed:
            await self.record()
        return self._forgotten == before

    async def record_checked(self, build: Build) -> None:
        """Append what `build` makes of the newest state, again and again until it is the newest.

        A cancellation waits for it: who is cancelled finds it in the state, or it is not there.
        Overtaken if decisions were forgotten that it may have followed from.
        """
        known = self._forgotten

        def still(state: State) -> Sequence[Keyed]:
            if self._forgotten != known:
                raise Overtaken
            return build(state)

        await _to_its_end(self._with_others(PendingAppend(still, checked=True)))

    def spending(self) -> Spending:
        """What is spent or set aside, also by what is about to be appended."""
        ahead = [event.reserved for event in self._ahead if isinstance(event, AttemptStarted)]
        return self.state.spending(self._clock.now(), ahead)

    async def catch_up(self) -> None:
        """Take in what others appended."""
        async with self._lock:
            await self._read_on()

    async def _with_others(self, wish: PendingAppend) -> None:
        """Fulfil a wish together with all that are waiting by then: one append, one commit."""
        self._wishes.append(wish)
        await asyncio.sleep(0)  # turns that begin side by side come in the same round of the loop
        async with self._lock:
            if not wish.fulfilled.done():
                wishes, self._wishes = self._wishes, []
                await self._fulfil(wishes)
        wish.fulfilled.result()

    async def _fulfil(self, wishes: Sequence[PendingAppend]) -> None:
        error: BaseException | None = None
        try:
            while True:
                checked = any(wish.checked for wish in wishes)
                try:
                    await self._append(
                        self._built(wishes), expected=self.state.seq if checked else None
                    )
                    break
                except LedgerConflict:
                    await self._read_on()
        except BaseException as failure:
            error = failure
        for wish in wishes:
            wish.settle(error)

    def _built(self, wishes: Sequence[PendingAppend]) -> list[Keyed]:
        """What the wishes come to in the newest state; one that is refused stands alone."""
        built: list[Keyed] = []
        for wish in wishes:
            if wish.fulfilled.done():  # refused before the ledger moved on
                continue
            self._ahead = [event for event, _ in built]
            try:
                built.extend(wish.build(self.state))
            except Exception as refusal:
                wish.settle(refusal)
        self._ahead = []
        return built

    async def _append(self, events: Sequence[Keyed], expected: int | None = None) -> None:
        assumed = tuple(self._assumed)
        if not events and not assumed:
            return
        now = self._clock.now()
        before = [NewEvent(a.record.event, a.record.at, a.record.key) for a in assumed]
        stored = await self._ledger.append(
            self.state.discussion_id,
            [*before, *(NewEvent(event, now, key) for event, key in events)],
            expected=self._recorded if assumed else expected,
            lease=self._lease,
        )
        del self._assumed[: len(assumed)]
        for each in assumed:
            self._on_event(each.record, self.state)
        new = [record for record in stored if record.seq > self._recorded]
        if new and new[0].seq != self.state.seq + 1:
            await self._read_on()
        else:
            self._apply(new)

    @property
    def _recorded(self) -> int:
        """The newest event of the state that the ledger holds as well."""
        return self.state.seq - len(self._assumed)

    async def _read_on(self) -> None:
        records = await self._ledger.read(self.state.discussion_id, after=self._recorded)
        if records and self._assumed:
            await self._forget()
        elif records:
            self._apply(records)
            self.changed.set()

    async def _forget(self) -> None:
        """Somebody else was first: what was decided did not come to be, and is decided anew."""
        known = self._recorded
        certain = [(a.record.event, a.record.key) for a in self._assumed if a.certain]
        self._assumed.clear()
        self._forgotten += 1
        records = await self._ledger.read(self.state.discussion_id)
        self.state = fold(records)
        self.keys = {record.key for record in records if record.key}
        for record in records[known:]:
            self._on_event(record, self.state)
        self._assume(certain, certain=True)
        self.changed.set()

    def _apply(self, records: Sequence[StoredEvent]) -> None:
        for record in records:
            self.state.apply(record)
            if record.key:
                self.keys.add(record.key)
            self._on_event(record, self.state)


@dataclass(frozen=True, slots=True)
class _Assumed:
    record: StoredEvent
    certain: bool
    """It happened, such as the end of a call. What was only decided may be forgotten."""


class PendingAppend:
    """What somebody wants appended. `checked`: only to the very state that it was built for."""

    def __init__(self, build: Build, *, checked: bool) -> None:
        self.build = build
        self.checked = checked
        self.fulfilled: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def settle(self, error: BaseException | None) -> None:
        if self.fulfilled.done():
            return
        if error is None:
            self.fulfilled.set_result(None)
        else:
            self.fulfilled.set_exception(error)


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
    """Do the work whole, and be cancelled only then."""
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True  # and it may come again: impatience must not lose words either
    task.result()
    if cancelled:
        raise asyncio.CancelledError
