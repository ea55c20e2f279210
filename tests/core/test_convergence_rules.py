"""Stop rules over convergence: each at its limit, and together."""

from __future__ import annotations

import pytest

from roundtable.core.convergence import Score, convergence_score
from roundtable.core.convergence_rules import (
    Measures,
    agreed_above,
    all_of,
    any_of,
    converged,
    divergence_below,
    enough_consensus_points,
    from_round,
    overlap_above,
)

NOTHING = Measures(round=1)


@pytest.mark.requirement("B-42")
def test_overlap_stops_above_four_fifths_and_not_at_it() -> None:
    rule = overlap_above()
    assert rule(Measures(2, overlap=Score(0.81))) is not None
    assert rule(Measures(2, overlap=Score(0.80))) is None
    assert rule(NOTHING) is None


@pytest.mark.requirement("B-43")
def test_divergence_stops_below_its_threshold() -> None:
    measured = Measures(2, divergence=0.2)
    assert divergence_below(0.3)(measured) is not None
    assert divergence_below(0.2)(measured) is None
    assert divergence_below(0.1)(measured) is None
    assert divergence_below(0.5)(NOTHING) is None


@pytest.mark.requirement("B-44", "X-09")
def test_three_consensus_points_are_enough_from_the_round_on_that_asks() -> None:
    rule = enough_consensus_points(from_round=4)
    assert rule(Measures(4, consensus_points=3)) is not None
    assert rule(Measures(4, consensus_points=2)) is None
    assert rule(Measures(3, consensus_points=3)) is None
    assert enough_consensus_points()(Measures(2, consensus_points=3)) is not None


@pytest.mark.requirement("D-41")
def test_convergence_stops_above_four_fifths_and_not_at_it() -> None:
    rule = converged()
    assert rule(Measures(1, convergence_score=Score(0.81))) is not None
    assert rule(Measures(1, convergence_score=Score(0.8))) is None
    assert rule(Measures(1, convergence_score=convergence_score(4, 1))) is None
    assert rule(Measures(1, convergence_score=convergence_score(0, 0))) is None


def test_agreement_stops_above_its_percentage() -> None:
    assert agreed_above(80)(Measures(1, agreement_pct=Score(81.0))) is not None
    assert agreed_above(80)(Measures(1, agreement_pct=Score(80.0))) is None
    assert agreed_above(80)(NOTHING) is None


@pytest.mark.requirement("X-05")
def test_a_rule_looks_at_its_own_metric_only() -> None:
    others = Measures(2, agreement_pct=Score(100.0), convergence_score=Score(1.0))
    assert overlap_above()(others) is None
    assert converged()(Measures(2, overlap=Score(1.0), agreement_pct=Score(100.0))) is None


def test_rules_compose() -> None:
    both = Measures(3, overlap=Score(0.9), consensus_points=3)
    either = any_of(converged(), overlap_above(), enough_consensus_points())
    fired = either(both)
    assert fired is not None
    assert fired.rule == "overlap"
    together = all_of(overlap_above(), enough_consensus_points())(both)
    assert together is not None
    assert together.rule == "overlap and consensus_points"
    assert all_of(overlap_above(), converged())(both) is None
    assert all_of()(both) is None
    assert any_of()(both) is None
    assert from_round(4, overlap_above())(both) is None
    assert from_round(3, overlap_above())(both) is not None
