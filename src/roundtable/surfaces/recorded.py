"""The recorded examples as rows of a list: what was asked, what came of it, where it comes from."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

from ..core.state import fold
from ..examples import Example, examples
from ..views.decision_parts import Sure
from ..views.delivery import Delivery
from ..views.report_parts import line
from ..views.row import Row


class Recorded(BaseModel):
    """One recorded discussion."""

    name: str
    discussion_id: str
    """What stands for its id wherever it is read: `example:NAME`."""
    title: str
    question: str
    procedure: str
    answer: str
    """In a sentence; this, the vote and the confidence are those of the page."""
    vote: dict[str, Any] | None
    confidence: Sure
    how_it_ended: str
    language: str
    date: str
    provenance: str


@cache
def recorded_examples() -> tuple[Recorded, ...]:
    """All of them, in the order of the index. They are read once in a process."""
    return tuple(_row(each) for each in examples().values())


def _row(example: Example) -> Recorded:
    state = fold(example.records())
    row = Row.of(state, interrupted=False)
    return Recorded(
        name=example.name,
        discussion_id=example.id,
        title=example.title,
        question=line(state.start.topic),
        procedure=state.start.procedure,
        answer=row.answer,
        vote=row.vote,
        confidence=row.confidence,
        how_it_ended=Delivery.of(state).headline,
        language=example.language,
        date=example.date.isoformat(),
        provenance=example.provenance,
    )
