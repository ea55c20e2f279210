"""Contribution: who earns the seat, and who only repeats a neighbour."""

from __future__ import annotations

import pytest

from roundtable.core.contribution import ENOUGH_TO_COMPARE, contributions, likeness

SEATS = ("ann", "bob", "cid", "dee")
ALONE: dict[str, tuple[str, ...]] = {}


def decisive(votes: str, weights: tuple[float, ...] = (1, 1, 1, 1)) -> str:
    """The seats on whose votes it hangs, by their initials; each letter is a vote for an option,
    `-` is none."""
    seats = SEATS[: len(votes)]
    cast = {seat: "" if v == "-" else v for seat, v in zip(seats, votes, strict=True)}
    found = contributions(cast, ("A", "B"), dict(zip(seats, weights, strict=False)), ALONE)
    return "".join(seat[0] for seat, each in found.items() if each.decisive)


@pytest.mark.requirement("Z-16", "Z-24")
def test_a_vote_is_decisive_if_another_answer_prevails_without_it_or_none() -> None:
    assert decisive("AAB") == "ab"
    assert decisive("AA-") == "ab"
    assert decisive("AAA") == ""
    # Nothing prevails with any of them or without.
    assert decisive("AB") == decisive("AABB") == ""
    # Whoever does not vote stays at the table: two of four are not more than half.
    assert decisive("AAAB") == "abc"


@pytest.mark.requirement("Z-16")
def test_a_duplicated_model_shows_no_contribution() -> None:
    # Ann and Bob are one voter with two seats: Cid and Dee decide.
    copies = (0.5, 0.5, 1.0, 1.0)
    assert decisive("AABB", copies) == "cd"
    twins = {"ann": ("bob",), "bob": ("ann",)}
    votes = dict(zip(SEATS, "AABB", strict=True))
    found = contributions(votes, ("A", "B"), dict(zip(SEATS, copies, strict=True)), twins)
    assert found["ann"].twins == ("bob",)
    assert found["cid"].twins == ()


@pytest.mark.requirement("Z-16")
def test_correlation_is_measured_against_what_any_two_do() -> None:
    past = [
        dict(zip("abcd", row, strict=True))
        for row in ("XXYZ", "XXYX", "YYXX", "XXXX", "ZZXY", "XXYY", "YYYX", "XXZZ")
    ]
    pairs = likeness(past)
    assert pairs["a", "b"].correlation.value == 1
    assert pairs["a", "b"].agreement.value == 1
    apart = pairs["a", "c"].correlation.value
    assert apart is not None
    assert apart < 0
    assert list(pairs) == [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]


def test_correlation_that_nobody_can_know_is_none_with_a_reason() -> None:
    few = likeness([{"a": "X", "b": "X"}] * (ENOUGH_TO_COMPARE - 1))["a", "b"]
    assert few.correlation.value is None
    assert "needed" in few.correlation.reason
    easy = likeness([{"a": "X", "b": "X", "c": "X"}] * 20)["a", "b"]
    assert easy.correlation.value is None
    assert "everybody agreed" in easy.correlation.reason
    strangers = likeness([{"a": "X"}, {"b": "X"}])["a", "b"]
    assert strangers.agreement.value is None
    assert likeness([]) == {}
