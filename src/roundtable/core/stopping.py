"""Stop rules: pure conditions to end a discussion early."""

from __future__ import annotations

from dataclasses import dataclass

from .budget import spending, told
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
    return Stop("budget", f"the {spent.limit} limit: {spent_so_far(state)}{origin}")


def spent_so_far(state: State) -> str:
    """How much of the limit that was reached is used up now: what was under way when something was
    refused has come to its end since, and an ending may have been paid."""
    spent = state.exhausted
    if spent is None:
        return ""
    if spent.limit == "time":
        return spent.detail  # what is told then is when it was over
    now = spending(
        state.usage, list(state.reservations.values()), 0.0, state.passed, state.unheard_usd
    )
    return told(state.budget, spent.limit, now) or spent.detail
