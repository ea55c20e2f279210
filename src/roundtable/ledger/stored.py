"""The stored form of an event: from a row of the events table back to a StoredEvent."""

from __future__ import annotations

import json
from datetime import datetime

from pydantic import ValidationError

from ..core.errors import LedgerBroken, LedgerError, LedgerTooNew
from ..core.events import StoredEvent, load


def stored_event(
    discussion_id: str, seq: int, at: datetime, key: str | None, data: str
) -> StoredEvent:
    """The event of a row. LedgerTooNew if its kind is unknown here, LedgerBroken if damaged."""
    try:
        return StoredEvent(discussion_id, seq, at, load(data), key)
    except (ValidationError, KeyError) as error:
        raise _unreadable(f"Event {seq} of {discussion_id}", data) from error


def _unreadable(what: str, data: str) -> LedgerError:
    try:
        json.loads(data)
    except ValueError:
        return LedgerBroken(f"{what} is damaged.", "Restore the database from a backup.")
    return LedgerTooNew(
        f"{what} is of a kind that this Roundtable does not know.", "Upgrade Roundtable."
    )
