"""The journal: what happened is stored at once, what was decided only where it was decided."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from roundtable.core.call_gate import CallLimits
from roundtable.core.events import (
    AttemptFinished,
    AttemptStarted,
    DiscussionPaused,
    DiscussionResumed,
    Event,
    NewEvent,
    NoteAdded,
    SpeechGiven,
    StopRequested,
    StoredEvent,
)
from roundtable.core.state import State, fold
from roundtable.core.values import Budget
from roundtable.engine.journal import Journal
from roundtable.ledger.memory import MemoryLedger
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.speakers.hub import SpeakerHub

from ..rehearsal import Table, TestClock, Voice, run_in_virtual_time
from .scene import DISCUSSION, Scene


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


def test_answers_decisions_and_calls_that_begin_are_appended_one_after_the_other() -> None:
    ledger = Counting()
    run_in_virtual_time(Table(ledger=ledger).ask(options={"quick": True}))
    answer = ["AttemptFinished", "SpeechGiven"]
    assert ledger.appends[1:] == [
        *[["StageOpened"], ["AttemptStarted"], answer, ["StageClosed"]],
        *[["StageOpened"], ["AttemptStarted"] * 3, answer, answer, answer],
        ["StageClosed"],
        *[["StageOpened"], ["AttemptStarted"], answer, ["StageClosed"]],
        ["VerdictReached", "DiscussionClosed"],
    ]


# An answer that has arrived


class Diary:
    """What happened in which order, and when: answers that arrived, and what the ledger did."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, float]] = []

    def note(self, what: str) -> None:
        self.entries.append((what, asyncio.get_running_loop().time()))

    def waits(self) -> list[tuple[int, float]]:
        """For each answer, what the ledger began and the seconds that passed before it was
        handed in."""
        found = []
        for place, (what, at) in enumerate(self.entries):
            if what.startswith("arrived "):
                key = what.removeprefix("arrived ")
                later = self.entries[place + 1 :]
                stored = next(n for n, (entry, _) in enumerate(later) if entry == f"append {key}")
                between = [e for e, _ in later[:stored] if not e.startswith("arrived ")]
                found.append((len(between), later[stored][1] - at))
        return found


class Witness(Voice):
    """A voice that writes down when it has answered."""

    def __init__(self, diary: Diary, apart: float) -> None:
        super().__init__()
        self._diary = diary
        self._apart = apart

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        await asyncio.sleep(self._apart * self.now_speaking)
        reply = await super().speak(request, on_words)
        self._diary.note(f"arrived {request.idempotency_key.partition('/')[2]}")
        return reply


class Slow(MemoryLedger):
    """A ledger that writes down what is asked of it, and takes a tenth of a second for it."""

    def __init__(self, diary: Diary) -> None:
        super().__init__(lambda: asyncio.get_running_loop().time())
        self._diary = diary

    async def append(
        self, discussion_id: str, events: Sequence[NewEvent], **how: Any
    ) -> list[StoredEvent]:
        answers = [e.event for e in events if isinstance(e.event, AttemptFinished)]
        for answer in answers:
            self._diary.note(f"append {answer.turn_id}/{answer.attempt}")
        if not answers:
            self._diary.note("append something else")
        await asyncio.sleep(0.1)
        return await super().append(discussion_id, events, **how)

    async def read(self, *args: Any, **how: Any) -> list[StoredEvent]:
        self._diary.note("read")
        await asyncio.sleep(0.1)
        return await super().read(*args, **how)


@pytest.mark.requirement("Z-01")
@pytest.mark.parametrize("apart", [0.0, 0.03])
def test_an_answer_is_handed_to_the_ledger_before_anything_else_and_in_no_time(
    apart: float,
) -> None:
    """Three answer side by side, the next while the one before is still being written."""
    diary = Diary()
    table = Table({"*": Witness(diary, apart)}, ledger=Slow(diary))
    state = run_in_virtual_time(table.ask())
    assert state.status == "concluded"
    assert diary.waits() == [(0, 0.0)] * 9


@pytest.mark.requirement("Z-01")
def test_an_answer_waits_for_no_decision_that_is_being_appended() -> None:
    diary = Diary()
    ledger = Slow(diary)
    scene = Scene({"test/a": Voice()})
    scene.ledger = ledger

    async def main() -> list[StoredEvent]:
        await scene.open()
        journal = await scene.journal()
        diary.entries.clear()
        later = asyncio.create_task(journal.record_checked(lambda _: [(note("decided"), None)]))
        await asyncio.sleep(0.05)
        await journal.record((note("answered"), "answer"))
        await later
        assert journal.state == fold(await ledger.read(DISCUSSION))
        return await ledger.read(DISCUSSION)

    records = run_in_virtual_time(main())
    handed_in = [round(at, 2) for what, at in diary.entries if what != "read"]
    assert handed_in[:2] == [0.2, 0.25], "the second while the first is being written"
    codes = [r.event.code for r in records if isinstance(r.event, NoteAdded)]
    assert sorted(codes) == ["answered", "decided"]


def note(code: str) -> NoteAdded:
    return NoteAdded(code=code, text=code)


@pytest.mark.requirement("Z-01", "I-16")
def test_the_state_is_a_whole_prefix_in_whatever_order_appends_end() -> None:
    class Backwards(MemoryLedger):
        """As a database with several connections may: who was first is told last."""

        async def append(self, *args: Any, **how: Any) -> list[StoredEvent]:
            stored = await super().append(*args, **how)
            await asyncio.sleep(1 / stored[-1].seq)
            return stored

    ledger = Backwards()
    scene = Scene({"test/a": Voice()})
    scene.ledger = ledger
    told: list[int] = []

    def on_event(record: StoredEvent, state: State) -> None:
        assert state.seq == record.seq
        told.append(record.seq)

    async def main() -> None:
        await scene.open()
        journal = await Journal.load(ledger, TestClock(), DISCUSSION, on_event=on_event)
        await asyncio.gather(*(journal.record((note(str(n)), str(n))) for n in range(5)))
        assert journal.state == fold(await ledger.read(DISCUSSION))

    run_in_virtual_time(main())
    assert told == [2, 3, 4, 5, 6]


# Somebody else


REMARK = SpeechGiven(
    turn_id="0/remark/coordinator-1",
    stage="remark",
    round=0,
    participant="captain",
    model="outside",
    text="One moment.",
)


class Meddling(MemoryLedger):
    """A ledger in which somebody else is first, right before one of the appends."""

    def __init__(self, before: int, event: Event = REMARK) -> None:
        super().__init__(lambda: asyncio.get_running_loop().time())
        self.appends: list[list[Event]] = []
        self._before = before
        self._event = event

    async def append(
        self, discussion_id: str, events: Sequence[NewEvent], **how: Any
    ) -> list[StoredEvent]:
        self.appends.append([new.event for new in events])
        if len(self.appends) == self._before:
            await super().append(discussion_id, [NewEvent(self._event, events[0].at)])
        return await super().append(discussion_id, events, **how)


EVERY_APPEND = range(2, 17)
"""Of a quick council, the opening left out."""


@pytest.mark.requirement("I-16", "Z-01")
@pytest.mark.parametrize("before", EVERY_APPEND)
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
    kinds = Counter(record.event.type for record in records)
    assert records[-1].event.type == "DiscussionClosed"
    assert len(ledger.appends) >= EVERY_APPEND.stop - 1
    assert (kinds["StageOpened"], kinds["StageClosed"]) == (3, 3)
    assert kinds["AttemptStarted"] == kinds["AttemptFinished"] == len(table.requests) == 5
    assert (kinds["SpeechGiven"], kinds["VerdictReached"]) == (6, 1)
    told = [record.seq for record in seen]
    assert told == sorted(set(told))
    assert seen == [record for record in records if record.seq >= told[0]]


@pytest.mark.requirement("I-33", "I-07")
@pytest.mark.parametrize("before", EVERY_APPEND)
@pytest.mark.parametrize(
    "event", [DiscussionPaused(by="ada"), StopRequested(by="ada")], ids=lambda e: e.type
)
def test_nobody_begins_once_somebody_else_paused_or_stopped(before: int, event: Event) -> None:
    ledger = Meddling(before, event)
    table = Table(ledger=ledger)

    async def main() -> list[StoredEvent]:
        state = await table.service.open(OpenRequest(topic="Tea?", options={"quick": True}))
        id_ = state.discussion_id
        run = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(600)
        halted = await ledger.read(id_)
        if not run.done():
            await ledger.append(id_, [NewEvent(DiscussionResumed(by="ada"), table.clock.now())])
        state = await run
        assert state.closed is not None
        assert state == fold(await ledger.read(id_))
        return halted

    halted = run_in_virtual_time(main())
    place = next(n for n, record in enumerate(halted) if record.event == event)
    assert not [r for r in halted[place:] if isinstance(r.event, AttemptStarted)]
    begun = [r.event.turn_id for r in halted if isinstance(r.event, AttemptStarted)]
    assert len(begun) == len(set(begun))
    if isinstance(event, DiscussionPaused):
        assert len(table.requests) == 5, "whoever spoke has finished, and nobody was asked twice"


@pytest.mark.parametrize(("calls", "answers"), [(1, 1), (2, 1), (3, 2), (4, 3), (5, 3)])
def test_turns_opened_together_do_not_share_the_last_of_a_budget(calls: int, answers: int) -> None:
    table = Table()
    state = run_in_virtual_time(table.ask(options={"quick": True}, budget=Budget(max_calls=calls)))
    assert len(state.spoken_in("answer", 1)) == answers
    assert state.usage.calls == len(table.requests) <= calls


@pytest.mark.requirement("I-12")
def test_waiting_for_a_place_is_not_the_turns_time_and_is_not_journalled() -> None:
    """Each answer takes 80 of the 90 seconds that a specialist has, and only one may be called."""
    slow = Voice(lambda _: 80.0)
    one = {"test": CallLimits(at_once=1)}
    table = Table(speakers=SpeakerHub(api=lambda: slow, others={}, limits=lambda _: one))
    state = run_in_virtual_time(table.ask(options={"quick": True, "all": "test/slow"}))
    assert state.status == "concluded"
    assert not state.failures
    assert slow.most_at_once == 1
    records = run_in_virtual_time(table.records(state))
    begun = [r.at for r in records if isinstance(r.event, AttemptStarted)]
    apart = [later - earlier for earlier, later in pairwise(begun)]
    assert all(gap.total_seconds() >= 80 for gap in apart)
