"""A discussion as it goes on, in short lines: what chat clients show as a model's thoughts."""

from __future__ import annotations

import re

from ...core.events import (
    BallotCast,
    BudgetExhausted,
    DiscussionOpened,
    DiscussionPaused,
    DiscussionResumed,
    MaterialAdded,
    NoteAdded,
    ParticipantsSeated,
    ParticipantSubstituted,
    RoundAdvanced,
    RoundsExtended,
    SearchFailed,
    SearchFinished,
    SpeechGiven,
    StageOpened,
    StopRequested,
    StoredEvent,
    TurnFailed,
    WorkflowChosen,
)
from ...core.state import State
from ...core.text import clip, first_sentences, redact
from ...core.values import Participant

_LONGEST = 320
_HEADING = re.compile(r"(?m)^#{1,6}\s.*$")


def progress_line(record: StoredEvent, state: State) -> str:
    """What to tell of an event; empty if nothing. `state` is what the event led to."""
    return redact(_told(record, state))


def _told(record: StoredEvent, state: State) -> str:
    event = record.event
    match event:
        case DiscussionOpened():
            return f"{event.procedure}: {_seats(event.participants)}; host: {event.host.name}"
        case ParticipantsSeated():
            return f"At the table: {_seats(event.participants)}"
        case WorkflowChosen():
            return f"The table chose its workflow: {event.workflow}, {event.rounds} round(s)"
        case StageOpened():
            who = ", ".join(state.name_of(turn.rpartition("/")[2]) for turn in event.turns)
            place = f"Round {event.round}, " if event.round else ""
            return f"**{place}{event.stage}**: {who}" if who else f"**{place}{event.stage}**"
        case SpeechGiven():
            said = " ".join(first_sentences(_HEADING.sub("", event.text), 2, _LONGEST).split())
            return f"{state.name_of(event.participant)}: {said}"
        case TurnFailed():
            return f"{state.name_of(event.participant)} gave no answer: {_line(event.message)}"
        case ParticipantSubstituted():
            name = state.name_of(event.participant)
            return f"{event.to_model} speaks for {name} in place of {event.from_model}"
        case BallotCast():
            sure = f" ({event.confidence} confidence)" if event.confidence else ""
            void = "" if event.meaningful else " (not counted)"
            return f"{state.name_of(event.participant)} votes: {_line(event.position)}{sure}{void}"
        case SearchFinished():
            return f"Searched the web for {_line(event.query)!r}: {len(event.hits)} results"
        case SearchFailed():
            return f"The web search failed: {_line(event.message)}"
        case NoteAdded():
            return f"Note: {_line(event.text)}"
        case RoundAdvanced():
            return f"Round {event.round} was ended by {event.by or 'hand'}"
        case RoundsExtended():
            return f"{event.by} gave the table {event.rounds} more round(s)"
        case MaterialAdded():
            return f"{event.by} added material: {_line(event.material.source)}"
        case DiscussionPaused():
            return f"Paused by {event.by}"
        case DiscussionResumed():
            return f"Resumed by {event.by}"
        case BudgetExhausted():
            return f"The budget is used up: {_line(event.detail)}"
        case StopRequested():
            return f"Stopped by {event.by}"
        case _:
            return ""


def _seats(participants: tuple[Participant, ...]) -> str:
    return ", ".join(f"{each.name} ({each.speaker.model})" for each in participants) or "nobody yet"


def _line(text: str) -> str:
    return clip(" ".join(text.split()), _LONGEST)
