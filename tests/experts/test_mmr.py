"""Maximal marginal relevance, on numbers that can be followed with a pencil."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from operator import mul
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.experts.mmr import LAMBDA, Pick, mmr

RELEVANCE = (0.90, 0.85, 0.80, 0.40, 0.30)
SIMILARITY = (
    (1.0, 0.9, 0.2, 0.1, 0.0),
    (0.9, 1.0, 0.3, 0.2, 0.1),
    (0.2, 0.3, 1.0, 0.6, 0.1),
    (0.1, 0.2, 0.6, 1.0, 0.5),
    (0.0, 0.1, 0.1, 0.5, 1.0),
)


def similarity(places: Sequence[int], others: Sequence[int]) -> list[list[float]]:
    return [[SIMILARITY[place][other] for other in others] for place in places]


def order(count: int, lam: float = LAMBDA) -> list[int]:
    return [pick.place for pick in mmr(RELEVANCE, similarity, count, lam=lam)]


@pytest.mark.requirement("B-27", "X-34")
def test_five_candidates_are_chosen_as_computed_by_hand() -> None:
    # 1: 0.7 × relevance                      = .630 .595 .560 .280 .210             → 0
    # 2: − 0.3 × likeness to 0                =  –   .325 .500 .250 .210             → 2
    # 3: − 0.3 × the greater of those to 0, 2 =  –   .325  –   .100 .180             → 1
    # 4: and 1                                =  –    –    –   .100 .180             → 4
    picks = mmr(RELEVANCE, similarity, 4)

    assert [pick.place for pick in picks] == [0, 2, 1, 4]
    assert [pick.similarity for pick in picks] == pytest.approx([0.0, 0.2, 0.9, 0.1])


@pytest.mark.requirement("B-28")
def test_lambda_one_is_the_order_of_relevance() -> None:
    assert order(5, lam=1.0) == [0, 1, 2, 3, 4]


@pytest.mark.requirement("B-28")
def test_lambda_zero_is_the_greatest_difference_after_the_most_relevant() -> None:
    # After 0 the least like it is 4; then 2, whose greatest likeness (.2) is the smallest left.
    assert order(3, lam=0.0) == [0, 4, 2]


def test_by_default_relevance_has_seven_tenths() -> None:
    assert LAMBDA == 0.7


def test_those_who_are_seated_first_count_for_likeness() -> None:
    picks = mmr(RELEVANCE, similarity, 2, first=[1])

    assert [pick.place for pick in picks] == [1, 2]  # 0 is too much like 1
    assert mmr(RELEVANCE, similarity, 1, first=[3, 4]) == [Pick(3, 0.0), Pick(4, 0.5)]


def test_the_barred_come_only_when_nobody_else_is_left() -> None:
    all_but_three = [True, True, True, False, True]

    picks = mmr(RELEVANCE, similarity, 2, barred=lambda _: all_but_three)

    assert [pick.place for pick in picks] == [3, 0]


def test_more_than_there_are_gives_all_of_them() -> None:
    assert sorted(order(9)) == [0, 1, 2, 3, 4]
    assert mmr((), similarity, 3) == []


Vector = tuple[float, ...]


def product(one: Vector, two: Vector) -> float:
    made: float = sum(map(mul, one, two))
    return made


def plain(
    relevance: Sequence[float], vectors: Sequence[Vector], count: int, lam: float
) -> list[int]:
    """The formula, word by word."""
    chosen: list[int] = []
    while len(chosen) < min(count, len(relevance)):
        score = {
            place: lam * relevance[place]
            - (1 - lam) * max((product(vectors[place], vectors[c]) for c in chosen), default=0.0)
            for place in range(len(relevance))
            if place not in chosen
        }
        chosen.append(max(score, key=lambda place: (score[place], relevance[place], -place)))
    return chosen


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    size=st.integers(1, 400),
    count=st.integers(1, 6),
    lam=st.floats(0.05, 1.0),
)
def test_looking_only_at_the_most_promising_changes_nothing(
    seed: int, size: int, count: int, lam: float
) -> None:
    chance = Random(seed)
    relevance = [chance.random() for _ in range(size)]
    drawn = [tuple(chance.random() for _ in range(8)) for _ in range(size)]
    vectors = [tuple(each / hypot(*vector) for each in vector) for vector in drawn]

    picks = mmr(
        relevance,
        lambda some, others: [[product(vectors[a], vectors[b]) for b in others] for a in some],
        count,
        lam=lam,
    )

    assert [pick.place for pick in picks] == plain(relevance, vectors, count, lam)
