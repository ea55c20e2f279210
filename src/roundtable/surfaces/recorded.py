"""The recorded examples as rows of a list: what was asked, what came of it, where it comes from."""

from __future__ import annotations

from functools import cache

from pydantic import BaseModel

from ..core.state import fold
from ..core.text import clip
from ..examples import Example, examples
from ..views.delivery import Delivery
from ..views.report_parts import line

LONGEST = 240
"""Characters of an answer in a line."""


class Recorded(BaseModel):
    """One recorded discussion."""

    name: str
    discussion_id: str
    """What stands for its id wherever it is read: `example:NAME`."""
    title: str
    question: str
    procedure: str
    answer: str
    """In a line."""
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
    delivery = Delivery.of(state)
    return Recorded(
        name=example.name,
        discussion_id=example.id,
        title=example.title,
        question=line(state.start.topic),
        procedure=state.start.procedure,
        answer=clip(delivery.answer.replace("**", ""), LONGEST),
        how_it_ended=delivery.headline,
        language=example.language,
        date=example.date.isoformat(),
        provenance=example.provenance,
    )
