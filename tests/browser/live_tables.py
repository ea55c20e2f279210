"""Discussions that are going on, told by their events."""

from __future__ import annotations

from collections.abc import Sequence

from roundtable.core.declaration import Declaration
from roundtable.core.events import AttemptStarted, Event, SpeechGiven, StageOpened
from roundtable.core.values import Prompt, Reservation
from tests.views.tables import opened, seat

from .stage import Stage


def attempt(turn: str) -> AttemptStarted:
    round_, stage, who = turn.split("/")
    return AttemptStarted(
        turn_id=turn,
        attempt=1,
        stage=stage,
        round=int(round_),
        participant=who,
        model=f"m/{who}",
        purpose="answer",
        label="x",
        prompt=Prompt(template="t", version=1, hash="f", system="", user=""),
        reserved=Reservation(input_tokens=1, output_tokens=1, cost_usd=0),
    )


def spoken(turn: str, text: str, declaration: Declaration | None = None) -> SpeechGiven:
    round_, stage, who = turn.split("/")
    return SpeechGiven(
        turn_id=turn,
        stage=stage,
        round=int(round_),
        participant=who,
        model=f"m/{who}",
        text=text,
        declaration=declaration,
    )


def begun(names: Sequence[str], topic: str = "Should we build a monolith?") -> list[Event]:
    """A deliberation whose seats are all thinking about their first answers."""
    seats = [seat(name) for name in names]
    changed = {"procedure": "deliberation", "topic": topic, "options": {"critique": True}}
    turns = tuple(f"1/answer/{each.id}" for each in seats)
    return [
        opened(seats).model_copy(update=changed),
        StageOpened(stage="answer", round=1, turns=turns),
        *map(attempt, turns),
    ]


def alone(name: str = "Ann") -> list[Event]:
    """A meeting in which one speaks and another waits."""
    seats = [seat(name), seat("Bob")]
    turns = tuple(f"1/discussion/{each.id}" for each in seats)
    return [
        opened(seats).model_copy(update={"procedure": "meeting", "options": {"max_rounds": 2}}),
        StageOpened(stage="discussion", round=1, turns=turns),
        attempt(turns[0]),
    ]


def live(stage: Stage, discussion_id: str, events: list[Event]) -> str:
    """It goes on, in a process elsewhere."""
    return stage.driven(stage.put(discussion_id, events))
