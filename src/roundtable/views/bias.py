"""Bias, computed from the ledger: who went over to the majority, and who spares its own points.

Conformity comes from the ballots: of the times somebody stood against most of the others, how
often it then joined them. Self-preference comes from the stances: how much of its own points
somebody upholds, and how much of the others', which it reads without names.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.points import points_of
from ..core.position_changes import Conformity, Held, conformity
from ..core.state import State


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    of: int = 0
    agreed: int = 0

    @property
    def rate(self) -> float | None:
        return self.agreed / self.of if self.of else None

    def __str__(self) -> str:
        return f"{self.agreed} of {self.of}"


@dataclass(frozen=True, slots=True)
class Bias:
    """One participant's."""

    conformity: Conformity
    own: Share
    """Its own points that it upholds, of those it judged in a later round."""
    others: Share

    @property
    def self_preference(self) -> float | None:
        """How much more of its own points it upholds than of the others'; None if one is unknown.
        What an expert believes is what it raised, so some of it is no bias."""
        own, others = self.own.rate, self.others.rate
        return None if own is None or others is None else own - others


def biases(state: State) -> dict[str, Bias]:
    """For every participant that voted or took stances."""
    held = [
        Held(b.participant, "vote", b.ranking[0][0], b.round, b.turn_id)
        for b in state.ballots
        if b.meaningful and b.ranking and not _of_another_vote(state, b.round)
    ]
    conformities = conformity(held)
    points = points_of(state)
    authors = {point.id: point.raised_by for point in points.issues}
    later = [stance for stance in points.held() if stance.round > 1]
    found: dict[str, Bias] = {}
    for participant in state.participants:
        mine = [s for s in later if s.participant == participant.id]
        own = [s for s in mine if authors.get(s.point) == participant.id]
        others = [s for s in mine if authors.get(s.point) != participant.id]
        conforms = conformities.get(participant.id)
        if mine or conforms:
            found[participant.id] = Bias(
                conforms or Conformity(0, 0),
                Share(len(own), sum(s.position == "agree" for s in own)),
                Share(len(others), sum(s.position == "agree" for s in others)),
            )
    return found


def _of_another_vote(state: State, round_: int) -> bool:
    """Ballots on other options than those of round 1 say nothing about who went over."""
    first = {o for b in state.ballots if b.round == 1 for group in b.ranking for o in group}
    here = {o for b in state.ballots if b.round == round_ for group in b.ranking for o in group}
    return first.isdisjoint(here)
