"""Stop rules over convergence: pure conditions on what was measured after a round.

Each names the one metric that it uses, and they compose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .convergence import Score

NOT_MEASURED = Score(None, "not measured")
OVERLAP_LIMIT = 0.80
CONVERGENCE_LIMIT = 0.8
ENOUGH_CONSENSUS_POINTS = 3
_TINY = 1e-9
"""A share that is exactly the limit must not pass it by the last bit of a division."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What is known about convergence after a round. What was not measured stays None."""

    round: int
    agreement_pct: Score = NOT_MEASURED
    overlap: Score = NOT_MEASURED
    convergence_score: Score = NOT_MEASURED
    consensus_points: int = 0
    divergence: float | None = None


@dataclass(frozen=True, slots=True)
class Fired:
    """Which rule ends the debate, and on what figure."""

    rule: str
    detail: str


Rule = Callable[[Measures], Fired | None]


def overlap_above(limit: float = OVERLAP_LIMIT) -> Rule:
    """Two consecutive rounds say the same in more than this share of their words."""

    def rule(measures: Measures) -> Fired | None:
        value = measures.overlap.value
        if value is None or value <= limit + _TINY:
            return None
        return Fired("overlap", f"{value:.0%} of two rounds is the same, more than {limit:.0%}")

    return rule


def divergence_below(limit: float) -> Rule:
    """Fewer than this share of pairs hold different things."""

    def rule(measures: Measures) -> Fired | None:
        value = measures.divergence
        if value is None or value >= limit - _TINY:
            return None
        return Fired("divergence", f"divergence {value:.2f} is below {limit:.2f}")

    return rule


def enough_consensus_points(count: int = ENOUGH_CONSENSUS_POINTS, from_round: int = 1) -> Rule:
    """At least so many consensus points stand, in this round or later."""

    def rule(measures: Measures) -> Fired | None:
        if measures.round < from_round or measures.consensus_points < count:
            return None
        return Fired("consensus_points", f"{measures.consensus_points} consensus points stand")

    return rule


def converged(limit: float = CONVERGENCE_LIMIT) -> Rule:
    """The convergence score is above the limit; at the limit the debate goes on."""

    def rule(measures: Measures) -> Fired | None:
        value = measures.convergence_score.value
        if value is None or value <= limit + _TINY:
            return None
        return Fired("convergence_score", f"convergence {value:.2f} is above {limit:.2f}")

    return rule


def agreed_above(percent: float) -> Rule:
    """The mean of the agreement scores is above so many percent."""

    def rule(measures: Measures) -> Fired | None:
        value = measures.agreement_pct.value
        if value is None or value <= percent + _TINY:
            return None
        return Fired("agreement_pct", f"agreement {value:.0f} % is above {percent:.0f} %")

    return rule


def any_of(*rules: Rule) -> Rule:
    """The first rule that fires decides."""

    def rule(measures: Measures) -> Fired | None:
        return next((fired for each in rules if (fired := each(measures)) is not None), None)

    return rule


def all_of(*rules: Rule) -> Rule:
    """Fires when each of the rules does, and says so with all their figures."""

    def rule(measures: Measures) -> Fired | None:
        fired = [each(measures) for each in rules]
        named = [each for each in fired if each is not None]
        if not rules or len(named) < len(rules):
            return None
        return Fired(" and ".join(f.rule for f in named), "; ".join(f.detail for f in named))

    return rule


def from_round(first: int, inner: Rule) -> Rule:
    """A rule that is asked only from a round on."""

    def rule(measures: Measures) -> Fired | None:
        return inner(measures) if measures.round >= first else None

    return rule
