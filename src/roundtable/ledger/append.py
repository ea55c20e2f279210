"""An append: which events are new, how they are numbered, what is refused, what it does to the
row of the discussion, and how an event is read back from its row.

Pure, and the same for every dialect: a database only has to hold still while it is carried out.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import ValidationError

from ..core.errors import LedgerBroken, LedgerConflict, LedgerError, LedgerTooNew, UnknownDiscussion
from ..core.events import (
    DiscussionClosed,
    DiscussionOpened,
    LimitsRaised,
    NewEvent,
    OutcomeRecorded,
    StageReopened,
    StoredEvent,
    load,
)
from ..core.values import Status, TurnedOut


@dataclass(frozen=True, slots=True)
class Plan:
    new: tuple[StoredEvent, ...]
    """To be written, in order."""
    outcome: tuple[StoredEvent, ...]
    """One for each event asked for: the new one, or the one its key already stands for."""


def keys_of(events: Iterable[NewEvent]) -> list[str]:
    return [event.key for event in events if event.key is not None]


def plan_append(
    discussion_id: str,
    last_seq: int | None,
    events: Sequence[NewEvent],
    known: Mapping[str, StoredEvent],
    expected: int | None,
) -> Plan:
    """Number `events` after `last_seq` (None: no such discussion yet).

    `known` holds the stored events that have one of their keys. Raises UnknownDiscussion and
    LedgerConflict as the port says; opening a discussion that is open is a conflict too.
    """
    if last_seq is None and not (events and isinstance(events[0].event, DiscussionOpened)):
        raise UnknownDiscussion(discussion_id)
    seq = last_seq or 0
    if expected is not None and expected != seq:
        raise LedgerConflict(discussion_id, expected, seq)
    stored = dict(known)
    new: list[StoredEvent] = []
    outcome: list[StoredEvent] = []
    for event in events:
        if event.key is not None and (already := stored.get(event.key)):
            outcome.append(already)
            continue
        if seq and isinstance(event.event, DiscussionOpened):
            raise LedgerConflict(discussion_id, 0, seq)
        seq += 1
        record = StoredEvent(discussion_id, seq, _utc(event.at), event.event, event.key)
        new.append(record)
        outcome.append(record)
        if event.key is not None:
            stored[event.key] = record
    return Plan(tuple(new), tuple(outcome))


def _utc(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ValueError("an event's time must say its time zone")
    return at if at.tzinfo is UTC else at.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Opening:
    """The columns that only DiscussionOpened sets."""

    topic: str
    search_text: str
    procedure: str
    opened_at: datetime


@dataclass(frozen=True, slots=True)
class IndexChange:
    """What a batch of new events does to the row of its discussion."""

    opening: Opening | None
    """The row is to be inserted."""
    status: Status | None
    """The new status; None leaves it as it is."""
    outcome: TurnedOut | None
    """How it turned out; None leaves it as it is."""
    updated_at: datetime
    last_seq: int


def index_change(new: Sequence[StoredEvent]) -> IndexChange:
    """How the newly numbered events of one discussion, at least one, change its row."""
    opening: Opening | None = None
    status: Status | None = None
    outcome: TurnedOut | None = None
    for record in new:
        match record.event:
            case DiscussionOpened(topic=topic, procedure=procedure):
                # PostgreSQL's text cannot hold NUL; the event itself keeps it, escaped in JSON.
                topic = topic.replace("\0", "")
                opening = Opening(topic, folded(topic), procedure, record.at)
                status = "running"
            case DiscussionClosed(status=closed_as):
                status = closed_as
            case StageReopened() | LimitsRaised():
                status = "running"
            case OutcomeRecorded(outcome=turned_out):
                outcome = turned_out
            case _:
                pass
    return IndexChange(opening, status, outcome, new[-1].at, new[-1].seq)


def folded(text: str) -> str:
    """Text as it is searched: databases fold only ASCII, or as their locale says; we fold all."""
    return unicodedata.normalize("NFKC", text.replace("\0", "")).casefold()


def stored_event(
    discussion_id: str, seq: int, at: datetime, key: str | None, data: str
) -> StoredEvent:
    """The event of a row. LedgerTooNew if its kind is unknown here, LedgerBroken if damaged."""
    try:
        return StoredEvent(discussion_id, seq, at, load(data), key)
    except (ValidationError, KeyError) as error:
        raise _unreadable(discussion_id, seq, data) from error


def damaged(discussion_id: str, seq: int) -> LedgerBroken:
    """The row of an event does not hold one."""
    what = f"Event {seq} of {discussion_id}"
    return LedgerBroken(f"{what} is damaged.", "Restore the database from a backup.")


def _unreadable(discussion_id: str, seq: int, data: str) -> LedgerError:
    try:
        json.loads(data)
    except ValueError:
        return damaged(discussion_id, seq)
    return LedgerTooNew(
        f"Event {seq} of {discussion_id} is of a kind that this Roundtable does not know.",
        "Upgrade Roundtable.",
    )
