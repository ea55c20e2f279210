"""Bias, computed from the ledger: who went over to the majority, and who spares its own points.

Conformity comes from the votes: of the times somebody stood against most of the others, how
often it then joined them. Self-preference comes from the stances: how much of its own points
somebody upholds, and how much of the others', which it reads without names.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.position_changes import Conformity, conformity, votes_held
from ..core.record import record_of
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
    record = record_of(state)
    held = votes_held(state, record.question) if record.question else []
    conformities = conformity(held)
    found: dict[str, Bias] = {}
    for seat in record.seats:
        own: list[bool] = []
        others: list[bool] = []
        for point in record.points:
            said = point.stances.get(seat)
            if said is not None and said.round > 1:
                (own if point.author == seat else others).append(said.stance == "agree")
        conforms = conformities.get(seat)
        if own or others or conforms:
            found[seat] = Bias(
                conforms or Conformity(0, 0),
                Share(len(own), sum(own)),
                Share(len(others), sum(others)),
            )
    return found
