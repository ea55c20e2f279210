"""State is the fold of the events: deterministic, the same in one go or piece by piece."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.decide import decide
from roundtable.core.effects import Effect, Record
from roundtable.core.events import (
    BallotCast,
    ChoiceMade,
    DiscussionClosed,
    Event,
    NoteAdded,
    SearchFailed,
    StageOpened,
    StoredEvent,
    VerdictReached,
    load,
)
from roundtable.core.state import State, fold
from roundtable.core.values import Usage, Verdict

from .samples import NOON, failed, finished, opened, recorded, speech, started, turn_failed

TURNS = ("1/answer/scholar", "1/answer/engineer", "1/answer/muse")


@st.composite
def ledgers(draw: st.DrawFn) -> list[Event]:
    """A ledger that could be real: turns interleave, but each attempt starts before it ends."""
    queues: list[list[Event]] = []
    for turn_id in TURNS:
        queue: list[Event] = []
        for number in range(1, draw(st.integers(0, 2)) + 1):
            cause = draw(st.sampled_from(["timeout", "lost", "auth"]))
            queue += [
                started(turn_id, number),
                failed(cause, turn_id, number),  # type: ignore[arg-type]
            ]
        last = len(queue) // 2 + 1
        match draw(st.sampled_from(["spoke", "failed", "under way", "waiting"])):
            case "spoke":
                unpriced = draw(st.integers(0, 1))
                usage = Usage(input_tokens=9, output_tokens=6, unpriced_calls=unpriced)
                queue += [
                    started(turn_id, last),
                    finished(turn_id, last, usage=usage),
                    speech(turn_id),
                ]
            case "failed":
                queue.append(turn_failed(turn_id))
            case "under way":
                queue.append(started(turn_id, last))
        queues.append(queue)
    queues.append(
        [NoteAdded(code="n", text="note"), SearchFailed(query="q", provider="p", message="m")]
    )
    events: list[Event] = [opened(), StageOpened(stage="answer", round=1, turns=TURNS)]
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        events.append(queue.pop(0))
    return events


@given(ledgers(), st.data())
@pytest.mark.requirement("I-29", "Z-10")
def test_a_state_folded_piece_by_piece_equals_one_folded_in_one_go(
    events: list[Event], data: st.DataObject
) -> None:
    records = recorded(*events)
    cut = data.draw(st.integers(0, len(records)))
    state = fold(records[:cut])
    for record in records[cut:]:
        state.apply(record)
    assert state == fold(records) == fold(records)


@given(ledgers())
def test_every_call_is_counted_and_every_reservation_accounted_for(events: list[Event]) -> None:
    state = fold(recorded(*events))
    calls = [event for event in events if event.type == "AttemptStarted"]
    assert state.usage.calls == len(calls)
    under_way = {
        (turn.id, number)
        for turn in state.turns.values()
        for number, attempt in enumerate(turn.attempts, 1)
        if attempt.in_flight
    }
    assert under_way <= set(state.reservations)
    assert state.spending(NOON).tokens >= state.usage.tokens


@pytest.mark.parametrize("first", [0, 2, 7])
def test_an_event_that_does_not_follow_the_last_one_is_refused(first: int) -> None:
    with pytest.raises(ValueError, match=f"event {first} cannot follow event 0"):
        fold(recorded(opened(), first=first))


def test_an_event_that_was_taken_in_before_is_refused_and_changes_nothing() -> None:
    records = recorded(opened(), NoteAdded(code="n", text="note"))
    state = fold(records)
    for record in records:
        with pytest.raises(ValueError, match="cannot follow event 2"):
            state.apply(record)
    assert state == fold(records)


def test_a_gap_in_the_stream_is_refused() -> None:
    first, _, third = recorded(opened(), *[NoteAdded(code="n", text="note")] * 2)
    with pytest.raises(ValueError, match="event 3 cannot follow event 1"):
        fold([first, third])


@pytest.mark.requirement("I-35")
def test_the_state_knows_when_it_began_and_when_it_changed() -> None:
    state = fold(recorded(opened(), NoteAdded(code="n", text="note")))
    assert (state.discussion_id, state.seq) == ("rt_0000000a", 2)
    assert state.opened_at == NOON
    assert state.updated_at == NOON + timedelta(seconds=1)


@pytest.mark.requirement("I-16")
def test_speeches_of_a_stage_come_in_the_order_of_its_turns_whenever_they_were_given() -> None:
    stage = StageOpened(stage="answer", round=1, turns=TURNS)
    state = fold(recorded(opened(), stage, speech(TURNS[2]), speech(TURNS[0])))
    assert [s.participant for s in state.spoken_in("answer", 1)] == ["scholar", "muse"]
    assert [s.participant for s in state.speeches] == ["muse", "scholar"]
    assert state.spoken_in("answer", 2) == []


def test_the_host_answers_to_its_wire_name() -> None:
    state = fold(recorded(opened()))
    assert state.participant("coordinator") == state.participant("captain") == state.start.host
    assert state.participant("muse") == state.start.participants[2]
    assert state.participant("nobody") is None


def test_a_discussion_runs_until_it_is_closed() -> None:
    verdict = Verdict(answer="Tea.")
    closed = DiscussionClosed(status="concluded", stop_reason="verdict")
    events: list[Event] = [
        opened(),
        ChoiceMade(question="round2", answer="no", by="person"),
        BallotCast(turn_id=TURNS[0], participant="scholar", round=1, position="Tea."),
        VerdictReached(verdict=verdict),
        closed,
    ]
    running, over = fold(recorded(*events[:-1])), fold(recorded(*events))
    assert (running.status, over.status) == ("running", "concluded")
    assert over.verdict == verdict
    assert over.choices["round2"].answer == "no"


class Eager:
    """A procedure that always wants something."""

    name = "eager"

    def advance(self, state: State) -> tuple[Effect, ...]:
        return (Record((NoteAdded(code="n", text=f"after {state.seq}"),)),)


def test_nothing_is_decided_before_a_discussion_is_open_or_after_it_is_closed() -> None:
    closed = DiscussionClosed(status="stopped", stop_reason="stopped_by_user")
    assert decide(State(), Eager()) == ()
    assert len(decide(fold(recorded(opened())), Eager())) == 1
    assert decide(fold(recorded(opened(), closed)), Eager()) == ()


@pytest.mark.requirement("Z-35")
def test_a_raised_limit_opens_what_a_spent_budget_had_closed() -> None:
    lines = (Path(__file__).parents[1] / "goldens" / "v2-limits.jsonl").read_text("utf-8")
    records = [
        StoredEvent("rt_0000000d", seq, NOON, load(line))
        for seq, line in enumerate(lines.splitlines(), 1)
    ]
    spent, after = fold(records[:-1]), fold(records)
    assert (spent.status, spent.budget.max_cost_usd) == ("failed", 0.01)
    assert spent.to_ask_anew() == ("1/answer/scholar",)
    assert (after.status, after.exhausted, after.budget.max_cost_usd) == ("running", None, 0.5)
    assert after.stages["answer", 1].closed is None
    assert after.turns["1/answer/scholar"].failure is None
    assert after.expected is not None
    assert after.expected.calls == 9


def test_a_branch_of_a_state_leads_on_elsewhere() -> None:
    state = fold(recorded(opened(), started()))
    other = state.branch()
    other.apply(StoredEvent(other.discussion_id, other.seq + 1, NOON, finished()))
    assert state.in_flight
    assert not other.in_flight
    assert state.seq == other.seq - 1


def test_a_procedure_is_asked_once_for_each_state_and_again_after_an_event() -> None:
    asked: list[int] = []

    class Asked(Eager):
        def advance(self, state: State) -> tuple[Effect, ...]:
            asked.append(state.seq)
            return super().advance(state)

    state, procedure = fold(recorded(opened())), Asked()
    first = decide(state, procedure)
    assert decide(state, procedure) == decide(state.branch(), procedure) == first
    assert asked == [1]
    decide(state, Asked())
    assert asked == [1, 1]
    state.apply(StoredEvent(state.discussion_id, 2, NOON, NoteAdded(code="note", text="On.")))
    decide(state, procedure)
    assert asked == [1, 1, 2]


def test_a_state_is_told_in_a_word() -> None:
    assert repr(fold(recorded(opened()))).endswith("at event 1, running>")
