"""The index of discussions: what the events say in one row, the same for both dialects."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.events import DiscussionClosed, DiscussionOpened, StoredEvent
from ..core.values import Status


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
    updated_at: datetime
    last_seq: int


def index_change(new: Sequence[StoredEvent]) -> IndexChange:
    """How the newly numbered events of one discussion, at least one, change its row."""
    opening: Opening | None = None
    status: Status | None = None
    for record in new:
        match record.event:
            case DiscussionOpened(topic=topic, procedure=procedure):
                # PostgreSQL's text cannot hold NUL; the event itself keeps it, escaped in JSON.
                topic = topic.replace("\0", "")
                opening = Opening(topic, folded(topic), procedure, record.at)
                status = "running"
            case DiscussionClosed(status=closed_as):
                status = closed_as
            case _:
                pass
    return IndexChange(opening, status, new[-1].at, new[-1].seq)


def folded(text: str) -> str:
    """Text as it is searched: databases fold only ASCII, or as their locale says; we fold all."""
    return unicodedata.normalize("NFKC", text.replace("\0", "")).casefold()
