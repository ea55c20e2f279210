"""Stop rules: pure conditions to end a discussion early."""

from __future__ import annotations

from dataclasses import dataclass

from .budget import LIMITS, Limit, Spending, is_beyond, spending, told
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
    origin = f", limited by {spent.origin}" if spent.origin else ""
    return Stop("budget", f"the {spent.limit} limit: {spent_so_far(state)}{origin}")


def spent_so_far(state: State) -> str:
    """How much of the limit that was reached is used up now: what was under way when something was
    refused has come to its end since, and an ending may have been paid."""
    spent = state.exhausted
    if spent is None:
        return ""
    if spent.limit == "time":
        return spent.detail  # what is told then is when it was over
    return told(state.budget, spent.limit, _spent(state)) or spent.detail


def beyond(state: State) -> list[tuple[Limit, str]]:
    """The limits beyond which was charged, each with how much of it is used up and why; not those
    that were lower than that when they were set."""
    now = _spent(state)
    over = (each for each in LIMITS if is_beyond(state.budget, each, now))
    return [(e, told(state.budget, e, now)) for e in over if LIMITS[e] not in state.passed]


def _spent(state: State) -> Spending:
    held = list(state.reservations.values())
    return spending(state.usage, held, 0.0, state.passed, state.unheard_usd)
