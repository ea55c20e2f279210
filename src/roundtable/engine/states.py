"""The discussions that this process looked at last: each is folded once, and then read on.

Other processes append too, so every use asks the ledger for what came since. The last known event
is read again with it: if it is another one, or none, the discussion was deleted, and one of the
same id may have been opened in its place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from ..core.events import StoredEvent
from ..core.state import State
from ..ports import Ledger

MOST_EVENTS, MOST_KEPT = 25_000, 128
"""Of all discussions that are kept, and how many those are. The one that was used last is kept
however long it is."""


class Reading:
    """One discussion as far as it was read: always a whole prefix of its events."""

    def __init__(self, records: Sequence[StoredEvent] = ()) -> None:
        self.state = State()
        self.keys: set[str] = set()
        """The idempotency keys of the events in the state."""
        self.last: StoredEvent | None = None
        for record in records:
            self.take(record)

    def take(self, record: StoredEvent) -> bool:
        """Take in the next event; whether it was the next. One that is known already, or comes
        after a gap, is left: whoever reads on may bring it."""
        if record.seq != self.state.seq + 1:
            return False
        self.state.apply(record)
        self.last = record
        if record.key:
            self.keys.add(record.key)
        return True


class States:
    """Keeps readings, of so many events in all. Safe for several tasks of one event loop: nobody
    waits between looking at a reading and taking in what follows it."""

    def __init__(self, ledger: Ledger, most_events: int = MOST_EVENTS) -> None:
        self._ledger = ledger
        self._most = most_events
        self._kept: OrderedDict[str, Reading] = OrderedDict()

    async def snapshot(self, discussion_id: str) -> State:
        """The discussion as it stands, in a state that is the caller's own."""
        return (await self.newest(discussion_id)).state.branch()

    async def newest(self, discussion_id: str) -> Reading:
        """The reading that is kept, with all that the ledger holds now. It goes on with whatever
        others do in this process: look at it without waiting in between, and change nothing but by
        events that are stored. UnknownDiscussion if there is none."""
        held = self._kept.get(discussion_id)
        if held is None or not await self._read_on(discussion_id, held):
            self.drop(discussion_id)
            held = Reading(await self._ledger.read(discussion_id))
        self._keep(discussion_id, held)
        return held

    def drop(self, discussion_id: str) -> None:
        """Forget a discussion, such as one that was deleted."""
        self._kept.pop(discussion_id, None)

    async def _read_on(self, discussion_id: str, held: Reading) -> bool:
        """Take in what came since; whether it is still the same discussion."""
        last = held.last
        if last is None or last.seq != held.state.seq:
            return False  # an event could not be applied: it is folded anew, and says so
        try:
            new = await self._ledger.read(discussion_id, after=last.seq - 1)
            if not new or new[0] != last:
                return False
            for record in new:
                held.take(record)
        except BaseException:
            # Nobody knows how far it was taken in: it is folded anew.
            self.drop(discussion_id)
            raise
        return True

    def _keep(self, discussion_id: str, held: Reading) -> None:
        self._kept[discussion_id] = held
        self._kept.move_to_end(discussion_id)
        events = sum(each.state.seq for each in self._kept.values())
        while len(self._kept) > 1 and (events > self._most or len(self._kept) > MOST_KEPT):
            _, oldest = self._kept.popitem(last=False)
            events -= oldest.state.seq
