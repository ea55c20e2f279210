"""The journal: turns that begin side by side are one append, and see each other all the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from roundtable.core.events import AttemptStarted, NewEvent, Recorded
from roundtable.core.values import Budget
from roundtable.ledger.memory import MemoryLedger
from roundtable.speakers.hub import SpeakerHub

from ..rehearsal import Table, Voice, run_in_virtual_time


class Counting(MemoryLedger):
    """A ledger that remembers what came in one append."""

    def __init__(self) -> None:
        super().__init__()
        self.appends: list[list[str]] = []

    async def append(
        self, discussion_id: str, events: Sequence[NewEvent], **how: Any
    ) -> list[Recorded]:
        self.appends.append([new.event.type for new in events])
        return await super().append(discussion_id, events, **how)


def test_turns_that_begin_side_by_side_are_opened_in_one_append() -> None:
    ledger = Counting()
    run_in_virtual_time(Table(ledger=ledger).ask(options={"quick": True}))
    opened = [append for append in ledger.appends if "AttemptStarted" in append]
    assert opened == [
        ["AttemptStarted"],
        ["AttemptStarted", "AttemptStarted", "AttemptStarted"],
        ["AttemptStarted"],
    ]


@pytest.mark.parametrize(("calls", "answers"), [(3, 1), (4, 2), (5, 3)])
def test_turns_opened_together_do_not_share_the_last_of_a_budget(calls: int, answers: int) -> None:
    table = Table()
    state = run_in_virtual_time(table.ask(options={"quick": True}, budget=Budget(max_calls=calls)))
    assert len(state.spoken_in("answer", 1)) == answers
    assert state.usage.calls == len(table.requests) <= calls


@pytest.mark.requirement("I-12")
def test_waiting_for_a_place_is_not_the_turns_time_and_is_not_journalled() -> None:
    """Each answer takes 80 of the 90 seconds that a specialist has, and only one may be called."""
    slow = Voice(lambda _: 80.0)
    table = Table(speakers=SpeakerHub(api=lambda: slow, others={}, parallel=1))
    state = run_in_virtual_time(table.ask(options={"quick": True, "all": "test/slow"}))
    assert state.status == "concluded"
    assert not state.failures
    assert slow.most_at_once == 1
    records = run_in_virtual_time(table.records(state))
    begun = [r.at for r in records if isinstance(r.event, AttemptStarted)]
    apart = [later - earlier for earlier, later in pairwise(begun)]
    assert all(gap.total_seconds() >= 80 for gap in apart)
