"""Contribution: who earns the seat, and who only repeats a neighbour."""

from __future__ import annotations

import pytest

from roundtable.core.contribution import ENOUGH_TO_COMPARE, contributions, likeness
from roundtable.core.tally import Vote


def questions(**answers: str) -> list[list[Vote]]:
    """One question for each letter; `-` is no ballot."""
    rounds = zip(*answers.values(), strict=True)
    return [
        [Vote.of(name, each) for name, each in zip(answers, row, strict=True) if each != "-"]
        for row in rounds
    ]


@pytest.mark.requirement("Z-16")
def test_a_duplicated_model_shows_no_contribution() -> None:
    table = questions(
        anna="AABBABAABB",
        copy="AABBABAABB",
        ben_="ABABBBABAB",
        cleo="BABBAAABBA",
    )
    found = contributions(table)
    assert found["anna"].rate.value == found["copy"].rate.value == 0
    assert found["anna"].twins == ("copy",)
    assert found["ben_"].decisive > 0
    assert found["cleo"].decisive > 0
    # Without its copy the same voice has something to say.
    alone = contributions([[v for v in votes if v.voter != "copy"] for votes in table])
    assert alone["anna"].decisive > 0


@pytest.mark.requirement("Z-16")
def test_a_copy_is_known_by_its_model_from_the_first_question_on() -> None:
    table = questions(anna="A", copy="A", ben="B")
    models = {"anna": "x/one", "copy": "x/one", "ben": "y/two"}
    assert contributions(table)["copy"].decisive == 1
    assert contributions(table, models=models)["copy"].decisive == 0
    assert contributions(table, models=models)["ben"].decisive == 1


@pytest.mark.requirement("Z-16")
def test_the_seat_that_turns_outcomes_is_told_with_what_it_was_good_for() -> None:
    table = questions(a="AAB", b="BAB", c="ABB")
    found = contributions(table, gold=["A", "B", "B"])
    assert found["a"].decisive == 2
    # Question 1 was won by it and question 2 lost by it.
    assert found["a"].gained == 1
    assert contributions(table)["a"].gained is None


def test_leaving_out_works_by_every_rule_and_for_bad_ballots() -> None:
    ranked = [[Vote.of("a", "X", "Y"), Vote.of("b", "Y", "X"), Vote.of("c", "Y", "X")]]
    assert contributions(ranked, rule="schulze")["b"].decisive == 1
    odd = [[Vote("a", (("X", "Y"),)), Vote("b", ()), Vote.of("c", "X"), Vote.of("c", "Y", round=2)]]
    assert contributions(odd)["c"].questions == 1
    assert contributions([]) == {}
    alone = contributions([[Vote.of("a", "X")]])["a"]
    assert (alone.decisive, alone.rate.value) == (1, 1)


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


def test_those_who_only_agreed_on_what_everybody_knew_are_no_twins() -> None:
    found = contributions(questions(a="A" * 9, b="A" * 9, c="A" * 9))
    assert found["a"].twins == ()
    assert found["a"].decisive == 0
