"""Bias, computed from the ledger: who went over to the majority, and who spares its own points.

Conformity comes from the votes: of the times somebody stood against most of the others, how
often it then joined them. Self-preference comes from the stances: how much of its own points
somebody upholds, and how much of the others', which it reads without names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.declaration import StanceWord
from ..core.position_changes import Conformity, conformity, votes_held
from ..core.record import Point, PointStance, Record, record_of
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
    conformities = conformity(votes_held(state, record.question) if record.question else ())
    authors = {point.id: point.author for point in record.points}
    later = [
        (seat, point.id, said.stance)
        for point in record.points
        for seat, said in _judged(record, point)
        if said.round > 1
    ]
    found: dict[str, Bias] = {}
    for participant in state.participants:
        mine = [(point, stance) for seat, point, stance in later if seat == participant.id]
        own = [stance for point, stance in mine if authors.get(point) == participant.id]
        others = [stance for point, stance in mine if authors.get(point) != participant.id]
        conforms = conformities.get(participant.id)
        if mine or conforms:
            found[participant.id] = Bias(
                conforms or Conformity(0, 0),
                Share(len(own), own.count("agree")),
                Share(len(others), others.count("agree")),
            )
    return found


def _judged(record: Record, point: Point) -> Iterator[tuple[str, PointStance]]:
    """What was said to a point; its author upholds it in every later word in which it neither
    withdrew nor amended it."""
    yield from point.stances.items()
    last = record.last(point.author)
    if last is not None and last.round > point.round and point.author not in point.stances:
        stance: StanceWord = "withdraw" if point.withdrawn else "agree"
        yield point.author, PointStance(stance, "", last.turn_id, last.round)
