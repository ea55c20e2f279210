"""The check of order: everybody reviews twice, and votes that follow the order are marked."""

from __future__ import annotations

import re

import pytest

from roundtable.core.errors import UsageError
from roundtable.core.record import record_of
from roundtable.core.values import Budget
from roundtable.ports import SpeakRequest
from roundtable.procedures import procedure_spec
from roundtable.procedures.table import Table as Seen
from roundtable.views.report_md import markdown_report
from tests.declaring import spoken, vote
from tests.foreseen import foreseen
from tests.rehearsal import Cast

from .deliberation_table import (
    DEAD,
    EXPERTS,
    NAMES,
    ONE,
    SPLIT,
    THREE,
    TWO,
    Act,
    answer,
    asked,
    codes,
    hold,
    prompt_of,
    review,
    synthesis,
    table,
)

BOTH = {"dual_order": True}
REVERSED = [f"2/critique-in-reverse/{who}" for who in EXPERTS]


def follower(request: SpeakRequest) -> str:
    """Votes for whatever option its prompt lists first."""
    listed = request.user.split("---OPTIONS (untrusted)---")[1]
    first = re.search(r"^ *(o\d):", listed, re.MULTILINE)
    assert first is not None
    return spoken(review("follower"), request, votes=[vote(first[1])])


def ranking(*options: str) -> Act:
    best, *others = options
    votes = [vote(best, acceptable=tuple(others))]
    return lambda request: spoken(review("x"), request, votes=votes)


@pytest.mark.requirement("Z-05")
def test_a_reviewer_that_follows_the_order_is_found_and_one_with_a_view_is_not() -> None:
    at = table(
        SPLIT,
        {f"/answer/{TWO}": answer(TWO), f"critique/{TWO}": follower, f"reverse/{TWO}": follower},
    )
    state = hold(at, options=BOTH)
    (note,) = [each for each in state.notes if each.code == "order_check"]
    assert note.text == (
        "1 of 3 votes changed with the order of the answers: Precedent votes for “yes” in one "
        "order and for “no” in the other. The first reading counts."
    )
    assert note.remedy
    delivered = procedure_spec("deliberation").deliver(state, "0")
    assert "**Order check:** 1 of 3 votes changed" in delivered
    assert note.text in markdown_report(state, delivered).replace("\\", "")


@pytest.mark.requirement("Z-05")
def test_steady_votes_are_said_to_be_steady_and_counted_once() -> None:
    at = table()
    state = hold(at, options=BOTH)
    (note,) = [each for each in state.notes if each.code == "order_check"]
    assert note.text.startswith("0 of 3 votes changed with the order of the answers.")
    assert note.remedy == ""
    counted = [each.turn_id for each in record_of(state).statements]
    assert len(counted) == 2 * len(EXPERTS), "the second reading counts for nothing"
    assert asked(at)[-4:] == [*REVERSED, "0/synthesis/host"]
    assert "critique-in-reverse" not in prompt_of(at, "0/synthesis/host").user


@pytest.mark.requirement("Z-05")
def test_the_second_reading_shows_the_same_answers_and_options_from_the_end() -> None:
    at = table()
    state = hold(at, options=BOTH)
    for who in EXPERTS:
        first = prompt_of(at, f"2/critique/{who}").user
        second = prompt_of(at, f"2/critique-in-reverse/{who}").user
        views = [re.findall(r"The view of (\S+) in plain words", text) for text in (first, second)]
        own = [who]
        peers = [[each for each in seen if each not in own] for seen in views]
        assert len(peers[0]) == 2
        assert peers[1] == peers[0][::-1]
        options = [re.findall(r"^ *(o\d): ", text, re.MULTILINE) for text in (first, second)]
        assert options == [["o1", "o2"], ["o2", "o1"]]
        assert list(Seen(state, "deliberation").letters(who, reverse=True)) == ["A", "B"]


def test_it_is_off_unless_asked_for_and_needs_a_critique() -> None:
    at = table()
    state = hold(at, options={})
    assert not any("reverse" in turn for turn in asked(at))
    assert "order_check" not in codes(state)
    for one in ("dual_order", "always_critique"):
        for short in ({"quick": True}, {"rounds": 1}):
            with pytest.raises(UsageError, match="exclude each other"):
                hold(table(), options={one: True, **short})


def test_the_estimate_and_the_saving_count_the_second_reading() -> None:
    plain, both = (foreseen(hold(table(), options=options)) for options in ({}, BOTH))
    assert both.calls == plain.calls + 3
    agreed = hold(table({}), options=BOTH)
    (note,) = [each for each in agreed.notes if each.code == "early_stop"]
    assert note.text.startswith("All 3 independent answers came to the same conclusion")
    assert "6 calls saved" in note.text


@pytest.mark.parametrize("dead", EXPERTS)
def test_who_fails_in_the_second_reading_is_not_checked_and_keeps_its_vote(dead: str) -> None:
    turns: dict[str, Act] = {f"critique-in-reverse/{dead}": DEAD}
    state = hold(table(turns=turns), options=BOTH)
    assert state.status == "concluded"
    (note,) = [each for each in state.notes if each.code == "order_check"]
    assert "0 of 2 votes changed" in note.text
    assert f"not checked, for want of two votes: {NAMES[dead]}" in note.text
    assert len(record_of(state).statements) == 6


def test_a_changed_ranking_below_the_first_place_is_told_apart() -> None:
    turns: dict[str, Act] = {
        f"2/critique/{THREE}": ranking("o1", "o2", "o3"),
        f"critique-in-reverse/{THREE}": ranking("o1", "o3", "o2"),
        "synthesis": synthesis(),
    }
    state = hold(table(turns=turns), options={**BOTH, "choices": ["tea", "coffee", "milk"]})
    (note,) = [each for each in state.notes if each.code == "order_check"]
    assert "0 of 3 votes changed" in note.text
    assert f"below the first place the ranking changed for {NAMES[THREE]}" in note.text


def test_a_budget_that_ends_before_it_leaves_the_check_out() -> None:
    at = table(cast=Cast())
    state = hold(at, options=BOTH, budget=Budget(max_calls=7))
    assert state.verdict is not None
    assert sum("reverse" in turn for turn in asked(at)) < 3
    assert state.usage.calls <= 7
    assert record_of(state).of(ONE)
