"""What both dialects say about leases: who holds one, and what it means to have lost it."""

from __future__ import annotations

from ..core.errors import LeaseLost
from ..ports import Lease
from .owner import owner_is_dead


def lost(lease: Lease) -> LeaseLost:
    return LeaseLost(
        f"This process no longer drives {lease.discussion_id}.",
        f"Watch it with `roundtable show {lease.discussion_id} --follow`.",
    )


def holder(owner: str | None, *, unexpired: bool) -> str | None:
    """Who drives now, given the last lease's owner and whether its time still runs."""
    if owner is None or not unexpired or owner_is_dead(owner):
        return None
    return owner
