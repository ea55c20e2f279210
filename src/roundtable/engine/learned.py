"""What earlier discussions tell about the next: how long answers are, by whom and to what. Read
from a few of the newest in the ledger, each of them once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.errors import RoundtableError
from ..core.state import State, fold
from ..ports import Ledger
from ..rehearsal.lengths import NOTHING_HEARD, Heard, Lengths, calls_for_each, heard_in

LOOKED_AT = 12
"""Discussions of which the answers are counted."""
LONGEST = 600
"""Events past which a discussion is too long to be read for this."""
_KEPT = 64


@dataclass(frozen=True, slots=True)
class _Told:
    seq: int
    heard: Mapping[str, Sequence[Heard]]
    calls: float | None


class Learned:
    """Keeps what was read, so that it is read once in a process."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: dict[str, _Told] = {}

    async def lengths(self) -> Lengths:
        """By what the newest discussions show. A ledger that cannot be read tells nothing."""
        try:
            rows = await self._ledger.summaries(limit=3 * LOOKED_AT)
            over = [row for row in rows if row.status != "running" and row.last_seq <= LONGEST]
            found = NOTHING_HEARD
            for row in reversed(over[:LOOKED_AT]):
                held = self._known.get(row.discussion_id)
                if held is None or held.seq != row.last_seq:
                    state = fold(await self._ledger.read(row.discussion_id))
                    held = self._keep(state)
                found = found.with_more(held.heard)
                if held.calls is not None:
                    found = found.with_course(row.procedure, held.calls)
        except RoundtableError:
            return NOTHING_HEARD
        return found

    def _keep(self, state: State) -> _Told:
        while len(self._known) >= _KEPT:
            self._known.pop(next(iter(self._known)))
        held = _Told(state.seq, heard_in(state), calls_for_each(state))
        self._known[state.discussion_id] = held
        return held
