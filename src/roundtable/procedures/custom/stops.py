"""When a repetition ends early: the rules of a definition over what was measured in a pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.convergence import Score, agreement, overlap
from ...core.convergence_rules import (
    CONVERGENCE_LIMIT,
    OVERLAP_LIMIT,
    Fired,
    Measures,
    Rule,
    agreed_above,
    all_of,
    any_of,
    converged,
    overlap_above,
)
from ...core.standing import End, convergence
from ...core.stopping import Stop
from .model import StopRule, Until
from .results import Result, first_choice

AGREEMENT_LIMIT = 0.8
_TINY = 1e-9


def fired(
    until: Until,
    results: Sequence[Result],
    *,
    speakers: Mapping[str, int],
    words: Mapping[str, str],
    words_before: Mapping[str, str],
) -> Stop | None:
    """The rule that ends the repetition after this pass. `speakers` says how many were asked in
    each stage: whoever is missing stands in the way of unanimity."""
    measures = _measured(results, words, words_before)
    rules = [_rule(each, results, speakers) for each in (*until.any, *until.all)]
    found = (any_of if until.any else all_of)(*rules)(measures)
    return Stop("converged", found.detail) if found is not None else None


def _measured(
    results: Sequence[Result], words: Mapping[str, str], words_before: Mapping[str, str]
) -> Measures:
    votes = _votes(results)
    points = next((r.points for r in reversed(results) if r.points is not None), None)
    answers = {name: first_choice(value) for name, value in votes.values.items()} if votes else {}
    share = agreement(answers)
    score = convergence(points) if points is not None else Score(None, "no points")
    return Measures(
        round=max((r.round for r in results), default=0),
        agreement_pct=Score(None, "no ballots") if share is None else Score(share * 100),
        overlap=overlap(words_before, words),
        convergence_score=score,
    )


def _votes(results: Sequence[Result]) -> Result | None:
    """The newest result that is a vote."""
    voted = (r for r in reversed(results) if r.tally is not None or r.kind == "decision")
    return next(voted, None)


def _ended(results: Sequence[Result], ends: Sequence[End]) -> Rule:
    """How the newest vote stands, by the same count as everywhere."""

    def rule(_: Measures) -> Fired | None:
        votes = _votes(results)
        stands = votes.standing if votes else None
        if stands is None or stands.end not in ends:
            return None
        return Fired(str(stands.end), f"{stands.end}: {stands.reason.rstrip('.')}")

    return rule


def _rule(rule: StopRule, results: Sequence[Result], speakers: Mapping[str, int]) -> Rule:
    limit = rule.limit
    match rule.rule:
        case "agreement":
            return agreed_above(100 * (AGREEMENT_LIMIT if limit is None else limit))
        case "convergence_score":
            return converged(CONVERGENCE_LIMIT if limit is None else limit)
        case "overlap":
            return overlap_above(OVERLAP_LIMIT if limit is None else limit)
        case "spread_below":
            return _spread_below(limit or 0.0, rule.scale, results)
        case "unanimous":
            return _unanimous(results, speakers)
        case "consensus":
            return _ended(results, ("consensus",))
        case "majority":
            return _ended(results, ("consensus", "majority"))


def _spread_below(limit: float, scale: str, results: Sequence[Result]) -> Rule:
    def rule(_: Measures) -> Fired | None:
        last = next((r.statistics for r in reversed(results) if r.statistics), None)
        # One number has no spread: it says nothing about agreement.
        spread = last.spread(scale) if last is not None and last.count > 1 else None
        if spread is None or spread >= limit - _TINY:
            return None
        told = f"{spread:.1%}" if scale == "relative" else f"{spread:g}"
        bound = f"{limit:.1%}" if scale == "relative" else f"{limit:g}"
        return Fired("spread", f"the middle half spans {told}, below {bound}")

    return rule


def _unanimous(results: Sequence[Result], speakers: Mapping[str, int]) -> Rule:
    def rule(_: Measures) -> Fired | None:
        votes = _votes(results)
        if votes is None or len(votes.values) < max(2, speakers[votes.stage]):
            return None
        chosen = {first_choice(value) for value in votes.values.values()}
        if len(chosen) > 1:
            return None
        return Fired("unanimous", f"all {len(votes.values)} chose {chosen.pop()}")

    return rule
