"""The votes of a discussion, counted anew: what the tally of a bundle must say."""

from __future__ import annotations

from typing import Any

from ..core.standing import DecisionStanding, standing_of
from ..core.state import State
from ..core.tally import Tally, Vote, tally
from ..views.influence import votes_on


def counted(state: State) -> list[dict[str, Any]]:
    """Each decision's votes by every voting rule, with the end that the program counts, as plain
    JSON. Discussions of earlier versions have ballots, which are counted as they were then."""
    if state.ballots:
        return _ballots(state)
    return [_decision(state, each) for each in standing_of(state).decisions]


def _decision(state: State, standing: DecisionStanding) -> dict[str, Any]:
    votes = votes_on(standing_of(state).record, standing.decision)
    return {
        "decision": standing.decision.id,
        "round": max((vote.round for vote in votes), default=0),
        "ballots": len([seat for seat in standing.seats if seat.final]),
        **_by_rules(tally(votes)),
        "end": standing.end,
        "delivered": standing.delivered,
        "counts": dict(standing.counts),
        "seated": standing.seated,
        "absent": sorted(standing.absent),
    }


def _ballots(state: State) -> list[dict[str, Any]]:
    """Each round's countable ballots. Those without options are words, which have no first choice
    in common: they are named and not counted."""
    rounds = []
    for round_ in sorted({ballot.round for ballot in state.ballots}):
        cast = [ballot for ballot in state.ballots if ballot.round == round_]
        votes = [
            Vote(
                b.participant,
                b.ranking,
                b.certainty,
                None if b.approved is None else frozenset(b.approved),
                b.round,
            )
            for b in cast
            if b.meaningful and b.ranking
        ]
        rounds.append({"round": round_, "ballots": len(cast), **_by_rules(tally(votes))})
    return rounds


def _by_rules(result: Tally) -> dict[str, Any]:
    return {
        "voters": sorted(result.voters),
        "options": sorted(result.options),
        "alarm": result.alarm,
        "outcomes": {
            rule: {
                "winners": sorted(outcome.winners),
                "scores": {
                    option: round(float(score), 9) for option, score in outcome.scores.items()
                },
            }
            for rule, outcome in result.outcomes.items()
        },
    }
