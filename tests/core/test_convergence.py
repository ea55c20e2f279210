"""Convergence: the metrics and the two numbers beside them, each by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.assessment import assessment_of
from roundtable.core.convergence import (
    Positions,
    agreement,
    agreement_pct,
    convergence_score,
    divergence,
    mean_agreement,
    overlap,
    stability,
)
from roundtable.core.standing import standing_of

from .declared_table import at_table, says, stance, tabled


@pytest.mark.requirement("A-63")
def test_agreement_pct_is_the_sum_of_scores_in_percent_of_the_most_possible() -> None:
    assert agreement_pct([5, 4, 3, 4]).value == 80
    assert agreement_pct([1, 1]).value == 20
    assert agreement_pct([]).value is None
    assert agreement_pct([]).reason
    with pytest.raises(ValueError, match="1 to 5"):
        agreement_pct([4, 6])


@pytest.mark.requirement("B-42")
def test_overlap_is_the_mean_share_of_common_words() -> None:
    before = {"anna": "we ship on Monday", "ben": "wait for the audit"}
    after = {"anna": "We ship on Friday!", "ben": "Wait, for the audit."}
    assert overlap(before, after).value == pytest.approx((3 / 5 + 1) / 2)
    assert overlap(before, before).value == 1
    assert overlap({"anna": "我们周一发布"}, {"anna": "我们周五发布"}).value == pytest.approx(5 / 7)


def test_overlap_of_rounds_that_nobody_shares_is_unknown_and_says_why() -> None:
    assert overlap({}, {}).value is None
    assert overlap({"anna": "a"}, {"ben": "a"}).value is None
    assert overlap({"anna": ""}, {"anna": " … "}).value is None
    assert overlap({}, {"anna": "a"}).reason


@pytest.mark.requirement("D-40")
def test_the_convergence_score_is_null_with_a_reason_when_there_are_no_points() -> None:
    assert convergence_score(4, 1).value == 0.8
    assert convergence_score(0, 3).value == 0
    assert convergence_score(0, 0).value is None
    assert convergence_score(0, 0).reason


@pytest.mark.requirement("X-05")
def test_one_debate_has_four_values_that_do_not_depend_on_each_other() -> None:
    # They repeat themselves, score each other well and choose the same, and yet they agree on none
    # of its points.
    said = {"ann": "Tea now, the kettle is hot", "bob": "Tea now, the kettle is cold"}
    state = at_table(
        tabled(),
        says("ann", "o1", text=said["ann"], new_points=("The kettle is hot.",)),
        says("bob", "o1", text=said["bob"]),
        says("bob", "o1", 2, text=said["bob"], stances=(stance("p1", "disagree"),)),
        seats=("ann", "bob"),
    )
    assert agreement_pct([5, 5]).value == 100
    assert overlap(said, said).value == 1
    assert assessment_of(state).word == "high"
    assert standing_of(state).end == "consensus"
    assert standing_of(state).convergence == 0


@pytest.mark.requirement("Z-02")
def test_agreement_is_the_share_of_agreeing_pairs() -> None:
    assert agreement({"a": "x", "b": "x", "c": "y"}) == pytest.approx(1 / 3)
    assert agreement({"a": "disagree", "b": "disagree"}) == 1
    assert agreement({"a": "unsure", "b": "unsure"}) == 0
    assert agreement({"a": "x", "b": None}) is None
    assert agreement({}) is None
    assert mean_agreement([{"a": "x", "b": "x"}, {"a": "x", "b": "y"}, {"a": "x"}]) == 0.5
    assert mean_agreement([]) is None
    assert divergence([{"a": "x", "b": "y"}]) == 1
    assert divergence([]) is None


@pytest.mark.requirement("Z-02")
def test_stability_is_the_share_of_stances_that_a_round_left_alone() -> None:
    before: list[Positions] = [{"a": "x", "b": "y"}, {"a": "agree", "b": None}]
    after: list[Positions] = [{"a": "x", "b": "x"}, {"a": "agree", "b": "agree"}]
    assert stability(before, after) == pytest.approx(2 / 3)
    assert stability([], []) is None
    assert stability([{"a": "x"}], [{"b": "x"}]) is None


HELD = st.sampled_from(["A", "B", "C", "unsure", None])
ROUNDS = st.lists(st.fixed_dictionaries(dict.fromkeys("abcd", HELD)), min_size=1, max_size=5)


@given(ROUNDS)
def test_shares_lie_between_nothing_and_all(views: list[dict[str, str | None]]) -> None:
    for share in (agreement(views[-1]), stability(views[:1], views[-1:]), mean_agreement(views)):
        assert share is None or 0 <= share <= 1


@given(st.text(max_size=40), st.text(max_size=40))
def test_overlap_is_symmetric(one: str, two: str) -> None:
    forth, back = overlap({"a": one}, {"a": two}).value, overlap({"a": two}, {"a": one}).value
    assert forth == back
    assert forth is None or 0 <= forth <= 1
