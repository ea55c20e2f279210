"""Conditions of seats' positions: they stand until whoever made them withdraws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .declaration import Condition, DeclaredStance
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


class Conditions:
    """Conditions in the order in which they were made, folded from one statement after another.
    They stand until their owner withdraws them; without `stand`, until its next declaration of a
    position, unless that lists them again. One that is worded as before keeps its id and its
    answers; one that its owner amends stands in its new wording, answered by nobody yet.

    `statements` are all that will be added: who speaks beside an amendment is known from them."""

    def __init__(self, statements: Sequence[Statement], *, stand: bool = True) -> None:
        self._stand = stand
        self._amended = {
            (stance.id, each.place, each.participant)
            for each in statements
            for stance in each.declaration.stances
            if stance.stance == "amend"
        }
        self._found: dict[str, ConditionOnTable] = {}
        self._changed_at: dict[str, tuple[int, str]] = {}
        self._wordings: dict[tuple[str, str], list[str]] = {}
        """By owner and words, the ids of what says that."""
        self._current: dict[str, dict[str, None]] = {}
        """By owner, what stands."""

    @property
    def standing(self) -> tuple[ConditionOnTable, ...]:
        names = {name for names in self._current.values() for name in names}
        return tuple(each for each in self._found.values() if each.id in names)

    def add(self, each: Statement) -> None:
        reworded: set[str] = set()
        kept: list[str] = []
        withdrawn: set[str] = set()
        for stance in each.declaration.stances:
            held = self._found.get(stance.id)
            if held is None:
                continue
            if each.participant != held.owner:
                self._answer(held, each, stance)
            elif stance.stance == "withdraw":
                withdrawn.add(held.id)
            elif stance.stance == "amend":
                reworded.add(worded(held.text))
                self._amend(held, each, stance.text)
                kept.append(held.id)
            elif stance.stance == "agree":
                kept.append(held.id)
        for condition in each.declaration.conditions:
            if worded(condition.text) in reworded:
                continue  # the old wording beside the new one
            name = self._named(condition, each)
            if name not in withdrawn:
                kept.append(name)
        # A short call for votes alone never dropped any.
        alone = not (each.declaration.position or each.declaration.conditions)
        current = self._current.setdefault(each.participant, {})
        if not (self._stand or alone):
            current.clear()
        current.update(dict.fromkeys(kept))
        for name in withdrawn:
            current.pop(name, None)

    def _answer(self, held: ConditionOnTable, each: Statement, stance: DeclaredStance) -> None:
        said = PointStance(stance.stance, stance.text, each.turn_id, each.round, each.turn_id)
        # Said beside its owner, who changed it: nobody knows to which wording.
        if (held.id, each.place, held.owner) in self._amended and not each.in_turn:
            already = self._changed_at.get(held.id) == each.place
            self._found[held.id] = held.answered_beside(each.participant, said, amended=already)
        else:
            self._found[held.id] = held.answered(each.participant, said)

    def _amend(self, held: ConditionOnTable, each: Statement, text: str) -> None:
        self._wordings[held.owner, worded(held.text)].remove(held.id)
        self._wordings.setdefault((held.owner, worded(text)), []).append(held.id)
        self._found[held.id] = held.amended(text, each.turn_id, each.round)
        self._changed_at[held.id] = each.place

    def _named(self, condition: Condition, each: Statement) -> str:
        """The id of what its seat demands: that of an earlier one in the same words, or a new
        one."""
        same = self._wordings.setdefault((each.participant, worded(condition.text)), [])
        if not same:
            name = f"c{len(self._found) + 1}"
            self._found[name] = ConditionOnTable(
                name, each.participant, condition, each.turn_id, each.round
            )
            same.append(name)
        return min(same, key=lambda name: int(name.removeprefix("c")))
