"""Changes of mind: with the argument that caused them, or without one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.declaration import (
    Adopted,
    Decision,
    Declaration,
    DeclaredStance,
    DeclaredVote,
    Option,
)
from roundtable.core.events import DecisionsTabled, Event, SpeechGiven
from roundtable.core.position_changes import (
    VOTE,
    Argument,
    Change,
    Conformity,
    Held,
    changes_in,
    changes_of_mind,
    conformity,
)
from roundtable.core.record import QUESTION
from roundtable.core.state import State, fold
from tests.core.samples import opened, recorded


def track(who: str, *positions: str, because: Argument | None = None) -> list[Held]:
    return [
        Held(who, "answer", position, round_, f"{round_}/{who}", because)
        for round_, position in enumerate(positions, 1)
    ]


COST = Argument("anna", "It costs too much.", 1)


@pytest.mark.requirement("Z-04")
def test_a_change_is_listed_with_the_new_argument_that_it_names() -> None:
    held = track("anna", "A", "A") + track("ben", "B", "A", because=COST)
    assert changes_of_mind(held) == [
        Change("ben", "answer", "B", "A", 2, "2/ben", COST),
    ]
    assert not changes_of_mind(held)[0].capitulation


@pytest.mark.requirement("Z-04")
@pytest.mark.parametrize(
    "because",
    [
        None,
        Argument("ben", "It is my own.", 2),
        # It was on the table when the position that is now given up was taken.
        Argument("anna", "It is an old one.", 0),
        Argument("anna", "It came later.", 3),
    ],
)
def test_a_change_without_a_new_argument_is_a_capitulation(because: Argument | None) -> None:
    (change,) = changes_of_mind(track("ben", "B", "A", because=because))
    assert change.capitulation


def test_where_no_argument_could_be_named_nobody_is_said_to_have_given_in() -> None:
    (change,) = changes_of_mind(track("ben", "B", "A"), told=False)
    assert not change.capitulation


def test_to_make_up_ones_mind_is_no_change_and_to_lose_it_is_one() -> None:
    assert changes_of_mind(track("ben", "unsure", "A")) == []
    assert len(changes_of_mind(track("ben", "A", "unsure"))) == 1
    assert changes_of_mind([]) == []
    assert changes_of_mind(track("ben", "A")) == []


@pytest.mark.requirement("Z-06")
def test_the_conformist_goes_over_to_the_majority_and_the_independent_does_not() -> None:
    held = [
        *track("anna", "A", "A", "A"),
        *track("ben", "A", "A", "A"),
        *track("conformist", "B", "A", "A"),
        *track("independent", "C", "C", "C"),
    ]
    rates = conformity(held)
    assert rates["conformist"] == Conformity(chances=1, moved=1)
    assert rates["conformist"].rate == 1
    assert rates["independent"] == Conformity(chances=2, moved=0)
    assert rates["independent"].rate == 0
    assert rates["anna"].rate is None


def test_going_elsewhere_than_to_the_majority_is_not_conforming() -> None:
    held = [*track("a", "A", "A"), *track("b", "A", "A"), *track("c", "B", "C")]
    assert conformity(held)["c"] == Conformity(1, 0)
    assert conformity([]) == {}
    assert conformity(track("alone", "A", "B"))["alone"].rate is None


def said(who: str, round_: int, stage: str = "answer", **declared: Any) -> SpeechGiven:
    return SpeechGiven(
        turn_id=f"{round_}/{stage}/{who}",
        stage=stage,
        round=round_,
        participant=who,
        model="m",
        text="The audit is not over, and it costs too much.",
        declaration=Declaration(**declared),
        independent=round_ == 1,
    )


def vote(choice: str, before: str = "silent") -> tuple[DeclaredVote, ...]:
    return (DeclaredVote(on=QUESTION, choice=choice, before=before),)


def table(*events: Event) -> State:
    tabled = DecisionsTabled(
        decisions=(
            Decision(
                id=QUESTION,
                question="Ship?",
                options=(Option(id="o1", text="Yes"), Option(id="o2", text="No")),
            ),
        )
    )
    return fold(recorded(opened(), tabled, *events))


SHIP_OR_WAIT = (
    said("scholar", 1, votes=vote("o1"), position="Ship."),
    said("muse", 1, votes=vote("o2"), position="Wait."),
)


@pytest.mark.requirement("Z-04")
def test_changes_are_read_from_what_was_declared() -> None:
    state = table(
        said("scholar", 1, votes=vote("o1"), position="Ship.", new_points=("Ship on Monday",)),
        said("muse", 1, votes=vote("o2"), position="Wait."),
        said(
            "scholar",
            2,
            votes=vote("o2", "o1"),
            position="Wait.",
            stances=(DeclaredStance(id="p1", stance="withdraw"),),
            adopted=(Adopted(participant="muse", what="the audit is not over", moved=True),),
        ),
        said("muse", 2, votes=vote("o2", "o2"), position="Wait."),
    )
    found = {each.issue: each for each in changes_in(state)}
    assert (found[VOTE].before, found[VOTE].after) == ("o1", "o2")
    assert found[VOTE].argument == Argument("muse", "the audit is not over", 2)
    assert (found["p1"].before, found["p1"].after) == ("agree", "withdraw")


@pytest.mark.requirement("Z-04")
def test_a_change_for_which_nobody_made_the_named_argument_is_a_capitulation() -> None:
    state = table(
        said("scholar", 1, votes=vote("o1"), position="Ship."),
        said("muse", 1, votes=vote("o2"), position="Wait."),
        said(
            "scholar",
            2,
            votes=vote("o2", "o1"),
            position="Wait.",
            adopted=(Adopted(participant="muse", what="most want to", moved=True),),
        ),
    )
    (change,) = changes_in(state)
    assert change.capitulation


@pytest.mark.requirement("Z-04")
def test_a_ballot_that_confirms_a_change_keeps_the_argument_that_was_named_for_it() -> None:
    moved = said(
        "scholar",
        2,
        votes=vote("o2", "o1"),
        position="Wait.",
        adopted=(Adopted(participant="muse", what="the audit is not over", moved=True),),
    )
    state = table(
        *SHIP_OR_WAIT,
        moved,
        said("scholar", 2, "ballot", votes=vote("o2", "o2")),
        said("scholar", 3, votes=vote("o2", "o2"), position="Wait."),
    )
    (change,) = changes_in(state)
    assert change.argument == Argument("muse", "the audit is not over", 2)
    assert not change.capitulation
    back = said("scholar", 3, votes=vote("o1", "o2"), position="Ship.")
    assert [each.capitulation for each in changes_in(table(*SHIP_OR_WAIT, moved, back))] == [
        False,
        True,
    ]


@pytest.mark.requirement("Z-04")
def test_whoever_goes_to_a_position_of_its_own_has_not_given_in() -> None:
    own = said("scholar", 2, votes=vote("own", "o1"), position="Ship half of it.")
    (change,) = changes_in(table(*SHIP_OR_WAIT, own))
    assert (change.after, change.argument, change.capitulation) == ("own", None, False)


def test_an_answer_to_another_wording_is_no_change_of_mind() -> None:
    state = table(
        said("scholar", 1, position="Ship.", new_points=("Ship on Monday",)),
        said("muse", 1, position="Wait.", stances=(DeclaredStance(id="p1", stance="agree"),)),
        said(
            "scholar",
            2,
            position="Ship.",
            stances=(DeclaredStance(id="p1", stance="amend", text="Ship on Friday"),),
        ),
        said("muse", 3, position="Wait.", stances=(DeclaredStance(id="p1", stance="disagree"),)),
    )
    assert changes_in(state) == []


@given(
    st.lists(
        st.builds(Held, st.sampled_from("abc"), st.just("q"), st.sampled_from("xyz"),
                  st.integers(1, 4)),
        max_size=15,
    )
)  # fmt: skip
def test_rates_lie_between_nothing_and_all(held: list[Held]) -> None:
    for each in conformity(held).values():
        assert 0 <= each.moved <= each.chances
