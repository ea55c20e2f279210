"""What of a discussion is worth a line to somebody who waits for it."""

from __future__ import annotations

from ...core.events import (
    DiscussionClosed,
    NoteAdded,
    ParticipantSubstituted,
    SpeechGiven,
    StageOpened,
    StoredEvent,
    TurnFailed,
    VerdictReached,
)
from ...core.state import State
from ...core.text import clip, redact

WORDS = 160


def progress_line(record: StoredEvent, state: State) -> str:
    """One line about an event; empty for what only the machinery cares about."""
    match record.event:
        case StageOpened() as event:
            place = f"round {event.round}" if event.round else "the host"
            return f"{event.stage} begins ({place})"
        case SpeechGiven() as event:
            words = " ".join(redact(event.text).split())
            return f"{_name(state, event.participant)}, round {event.round}: {clip(words, WORDS)}"
        case TurnFailed() as event:
            who = _name(state, event.participant)
            return (
                f"{who} did not speak in round {event.round}: {redact(clip(event.message, WORDS))}"
            )
        case ParticipantSubstituted() as event:
            return (
                f"{_name(state, event.participant)}: {event.to_model} speaks for {event.from_model}"
            )
        case NoteAdded() as event:
            return f"note: {redact(clip(event.text, WORDS))}"
        case VerdictReached():
            return "the verdict is reached"
        case DiscussionClosed() as event:
            return f"closed: {event.status} ({event.stop_reason})"
        case _:
            return ""


def _name(state: State, participant: str) -> str:
    seated = state.participant(participant)
    return f"{seated.role} ({seated.name})" if seated else participant
