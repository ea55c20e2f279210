"""How long a discussion took, for saying how long the next of its kind may take."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.events import DiscussionClosed, DiscussionOpened, DiscussionPaused, StoredEvent
from ..core.values import OUTSIDE


def seconds_taken(records: Sequence[StoredEvent]) -> float | None:
    """From its opening to its end. None where that tells nothing about another one: it did not
    conclude, was paused, or people were waited for."""
    if not records or not isinstance(records[0].event, DiscussionOpened):
        return None
    opened = records[0]
    if speaks_from_outside(records[0].event):
        return None
    for record in records:
        match record.event:
            case DiscussionPaused():
                return None
            case DiscussionClosed(status="concluded"):
                return (record.at - opened.at).total_seconds()
            case DiscussionClosed():
                return None
            case _:
                pass
    return None


def speaks_from_outside(event: DiscussionOpened) -> bool:
    return any(seat.speaker.model == OUTSIDE for seat in (*event.participants, event.host))


def alike(one: DiscussionOpened, other: DiscussionOpened) -> bool:
    """Whether one tells how long the other may take: the same rules, as many seats, and models of
    the same kind, which may be scripts or demonstrations."""
    return (
        one.procedure == other.procedure
        and len(one.participants) == len(other.participants)
        and _kinds(one) == _kinds(other)
    )


def _kinds(event: DiscussionOpened) -> tuple[bool, bool]:
    speakers = [seat.speaker for seat in (*event.participants, event.host)]
    return (
        any(each.demonstration for each in speakers),
        any(each.model.startswith("scripted/") for each in speakers),
    )
