"""The journal: turns that begin side by side are one append, and see each other all the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from roundtable.core.events import AttemptStarted, NewEvent, SpeechGiven, StoredEvent
from roundtable.core.state import fold
from roundtable.core.values import Budget
from roundtable.ledger.memory import MemoryLedger
from roundtable.procedures.opening import OpenRequest
from roundtable.speakers.hub import SpeakerHub

from ..rehearsal import Table, Voice, run_in_virtual_time


class Counting(MemoryLedger):
    """A ledger that remembers what came in one append."""

    def __init__(self) -> None:
        super().__init__()
        self.appends: list[list[str]] = []

    async def append(
        self, discussion_id: str, events: Sequence[NewEvent], **how: Any
    ) -> list[StoredEvent]:
        self.appends.append([new.event.type for new in events])
        return await super().append(discussion_id, events, **how)


def test_turns_that_begin_side_by_side_are_opened_in_one_append() -> None:
    ledger = Counting()
    run_in_virtual_time(Table(ledger=ledger).ask(options={"quick": True}))
    opened = [append for append in ledger.appends if "AttemptStarted" in append]
    assert [append.count("AttemptStarted") for append in opened] == [1, 3, 1]


def test_a_step_costs_one_commit_with_what_came_before_it_and_the_calls_that_begin() -> None:
    ledger = Counting()
    run_in_virtual_time(Table(ledger=ledger).ask(options={"quick": True}))
    assert ledger.appends[1:] == [
        ["StageOpened", "AttemptStarted"],
        ["AttemptFinished", "SpeechGiven", "StageClosed", "StageOpened", *["AttemptStarted"] * 3],
        [
            *["AttemptFinished", "SpeechGiven"] * 3,
            *["StageClosed", *["BallotCast"] * 3, "StageOpened", "AttemptStarted"],
        ],
        ["AttemptFinished", "SpeechGiven", "StageClosed", "VerdictReached", "DiscussionClosed"],
    ]


def test_an_answer_that_others_do_not_wait_for_is_recorded_at_once() -> None:
    """The first of three is in the ledger long before the others have answered."""
    ledger = Counting()
    table = Table({"test/quick": Voice(), "*": Voice(lambda _: 60.0)}, ledger=ledger)
    options = {"quick": True, "muse": "test/quick"}
    state = run_in_virtual_time(table.ask(options=options))
    assert state.status == "concluded"
    assert ["AttemptFinished", "SpeechGiven"] in ledger.appends


class Meddling(MemoryLedger):
    """A ledger in which somebody else speaks right before one of the appends."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self.appends = 0
        self._before = before

    async def append(
        self, discussion_id: str, events: Sequence[NewEvent], **how: Any
    ) -> list[StoredEvent]:
        self.appends += 1
        if self.appends == self._before:
            remark = SpeechGiven(
                turn_id="0/remark/coordinator-1",
                stage="remark",
                round=0,
                participant="captain",
                model="outside",
                text="One moment.",
            )
            await super().append(discussion_id, [NewEvent(remark, events[0].at)])
        return await super().append(discussion_id, events, **how)


@pytest.mark.requirement("I-16", "Z-01")
@pytest.mark.parametrize("before", range(2, 7))
def test_a_decision_that_somebody_else_overtook_is_made_anew_and_nothing_is_doubled(
    before: int,
) -> None:
    ledger = Meddling(before)
    table = Table(ledger=ledger)
    seen: list[StoredEvent] = []

    async def main() -> list[StoredEvent]:
        state = await table.service.open(OpenRequest(topic="Tea?", options={"quick": True}))
        id_ = state.discussion_id
        state = await table.service.run(id_, on_event=lambda record, _: seen.append(record))
        assert state == fold(await ledger.read(id_))
        return await ledger.read(id_)

    records = run_in_virtual_time(main())
    kinds = [record.event.type for record in records]
    assert kinds[-1] == "DiscussionClosed"
    assert (kinds.count("StageOpened"), kinds.count("StageClosed")) == (3, 3)
    assert kinds.count("AttemptStarted") == len(table.requests) == 5
    assert kinds.count("SpeechGiven") == (6 if ledger.appends >= before else 5)
    told = [record.seq for record in seen]
    assert told == sorted(set(told))
    assert seen == [record for record in records if record.seq >= told[0]]


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
