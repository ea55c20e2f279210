"""Two discussions side by side: what each answered, who voted how, how sure it was, its cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.state import State
from ..core.text import clip, redact
from .cost import Cost, in_words
from .decision import Decision
from .delivery import Delivery
from .emphasis import meant

LONGEST = 400
"""Characters of one cell."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that can be compared, as each discussion has it; empty where one has none."""

    what: str
    cells: tuple[str, str]

    @property
    def differs(self) -> bool:
        return self.cells[0] != self.cells[1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two discussions, row by row. Texts are clean, and call people by their names."""

    discussions: tuple[str, str]
    rows: tuple[Row, ...]
    positions: tuple[Row, ...]
    """By seat: what each said of itself in the end."""

    @classmethod
    def of(cls, one: State, other: State) -> Comparison:
        """Whatever the two are: they may have other questions, tables and procedures."""
        states = (one, other)

        def row(what: str, told: Callable[[State], str]) -> Row:
            return Row(what, (_cell(told(one)), _cell(told(other))))

        rows = tuple(row(what, told) for what, told in ROWS)
        names = list(dict.fromkeys(seat.name for state in states for seat in state.voters))
        positions = tuple(
            row(name, lambda state, name=name: _position(state, name))  # type: ignore[misc]
            for name in names
        )
        return cls((one.discussion_id, other.discussion_id), rows, positions)

    def document(self) -> dict[str, Any]:
        """For programs."""
        first, second = self.discussions
        return {
            "discussions": [first, second],
            "rows": [_document(each) for each in self.rows],
            "positions": [_document(each) for each in self.positions],
        }

    def markdown(self) -> str:
        """For people: a table, what differs marked."""
        first, second = self.discussions
        lines = [f"| | {first} | {second} |", "|---|---|---|"]
        lines += [_line(each) for each in self.rows]
        if self.positions:
            lines += ["", "## Positions", "", lines[0], lines[1]]
            lines += [_line(each) for each in self.positions]
        return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return redact(clip(" ".join(text.split()), LONGEST))


def _document(row: Row) -> dict[str, Any]:
    return {"what": row.what, "values": list(row.cells), "differs": row.differs}


def _line(row: Row) -> str:
    one, other = (meant(each).replace("|", "\\|") or "–" for each in row.cells)
    what = f"**{row.what}**" if row.differs else row.what
    return f"| {what.replace('|', ' ')} | {one} | {other} |"


def _position(state: State, name: str) -> str:
    told = Delivery.of(state)
    found = next((seat for seat in told.seats if seat.name == name), None)
    if found is not None:
        own = found.position
        return f"{found.told} – {own}" if own and own not in found.told else found.told
    last = [s.text for s in state.said.in_rounds if state.name_of(s.participant) == name]
    return last[-1] if last else ""


def _votes(state: State) -> str:
    question = Delivery.of(state).question
    if question is None:
        return ""
    return "; ".join(f"{o.text.rstrip(' .。')}: {len(o.participants)}" for o in question.options)


def _who_disagrees(state: State) -> str:
    """As the verdict tells it: also who prefers another answer and could live with this one, and
    who differs on a further decision."""
    if state.verdict is None:
        return ""
    told = Decision.of(state).dissent
    return " ".join([told.lead, *(f"{e.against.title}: {e.against.position}" for e in told.pairs)])


def _models(state: State) -> str:
    return ", ".join(dict.fromkeys(seat.speaker.model for seat in state.voters))


def _cost(state: State) -> str:
    return in_words(Cost.of(state), places=4)


def _asked_at(state: State) -> str:
    return state.opened_at.isoformat(" ", "minutes") if state.opened_at else ""


def _active(state: State) -> str:
    assert state.updated_at is not None, "a discussion has at least its opening"
    return f"{state.spending(state.updated_at).seconds:.0f} s"


ROWS: Sequence[tuple[str, Callable[[State], str]]] = (
    ("Question", lambda s: s.start.topic),
    ("Asked", _asked_at),
    ("Procedure", lambda s: s.start.procedure.rpartition(":")[2]),
    ("Status", lambda s: s.status),
    ("Answer", lambda s: Decision.of(s).answer.first),
    ("How it ended", lambda s: Delivery.of(s).headline),
    ("Votes", _votes),
    ("Confidence", lambda s: Delivery.of(s).sureness if s.verdict else ""),
    ("Who disagrees", _who_disagrees),
    ("What talk changed", lambda s: Delivery.of(s).changed),
    ("Turned out", lambda s: s.outcome.outcome if s.outcome else ""),
    ("Seats", lambda s: ", ".join(seat.name for seat in s.voters)),
    ("Models", _models),
    ("Calls", lambda s: f"{s.usage.calls:,}"),
    ("Tokens", lambda s: f"{s.usage.tokens:,}"),
    ("Cost", _cost),
    ("Active time", _active),
)
"""What is compared, as people call it, and how each is told."""
