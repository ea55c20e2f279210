"""Conditions of seats' positions: they stand until whoever made them withdraws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from .declaration import Condition
from .state import State
from .statement import PointStance, Statement
from .text import worded


@dataclass(frozen=True, slots=True)
class ConditionOnTable:
    """A condition of a seat's position, with the others' answers to it."""

    id: str
    owner: str
    condition: Condition
    turn_id: str
    round: int
    answers: Mapping[str, PointStance] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.condition.text

    @property
    def demand(self) -> bool:
        return self.condition.kind == "demand"


_LISTED_ANEW = ("0.1", "0.1.0")
"""Versions of the program that told seats to list their conditions in every declaration, so that
what one left out it gave up."""


def conditions_stand(state: State) -> bool:
    """Whether seats were told that their conditions stand until they withdraw them."""
    return state.start.program_version not in _LISTED_ANEW


def conditions_of(
    statements: tuple[Statement, ...], *, stand: bool = True
) -> Iterator[ConditionOnTable]:
    """Conditions in the order in which they were made. They stand until their owner withdraws
    them; without `stand`, until its next declaration of a position, unless that lists them again.
    One that is worded as before keeps its id and its answers; one that its owner amends stands in
    its new wording, answered by nobody yet."""
    found: dict[str, ConditionOnTable] = {}
    current: dict[str, tuple[str, ...]] = {}
    amended = {
        (stance.id, each.round, each.participant)
        for each in statements
        for stance in each.declaration.stances
        if stance.stance == "amend"
    }
    for each in statements:
        reworded: set[str] = set()
        kept: list[str] = []
        withdrawn: set[str] = set()
        for stance in each.declaration.stances:
            held = found.get(stance.id)
            if held is None:
                continue
            if each.participant != held.owner:
                # Said beside its owner, who changed it: nobody knows to which wording.
                if each.in_turn or (held.id, each.round, held.owner) not in amended:
                    said = PointStance(stance.stance, stance.text, each.turn_id, each.round)
                    found[held.id] = replace(held, answers={**held.answers, each.participant: said})
            elif stance.stance == "withdraw":
                withdrawn.add(held.id)
            elif stance.stance == "amend":
                reworded.add(worded(held.text))
                worded_anew = held.condition.model_copy(update={"text": stance.text})
                found[held.id] = ConditionOnTable(
                    held.id, held.owner, worded_anew, each.turn_id, each.round
                )
                kept.append(held.id)
            elif stance.stance == "agree":
                kept.append(held.id)
        for condition in each.declaration.conditions:
            if worded(condition.text) in reworded:
                continue  # the old wording beside the new one
            same = (
                name
                for name, held in found.items()
                if held.owner == each.participant and worded(held.text) == worded(condition.text)
            )
            name = next(same, f"c{len(found) + 1}")
            if name not in found:
                found[name] = ConditionOnTable(
                    name, each.participant, condition, each.turn_id, each.round
                )
            if name not in withdrawn:
                kept.append(name)
        # A short call for votes alone never dropped any.
        alone = not (each.declaration.position or each.declaration.conditions)
        before = current.get(each.participant, ()) if stand or alone else ()
        names = tuple(dict.fromkeys((*before, *kept)))
        current[each.participant] = tuple(name for name in names if name not in withdrawn)
    standing = {name for names in current.values() for name in names}
    yield from (each for each in found.values() if each.id in standing)
