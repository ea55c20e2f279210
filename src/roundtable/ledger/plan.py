"""The plan of an append: which events are new, how they are numbered, and what is refused.

Pure, and the same for every dialect: a database only has to hold still while it is carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..core.errors import LedgerConflict, UnknownDiscussion
from ..core.events import DiscussionOpened, NewEvent, StoredEvent


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
