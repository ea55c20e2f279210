"""Maximal marginal relevance, on numbers that can be followed with a pencil."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from roundtable.experts.mmr import LAMBDA, Pick, mmr

RELEVANCE = np.array([0.90, 0.85, 0.80, 0.40, 0.30], dtype=np.float32)
SIMILARITY = np.array(
    [
        [1.0, 0.9, 0.2, 0.1, 0.0],
        [0.9, 1.0, 0.3, 0.2, 0.1],
        [0.2, 0.3, 1.0, 0.6, 0.1],
        [0.1, 0.2, 0.6, 1.0, 0.5],
        [0.0, 0.1, 0.1, 0.5, 1.0],
    ],
    dtype=np.float32,
)


def similarity(places: NDArray[np.intp], others: Sequence[int]) -> NDArray[np.float32]:
    rows: NDArray[np.float32] = SIMILARITY[places][:, list(others)]
    return rows


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
    all_but_three = np.array([True, True, True, False, True])

    picks = mmr(RELEVANCE, similarity, 2, barred=lambda _: all_but_three)

    assert [pick.place for pick in picks] == [3, 0]


def test_more_than_there_are_gives_all_of_them() -> None:
    assert sorted(order(9)) == [0, 1, 2, 3, 4]
    assert mmr(np.zeros(0, dtype=np.float32), similarity, 3) == []


def plain(
    relevance: NDArray[np.float32], vectors: NDArray[np.float32], count: int, lam: float
) -> list[int]:
    """The formula, word by word."""
    chosen: list[int] = []
    while len(chosen) < min(count, len(relevance)):
        score = {
            place: lam * relevance[place]
            - (1 - lam) * max((float(vectors[place] @ vectors[c]) for c in chosen), default=0.0)
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
    chance = np.random.default_rng(seed)
    relevance = chance.random(size, dtype=np.float32)
    vectors = chance.random((size, 8), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    picks = mmr(relevance, lambda some, others: vectors[some] @ vectors[others].T, count, lam=lam)

    assert [pick.place for pick in picks] == plain(relevance, vectors, count, lam)
