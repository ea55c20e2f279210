"""Small events for tests of the ledger, which does not care what they say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

from roundtable.core.events import (
    DiscussionClosed,
    DiscussionOpened,
    NewEvent,
    NoteAdded,
    StoredEvent,
)
from roundtable.core.values import Participant, SpeakerRef

_SEAT = Participant(id="ada", name="Ada", role="engineer", speakers=(SpeakerRef(model="test:a"),))
_START = datetime(2026, 11, 15, 12, tzinfo=UTC)
_seconds = count()


def _now() -> datetime:
    """Later than any time before, and to the microsecond."""
    return _START + timedelta(seconds=next(_seconds), microseconds=123456)


def opened(topic: str = "Tabs or spaces?", *, key: str | None = None) -> NewEvent:
    event = DiscussionOpened(topic=topic, procedure="council", participants=(_SEAT,), host=_SEAT)
    return NewEvent(event, _now(), key)


def note(text: str = "Well.", *, key: str | None = None) -> NewEvent:
    return NewEvent(NoteAdded(code="test", text=text), _now(), key)


def closed() -> NewEvent:
    return NewEvent(DiscussionClosed(status="concluded", stop_reason="verdict"), _now())


def texts(records: list[StoredEvent]) -> list[str]:
    """What the notes among them say."""
    return [record.event.text for record in records if isinstance(record.event, NoteAdded)]
