"""What is done and what is still to come, as the events tell it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from roundtable.core.events import (
    DiscussionClosed,
    DiscussionPaused,
    Event,
    StageClosed,
    StageOpened,
    StoredEvent,
)
from roundtable.core.state import State, fold
from roundtable.core.values import OUTSIDE, SpeakerRef
from roundtable.views.driving import needs_driver
from roundtable.views.itinerary import itinerary
from roundtable.views.usual import alike, seconds_taken
from tests.views.tables import opened, seat

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
DELIBERATION = {"procedure": "deliberation", "options": {"critique": True}}


def stored(*events: Event, apart: float = 10) -> list[StoredEvent]:
    return [
        StoredEvent("rt_1", n + 1, BEGAN + timedelta(seconds=apart * n), event)
        for n, event in enumerate(events)
    ]


def told(*events: Event) -> State:
    return fold(stored(*events))


@pytest.mark.requirement("Z-34")
def test_a_deliberation_says_where_it_is_and_what_comes() -> None:
    start = opened([seat("Ann"), seat("Bob")]).model_copy(update=DELIBERATION)
    begun = itinerary(told(start))
    assert begun["now"] is None
    assert [(s["kind"], s["state"]) for s in begun["steps"]] == [
        ("answers", "next"),
        ("replies", "next"),
        ("vote", "next"),
        ("answer", "next"),
    ]
    turns = ("2/critique/ann", "2/critique/bob")
    found = itinerary(
        told(
            start,
            StageOpened(stage="answer", round=1, turns=("1/answer/ann",)),
            StageClosed(stage="answer", round=1, spoke=("ann",)),
            StageOpened(stage="clerk", round=0, turns=("0/clerk/host",)),
            StageClosed(stage="clerk", round=0, spoke=("host",)),
            StageOpened(stage="critique", round=2, turns=turns),
        )
    )
    assert found["now"] == {"kind": "replies", "round": 2, "name": "critique", "hidden": True}
    assert found["rounds"] == 2
    assert [s["state"] for s in found["steps"]] == ["done", "now", "next", "next"]


@pytest.mark.requirement("Z-34")
def test_a_step_that_was_not_held_is_not_told_as_done() -> None:
    start = opened([seat("Ann"), seat("Bob")]).model_copy(update=DELIBERATION)
    agreed: list[Event] = [
        start,
        StageOpened(stage="answer", round=1, turns=("1/answer/ann",)),
        StageClosed(stage="answer", round=1, spoke=("ann",)),
        StageOpened(stage="synthesis", round=0, turns=("0/synthesis/host",)),
    ]
    closed = DiscussionClosed(status="stopped", stop_reason="stopped_by_user")

    writing, ended = itinerary(told(*agreed)), itinerary(told(*agreed, closed))

    assert [s["state"] for s in writing["steps"]] == ["done", "skipped", "skipped", "now"]
    assert [s["state"] for s in ended["steps"]] == ["done", "skipped", "skipped", "done"]


def test_a_meeting_counts_the_rounds_it_may_hold() -> None:
    change = {"procedure": "meeting", "options": {"max_rounds": 3}}
    found = itinerary(told(opened([seat("Ann"), seat("Bob")]).model_copy(update=change)))
    assert [s["kind"] for s in found["steps"]] == ["discussion"] * 3 + ["answer"]


def test_only_a_table_at_which_the_program_calls_nobody_needs_no_driver() -> None:
    model = opened([seat("Ann"), seat("Bob")])
    assert needs_driver(told(model.model_copy(update=DELIBERATION)))
    out = SpeakerRef(model=OUTSIDE)
    seats = tuple(each.model_copy(update={"speakers": (out,)}) for each in model.participants)
    change = {"procedure": "meeting", "participants": seats, "options": {"max_rounds": 2}}
    turns = tuple(f"1/discussion/{each.id}" for each in seats)
    meeting: list[Event] = [
        model.model_copy(update=change),
        StageOpened(stage="discussion", round=1, turns=turns),
    ]
    assert needs_driver(told(*meeting)), "its host is called by the program"
    host = model.host.model_copy(update={"speakers": (out,)})
    meeting[0] = model.model_copy(update={**change, "host": host})
    assert not needs_driver(told(*meeting))
    closed = DiscussionClosed(status="stopped", stop_reason="stopped_by_user")
    assert not needs_driver(told(*meeting, closed))


def test_only_what_ran_through_tells_how_long_it_takes() -> None:
    start = opened([seat("Ann"), seat("Bob")])
    end = DiscussionClosed(status="concluded", stop_reason="verdict")
    assert seconds_taken(stored(start, end)) == 10
    assert seconds_taken(stored(start)) is None
    assert seconds_taken(stored(start, DiscussionPaused(by="me"), end)) is None
    assert alike(start, start)
    assert not alike(start, opened([seat("Ann")]))


@pytest.mark.requirement("Z-34")
def test_whoever_is_waited_for_tells_where_a_table_is_that_nobody_drives() -> None:
    outside = seat("Ann").model_copy(update={"speakers": (SpeakerRef(model=OUTSIDE),)})
    meeting = {"procedure": "meeting", "options": {"max_rounds": 2}}
    state = told(opened([outside, seat("Bob")]).model_copy(update=meeting))
    assert itinerary(state)["now"] is None
    found = itinerary(state, [("discussion", 1)])
    assert (found["now"]["kind"], found["now"]["round"]) == ("discussion", 1)
    assert [each["state"] for each in found["steps"]] == ["now", "next", "next"]
