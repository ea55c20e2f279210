"""Conditions of seats' positions: they stand until whoever made them withdraws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from .declaration import Condition
from .state import State
from .statement import PointStance, Statement
from .text import worded


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """What a seat said to an earlier wording of a condition, and which wording that was."""

    said: PointStance
    wording: str


@dataclass(frozen=True, slots=True)
class ConditionOnTable:
    """A condition of a seat's position, with the others' answers to it."""

    id: str
    owner: str
    condition: Condition
    turn_id: str
    round: int
    answers: Mapping[str, PointStance] = field(default_factory=dict)
    reworded_from: str = ""
    """Its wording before its owner amended it last."""
    earlier: Mapping[str, EarlierAnswer] = field(default_factory=dict)
    """By seat, what was said to an earlier wording by whoever has not answered this one."""

    @property
    def text(self) -> str:
        return self.condition.text

    @property
    def demand(self) -> bool:
        return self.condition.kind == "demand"

    def answered(self, who: str, said: PointStance) -> ConditionOnTable:
        """With this answer to how it is worded now."""
        last = self.answers.get(who)
        if last is not None and last.stance == said.stance:
            said = replace(said, since=last.since)
        earlier = {seat: each for seat, each in self.earlier.items() if seat != who}
        return replace(self, answers={**self.answers, who: said}, earlier=earlier)

    def answered_beside(self, who: str, said: PointStance, *, amended: bool) -> ConditionOnTable:
        """With what was said beside its owner, who amends it: that was not said to the new wording,
        whichever of the two is listed first."""
        wording = self.reworded_from if amended else self.text
        return replace(self, earlier={**self.earlier, who: EarlierAnswer(said, wording)})

    def amended(self, text: str, turn_id: str, round_: int) -> ConditionOnTable:
        """In a new wording, answered by nobody yet."""
        worded_anew = self.condition.model_copy(update={"text": text})
        said = {who: EarlierAnswer(each, self.text) for who, each in self.answers.items()}
        return ConditionOnTable(
            self.id,
            self.owner,
            worded_anew,
            turn_id,
            round_,
            reworded_from=self.text,
            earlier={**self.earlier, **said},
        )


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
    wordings: dict[tuple[str, str], list[str]] = {}
    current: dict[str, dict[str, None]] = {}
    amended = {
        (stance.id, each.place, each.participant)
        for each in statements
        for stance in each.declaration.stances
        if stance.stance == "amend"
    }
    changed_at: dict[str, tuple[int, str]] = {}
    for each in statements:
        reworded: set[str] = set()
        kept: list[str] = []
        withdrawn: set[str] = set()
        for stance in each.declaration.stances:
            held = found.get(stance.id)
            if held is None:
                continue
            if each.participant != held.owner:
                said = PointStance(
                    stance.stance, stance.text, each.turn_id, each.round, each.turn_id
                )
                # Said beside its owner, who changed it: nobody knows to which wording.
                beside = (held.id, each.place, held.owner) in amended and not each.in_turn
                already = changed_at.get(held.id) == each.place
                found[held.id] = (
                    held.answered_beside(each.participant, said, amended=already)
                    if beside
                    else held.answered(each.participant, said)
                )
            elif stance.stance == "withdraw":
                withdrawn.add(held.id)
            elif stance.stance == "amend":
                reworded.add(worded(held.text))
                wordings[held.owner, worded(held.text)].remove(held.id)
                found[held.id] = held.amended(stance.text, each.turn_id, each.round)
                wordings.setdefault((held.owner, worded(stance.text)), []).append(held.id)
                changed_at[held.id] = each.place
                kept.append(held.id)
            elif stance.stance == "agree":
                kept.append(held.id)
        for condition in each.declaration.conditions:
            words = worded(condition.text)
            if words in reworded:
                continue  # the old wording beside the new one
            same = wordings.setdefault((each.participant, words), [])
            if not same:
                name = f"c{len(found) + 1}"
                same.append(name)
                found[name] = ConditionOnTable(
                    name, each.participant, condition, each.turn_id, each.round
                )
            name = min(same, key=_number)
            if name not in withdrawn:
                kept.append(name)
        # A short call for votes alone never dropped any.
        alone = not (each.declaration.position or each.declaration.conditions)
        names = current.setdefault(each.participant, {})
        if not (stand or alone):
            names.clear()
        names.update(dict.fromkeys(kept))
        for name in withdrawn:
            names.pop(name, None)
    standing = {name for names in current.values() for name in names}
    yield from (each for each in found.values() if each.id in standing)


def _number(condition: str) -> int:
    return int(condition.removeprefix("c"))
