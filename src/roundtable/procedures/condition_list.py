"""The conditions for whoever writes a result: by the ids of the count, as they are worded now, with
what everybody said to them. The speeches hold only how they were worded at first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..core.conditions import ConditionOnTable
from ..core.record import Record

_ANSWERED = {
    "agree": "Granted by",
    "partly": "Partly granted by",
    "disagree": "Refused by",
    "unsure": "Left open by",
}
_ENDS = ".!?…。！？"


def condition_lines(record: Record, name: Callable[[str], str]) -> Iterator[str]:
    """A line for each condition that stands, and one for each that its owner withdrew."""
    reworded = _said_by_owners(record, "amend")
    standing = {each.id for each in record.conditions}
    for each in record.conditions:
        yield _line(record, each, name, reworded=each.id in reworded)
    for gone, owner in _said_by_owners(record, "withdraw").items():
        if gone not in standing:
            yield f"{gone} ({name(owner)}): withdrawn"


def _line(
    record: Record, condition: ConditionOnTable, name: Callable[[str], str], *, reworded: bool
) -> str:
    kind = "demand" if condition.demand else "fact to be found out"
    told = f"{name(condition.owner)}, {kind}, otherwise {condition.condition.otherwise}"
    told += f", reworded in round {condition.round}" if reworded else ""
    parts = [f"{condition.id} ({told}): {condition.text}"]
    for stance, word in _ANSWERED.items():
        said = [
            name(seat) + (f": {answer.text.rstrip(' .')}" if answer.text else "")
            for seat, answer in condition.answers.items()
            if answer.stance == stance
        ]
        if said:
            parts.append(f"{word} {'; '.join(said)}")
    silent = [
        name(seat)
        for seat in record.seats
        if seat != condition.owner and seat not in condition.answers and seat not in record.absent
    ]
    if condition.demand and silent:
        parts.append(f"Not answered by {', '.join(silent)}")
    return " ".join(part if part[-1] in _ENDS else f"{part}." for part in parts)


def _said_by_owners(record: Record, word: str) -> dict[str, str]:
    """Conditions of which their owners said this, with who that is: nobody else may say it."""
    return {
        stance.id: each.participant
        for each in record.statements
        for stance in each.declaration.stances
        if stance.stance == word and stance.id.startswith("c")
    }
