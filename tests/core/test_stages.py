"""Stages: a group of turns opens once, is taken in parallel or in order, and closes once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pytest

from roundtable.core.effects import Record, TakeTurn
from roundtable.core.events import (
    Event,
    NoteAdded,
    SpeechGiven,
    StageClosed,
    StageOpened,
    TurnFailed,
)
from roundtable.core.stages import StageProgress, run_stage
from roundtable.core.state import State, fold

from .samples import opened, plan, recorded, seat, speech, turn_failed

PLANS = [plan(seat(name)) for name in ("scholar", "engineer", "muse")]
TURNS = tuple(each.turn_id for each in PLANS)
OPENED = StageOpened(stage="answer", round=1, turns=TURNS)
Order = Literal["parallel", "sequential"]


def state_with(*events: Event) -> State:
    return fold(recorded(opened(), *events))


def taken(progress: StageProgress) -> list[str]:
    return [e.plan.participant.id for e in progress.effects if isinstance(e, TakeTurn)]


@pytest.mark.requirement("X-03", "C-45")
@pytest.mark.parametrize(
    ("order", "first"),
    [("parallel", ["scholar", "engineer", "muse"]), ("sequential", ["scholar"])],
)
def test_a_new_stage_opens_and_takes_its_turns_in_its_order(order: Order, first: list[str]) -> None:
    progress = run_stage(state_with(), PLANS, order)
    assert progress.effects[0] == Record((OPENED,))
    assert taken(progress) == first
    assert not progress.over


@pytest.mark.requirement("X-03")
@pytest.mark.parametrize(
    ("order", "left"), [("parallel", ["engineer", "muse"]), ("sequential", ["engineer"])]
)
def test_an_open_stage_names_only_the_turns_still_open(order: Order, left: list[str]) -> None:
    progress = run_stage(state_with(OPENED, speech(TURNS[0])), PLANS, order)
    assert taken(progress) == left
    assert len(progress.effects) == len(left)


@pytest.mark.requirement("X-03")
def test_a_sequential_stage_goes_on_after_a_turn_that_failed() -> None:
    progress = run_stage(state_with(OPENED, turn_failed(TURNS[0])), PLANS, "sequential")
    assert taken(progress) == ["engineer"]


@pytest.mark.parametrize("order", ["parallel", "sequential"])
def test_a_stage_closes_with_who_spoke_and_who_is_missing(order: Order) -> None:
    # Turns may end in any order; a stage lists them in its own.
    state = state_with(OPENED, speech(TURNS[2]), turn_failed(TURNS[1]), speech(TURNS[0]))

    def closing(
        speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
    ) -> tuple[Event, ...]:
        return (NoteAdded(code="count", text=f"{len(speeches)} spoke, {len(failures)} did not"),)

    progress = run_stage(state, PLANS, order, closing)
    assert progress.effects == (
        Record(
            (
                StageClosed(
                    stage="answer", round=1, spoke=("scholar", "muse"), missing=("engineer",)
                ),
                NoteAdded(code="count", text="2 spoke, 1 did not"),
            )
        ),
    )


def test_a_closed_stage_is_over_and_tells_what_came_of_it() -> None:
    state = state_with(
        OPENED,
        speech(TURNS[0]),
        turn_failed(TURNS[1]),
        speech(TURNS[2]),
        StageClosed(stage="answer", round=1, spoke=("scholar", "muse"), missing=("engineer",)),
    )
    assert run_stage(state, PLANS) == StageProgress(
        (), (speech(TURNS[0]), speech(TURNS[2])), (turn_failed(TURNS[1]),)
    )
    assert run_stage(state, PLANS).over


def test_a_stage_whose_turns_were_filled_before_it_opened_opens_and_closes_at_once() -> None:
    state = state_with(*(speech(turn_id) for turn_id in TURNS))
    progress = run_stage(state, PLANS)
    events = [event for e in progress.effects if isinstance(e, Record) for event in e.events]
    assert [event.type for event in events] == ["StageOpened", "StageClosed"]
    assert taken(progress) == []
