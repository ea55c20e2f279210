"""Identity bias: a review that depends on who wrote what is reviewed."""

from __future__ import annotations

import pytest

from roundtable.core.identity_bias import Review, identity_bias

AUTHOR = {"w-anna": "anna", "w-ben": "ben", "w-cleo": "cleo", "w-dora": "dora"}
FAMILY = {"anna": "north", "ben": "north", "cleo": "south", "dora": "west"}


def review(who: str, *ranking: str, named: bool = False, topic: str = "") -> Review:
    return Review(who, tuple((f"w-{each}",) for each in ranking), named, topic)


@pytest.mark.requirement("Z-06")
def test_whoever_follows_names_is_told_from_whoever_does_not() -> None:
    reviews = [
        review("snob", "anna", "ben", "cleo"),
        review("snob", "cleo", "ben", "anna", named=True),
        review("fair", "anna", "ben", "cleo"),
        review("fair", "anna", "ben", "cleo", named=True),
        review("half", "anna", "ben", "cleo"),
        review("half", "ben", "anna", "cleo", named=True),
    ]
    found = identity_bias(reviews, AUTHOR)
    assert found["snob"].sway.value == 1
    assert found["fair"].sway.value == 0
    assert found["half"].sway.value == pytest.approx(1 / 3)


@pytest.mark.requirement("Z-06")
def test_a_fickle_reviewer_is_fickle_without_names_too() -> None:
    found = identity_bias([review("a", "ben", "cleo"), review("a", "cleo", "ben")], AUTHOR)
    assert found["a"].fickle.value == 1
    assert found["a"].sway.value is None
    assert "names" in found["a"].sway.reason


@pytest.mark.requirement("Z-06")
def test_own_and_family_favour_are_measured_against_the_disinterested() -> None:
    reviews = [
        # Ben puts his own and his family's work first; nobody else does.
        review("ben", "ben", "anna", "cleo", "dora"),
        review("cleo", "dora", "anna", "ben"),
        review("dora", "cleo", "anna", "ben"),
        review("eve", "cleo", "dora", "anna", "ben"),
    ]
    ben = identity_bias(reviews, AUTHOR, FAMILY)["ben"]
    assert ben.own.value == 1
    assert ben.family.value == 1
    eve = identity_bias(reviews, AUTHOR, FAMILY)["eve"]
    assert eve.own.value is None
    assert "family is not known" in eve.family.reason


def test_good_work_put_first_by_everybody_is_no_favour() -> None:
    reviews = [
        review("anna", "anna", "cleo"),
        review("dora", "anna", "cleo"),
        review("eve", "anna", "cleo"),
    ]
    assert identity_bias(reviews, AUTHOR, FAMILY)["anna"].own.value == 0


def test_interested_reviewers_are_no_measure() -> None:
    # Cleo wrote the other piece and Ben is of Anna's family: nobody is left to compare with.
    reviews = [
        review("anna", "anna", "cleo"),
        review("cleo", "cleo", "anna"),
        review("ben", "anna", "cleo"),
    ]
    anna = identity_bias(reviews, AUTHOR, FAMILY)["anna"]
    assert anna.own.value is None
    assert "disinterested" in anna.own.reason
    assert "own family" in anna.family.reason


def test_topics_are_not_mixed_and_nothing_gives_nothing() -> None:
    reviews = [
        review("anna", "anna", "cleo", topic="one"),
        review("dora", "cleo", "anna", topic="two"),
    ]
    assert identity_bias(reviews, AUTHOR)["anna"].own.value is None
    assert identity_bias([], {}) == {}
    assert identity_bias([Review("a", ())], {})["a"].sway.value is None


def test_a_draw_counts_half() -> None:
    reviews = [Review("a", (("w-ben", "w-cleo"),)), review("a", "ben", "cleo", named=True)]
    assert identity_bias(reviews, AUTHOR)["a"].sway.value == 0.5
