"""What a discussion leaves to be done, and by whom."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.action_items import action_items as read_items
from ..core.contracts import parse_sections
from ..core.state import State
from ..core.values import ActionItem
from .five_round.forms import plan
from .meeting import actions

SECTION = "Action Items"
NOBODY = "unassigned"


def action_items(state: State) -> tuple[ActionItem, ...]:
    """A meeting's action items, a five-round plan's tasks, or what any other verdict lists under
    that heading."""
    match state.start.procedure:
        case "meeting":
            return actions(state)
        case "five-round":
            answer = state.verdict.answer if state.verdict else ""
            return tuple(ActionItem(text=task.task, owner=task.owner) for task in plan(answer))
        case _:
            answer = state.verdict.answer if state.verdict else ""
            return read_items(parse_sections(answer, (SECTION,)).get(SECTION, ""))


def by_owner(items: tuple[ActionItem, ...]) -> Mapping[str, tuple[str, ...]]:
    """The items of each owner, in the order in which the owners were named. One owner in two
    spellings is one owner."""
    named: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for item in items:
        owner = " ".join(item.owner.split()) or NOBODY
        owner = named.setdefault(owner.casefold(), owner)
        found.setdefault(owner, []).append(item.text)
    return {owner: tuple(texts) for owner, texts in found.items()}
