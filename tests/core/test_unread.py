"""The words of a vote that could not be read are kept for its reader."""

from __future__ import annotations

import pytest

from roundtable.core.events import Event
from roundtable.core.state import fold
from roundtable.core.unread import unread_vote

from .samples import finished, opened, recorded, started


def said(text: str, *more: str) -> str:
    """What is told of a turn with these answers."""
    events = [event for n, each in enumerate((text, *more), 1) for event in _call(n, each)]
    state = fold(recorded(opened(), *events))
    (turn,) = state.turns
    return unread_vote(state, turn)


def _call(attempt: int, text: str) -> tuple[Event, Event]:
    return started(attempt=attempt), finished(attempt=attempt, text=text)


def block(body: str) -> str:
    return f"Words.\n\n```declaration\n{body}\n```"


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"votes": [{"on": "d1", "choice": "Mongo"}]}', "“Mongo”"),
        ('{"votes": {"on": "d1", "choice": "o9"}}', "“o9”"),
        ('{"votes": [{"choice": "o1"}, {"choice": "o2"}]}', "“o1” and “o2”"),
        ('{"votes": [{"choice": "o1"}], "abstain": "No idea."}', "“o1” and an abstention"),
        (
            '{"votes": [{"choice": "o1", "rejects": ["o1"]}]}',
            "“o1” and a rejection of it",
        ),
        ('{"votes": [{"choice": "o1"', '“{"votes": [{"choice": "o1"”'),
        ('{"votes": []}', ""),
        ('{"votes": [{"choice": "…"}]}', ""),
        ('{"position": "Wait."}', ""),
    ],
)
def test_a_vote_that_cannot_be_read_is_told_in_its_own_words(body: str, told: str) -> None:
    assert said(block(body)) == told


def test_the_last_answer_that_holds_a_vote_is_told() -> None:
    first = block('{"votes": [{"on": "d1", "choice": "Mongo"}]}')
    assert said(first, "I will not say it again.") == "“Mongo”"
    assert said(first, '{"votes": [{"on": "d1", "choice": "M2"}]}') == "“M2”"
    assert said("Words alone.") == ""
