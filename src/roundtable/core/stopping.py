"""Stop rules: pure conditions to end a discussion early, which compose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .state import State
from .values import StopReason


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a discussion ends now."""

    reason: StopReason
    detail: str


StopRule = Callable[[State], Stop | None]


def stop_requested(state: State) -> Stop | None:
    """Somebody asked for it."""
    asked = state.stop_requested
    return Stop("stopped_by_user", asked.reason or f"stopped by {asked.by}") if asked else None


def budget_exhausted(state: State) -> Stop | None:
    """A limit of the budget was reached."""
    spent = state.exhausted
    return Stop("budget", f"the {spent.limit} limit: {spent.detail}") if spent else None


def first_of(*rules: StopRule) -> StopRule:
    """The first rule that fires decides."""

    def rule(state: State) -> Stop | None:
        return next((stop for each in rules if (stop := each(state)) is not None), None)

    return rule
