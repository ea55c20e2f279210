"""The ballots of a discussion, counted anew: what the tally of a bundle must say."""

from __future__ import annotations

from typing import Any

from ...core.state import State
from ...core.tally import Vote, tally


def counted(state: State) -> list[dict[str, Any]]:
    """Each round's countable ballots by every voting rule, as plain JSON. Ballots without options
    are words, which have no first choice in common: they are named and not counted."""
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
        result = tally(votes)
        rounds.append(
            {
                "round": round_,
                "ballots": len(cast),
                "voters": sorted(result.voters),
                "options": sorted(result.options),
                "alarm": result.alarm,
                "outcomes": {
                    rule: {
                        "winners": sorted(outcome.winners),
                        "scores": {
                            option: round(float(score), 9)
                            for option, score in outcome.scores.items()
                        },
                    }
                    for rule, outcome in result.outcomes.items()
                },
            }
        )
    return rounds
