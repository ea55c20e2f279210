"""The verdict as a program gets it: its `answer` is what the table chose, as in the JSON document.

What a host wrote may recommend something else than was counted, which is flagged, and stored as it
was written. A program that reads one field must not take that for the answer.
"""

from __future__ import annotations

from ..core.state import State
from ..core.values import Verdict
from .delivery import Delivery
from .outgoing import outgoing_words


class DeliveredVerdict(Verdict):
    """A verdict with the answer of the table. All other fields are as they were stored."""

    headline: str
    """How it ended, in one line: with figures, absent seats, and whether what was written says
    something else."""
    written: str
    """The whole answer as its writer put it."""


def delivered(state: State) -> DeliveredVerdict | None:
    """The verdict of a discussion; None if there is none. Its `answer` is empty where the table
    should have chosen and did not: the headline says why."""
    if state.verdict is None:
        return None
    told = Delivery.of(state)
    stored = {**dict(state.verdict), "answer": outgoing_words(told.answer)}
    return DeliveredVerdict(
        **stored, headline=outgoing_words(told.headline), written=state.verdict.answer
    )
