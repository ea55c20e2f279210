"""The positions of a table over its rounds: who held what from when on."""

from __future__ import annotations

from typing import Any

from ..core.convergence import UNSURE
from ..core.declaration import ANY
from ..core.position_changes import votes_held
from ..core.record import record_of
from ..core.standing import standing_of
from ..core.state import State
from .report_parts import line


def course(state: State) -> dict[str, Any] | None:
    """The question's options, and for every seat each round in which it came to hold another one
    than before. None where nothing was put to the vote, or everybody spoke once."""
    record = record_of(state)
    question = record.question
    if question is None:
        return None
    steps: dict[str, list[dict[str, Any]]] = {seat: [] for seat in record.seats}
    rounds: set[int] = set()
    for held in votes_held(state, question):
        rounds.add(held.round)
        option = ANY if held.position == UNSURE else held.position
        before = steps[held.participant]
        if before and before[-1]["option"] == option:
            continue
        before.append(
            {
                "round": held.round,
                "option": option,
                "turn_id": held.turn,
                "by": held.because.participant if before and held.because else "",
            }
        )
    if len(rounds) < 2:
        return None
    for found in steps.values():
        # What was held at first was said in the first round, unless another vote followed there.
        if found and found[0]["round"] < 1 and (len(found) == 1 or found[1]["round"] > 1):
            found[0]["round"] = 1
    standing = standing_of(state).question
    return {
        "options": [
            {
                "id": option.id,
                "text": line(option.text),
                "delivered": standing is not None and standing.delivered == option.id,
            }
            for option in question.options
        ],
        "rounds": sorted(rounds),
        "rows": [{"participant": seat, "steps": found} for seat, found in steps.items()],
    }
