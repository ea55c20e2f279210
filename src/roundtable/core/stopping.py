"""Stop rules: pure conditions to end a discussion early."""

from __future__ import annotations

from dataclasses import dataclass

from .state import State
from .values import StopReason


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a discussion ends now."""

    reason: StopReason
    detail: str


def stop_requested(state: State) -> Stop | None:
    """Somebody asked for it."""
    asked = state.stop_requested
    return Stop("stopped_by_user", asked.reason or f"stopped by {asked.by}") if asked else None


def budget_exhausted(state: State) -> Stop | None:
    """A limit of the budget was reached."""
    spent = state.exhausted
    if spent is None:
        return None
    origin = f", by the limit of {spent.origin}" if spent.origin else ""
    return Stop("budget", f"the {spent.limit} limit: {spent.detail}{origin}")
