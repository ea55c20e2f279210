"""Changes of mind: with the argument that caused them, or without one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.points import Point, PointList, Stance
from roundtable.core.position_changes import (
    Argument,
    Change,
    Conformity,
    Held,
    arguments_in,
    changes_of_mind,
    conformity,
    held_in,
)


def track(who: str, *positions: str, because: str = "") -> list[Held]:
    return [
        Held(who, "answer", position, round_, f"{round_}/{who}", because)
        for round_, position in enumerate(positions, 1)
    ]


COST = Argument("cost", "anna", 1)


@pytest.mark.requirement("Z-04")
def test_a_change_is_listed_with_the_new_argument_that_it_names() -> None:
    held = track("anna", "A", "A") + track("ben", "B", "A", because="cost")
    assert changes_of_mind(held, [COST]) == [
        Change("ben", "answer", "B", "A", 2, "2/ben", "cost"),
    ]
    assert not changes_of_mind(held, [COST])[0].capitulation


@pytest.mark.requirement("Z-04")
@pytest.mark.parametrize(
    ("because", "arguments"),
    [
        ("", [COST]),
        ("no such point", [COST]),
        ("own", [Argument("own", "ben", 2)]),
        # It was on the table when the position that is now given up was taken.
        ("old", [Argument("old", "anna", 0)]),
        ("late", [Argument("late", "anna", 3)]),
    ],
)
def test_a_change_without_a_new_argument_is_a_capitulation(
    because: str, arguments: list[Argument]
) -> None:
    (change,) = changes_of_mind(track("ben", "B", "A", because=because), arguments)
    assert change.capitulation


def test_to_make_up_ones_mind_is_no_change_and_to_lose_it_is_one() -> None:
    assert changes_of_mind(track("ben", "unsure", "A"), []) == []
    assert len(changes_of_mind(track("ben", "A", "unsure"), [])) == 1
    assert changes_of_mind([], []) == []
    assert changes_of_mind(track("ben", "A"), []) == []


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


@pytest.mark.requirement("Z-04")
def test_changes_are_read_from_the_list_of_points() -> None:
    def stance(who: str, position: str, round_: int, because: str = "") -> Stance:
        return Stance.model_validate(
            {"participant": who, "point": "p1", "position": position, "round": round_,
             "turn": f"{round_}/{who}", "because": because}
        )  # fmt: skip

    listed = (
        PointList()
        .raise_points(
            Point(id="p1", text="Ship on Monday", raised_by="anna"),
            Point(id="p2", text="The audit is not over", raised_by="ben"),
        )
        .declare(
            stance("anna", "agree", 1),
            stance("ben", "disagree", 1),
            stance("cleo", "agree", 1),
            stance("anna", "disagree", 2, because="p2"),
            stance("cleo", "disagree", 2),
        )
    )
    changes = changes_of_mind(held_in(listed), arguments_in(listed))
    assert {c.participant: (c.argument, c.capitulation) for c in changes} == {
        "anna": ("p2", False),
        "cleo": (None, True),
    }


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
