"""The action items of a meeting: the conclusion's list, held against what seats declared. Nothing
that a seat declared is lost, and what the list changes is told as changed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..core.record import record_of
from ..core.state import State
from ..core.values import ActionItem

ALIKE = 0.6
"""The share of the shorter one's words from which two actions are taken for one. Only what is told
beside them hangs on it: whatever is not found alike is listed."""
_WORD = re.compile(r"\w{4,}|\d+")


@dataclass(frozen=True, slots=True)
class ActionTold:
    """An action, who declared it, and what was declared otherwise."""

    item: ActionItem
    by: str = ""
    """The seat that declared it; empty if only the conclusion has it."""
    said: tuple[str, ...] = ()
    """Whose owner or date is another: “finance said 4 December”."""


def declared_actions(state: State) -> tuple[ActionTold, ...]:
    """What seats declared, each in its newest wording: what one says again in a later speech takes
    the place of what it said before."""
    found: list[tuple[str, ActionTold]] = []
    for each in record_of(state).statements:
        new = [ActionTold(item, each.participant) for item in each.declaration.actions]
        for action in new:
            found = [
                (turn, old)
                for turn, old in found
                if turn == each.turn_id
                or old.by != action.by
                or not _alike(old.item.text, action.item.text)
            ]
            found.append((each.turn_id, action))
    return tuple(action for _, action in found)


def told_actions(
    state: State, listed: tuple[ActionItem, ...]
) -> tuple[tuple[ActionTold, ...], tuple[ActionTold, ...]]:
    """The list of a conclusion, each action with what seats said otherwise; and what they declared
    beside it."""
    declared = declared_actions(state)
    taken: set[int] = set()
    kept = []
    for item in listed:
        told = ActionTold(item)
        for place, each in enumerate(declared):
            if not _alike(each.item.text, item.text):
                continue
            taken.add(place)
            if other := _otherwise(each, item):
                told = replace(told, said=(*told.said, other))
        kept.append(told)
    return tuple(kept), tuple(each for at, each in enumerate(declared) if at not in taken)


def _otherwise(declared: ActionTold, item: ActionItem) -> str:
    """What a seat said of owner and date where it is not what the list says."""
    said = [
        before
        for before, now in ((declared.item.owner, item.owner), (declared.item.due, item.due))
        if before and before.casefold() not in now.casefold()
    ]
    return f"{declared.by} said {', '.join(said)}" if said else ""


def _alike(one: str, two: str) -> bool:
    first, second = (set(_WORD.findall(each.casefold())) for each in (one, two))
    shorter = min(len(first), len(second))
    if not shorter:
        return one.casefold() == two.casefold()
    return len(first & second) / shorter >= ALIKE
