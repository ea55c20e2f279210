"""How long a discussion usually takes, from what the ledger knows of those before it."""

from __future__ import annotations

from statistics import median

from ...core.events import DiscussionOpened
from ...core.state import fold
from ...engine.service import Service
from ...views.usual import alike, seconds_taken, speaks_from_outside

_LOOKED_AT, _ENOUGH, _LONGEST = 60, 5, 2_000
"""Discussions of the same procedure that are looked at, as many as tell enough, and the number of
events past which one is too long to be read for this."""


async def usual_seconds(service: Service, discussion_id: str) -> float | None:
    """The median of earlier discussions that are alike, otherwise the middle of the estimate; None
    where nothing is known, because people are waited for."""
    first = await service.records(discussion_id, limit=1)
    opened = first[0].event
    if not isinstance(opened, DiscussionOpened) or speaks_from_outside(opened):
        return None
    rows = [
        row
        for row in await service.summaries(limit=_LOOKED_AT * 5)
        if row.procedure == opened.procedure
        and row.status == "concluded"
        and row.discussion_id != discussion_id
        and row.last_seq <= _LONGEST
    ]
    found: list[float] = []
    for row in rows[:_LOOKED_AT]:
        begun = (await service.records(row.discussion_id, limit=1))[0].event
        if isinstance(begun, DiscussionOpened) and alike(opened, begun):
            taken = seconds_taken(await service.records(row.discussion_id))
            if taken is not None:
                found.append(taken)
        if len(found) == _ENOUGH:
            break
    if found:
        return median(found)
    return (await service.estimate(fold(first))).expected.seconds
