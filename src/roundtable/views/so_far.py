"""How much of what was expected a discussion has taken so far: for whoever shows how it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..core.state import State
from ..core.text import dollars


@dataclass(frozen=True, slots=True)
class SoFar:
    """Spent, and about how much it will be in the end; None where nobody knows."""

    calls: int
    of_calls: int | None
    cost_usd: float | None
    of_cost_usd: float | None
    seconds: float
    """Active time: somebody was called."""
    of_seconds: float | None

    @property
    def cost_told(self) -> str:
        """“$0.04 of about $0.18”, as far as it is known."""
        spent = "" if self.cost_usd is None else dollars(self.cost_usd)
        # What has become more than was thought is not told as a part of it.
        if not spent or not self.of_cost_usd or (self.cost_usd or 0) > self.of_cost_usd:
            return spent
        return f"{spent} of about {dollars(self.of_cost_usd)}"


def so_far(state: State, now: datetime) -> SoFar:
    """By the estimate that was told at the beginning, if one was."""
    told = state.expected
    return SoFar(
        calls=state.usage.calls,
        of_calls=told.calls if told else None,
        cost_usd=None if state.usage.unpriced_calls else state.usage.priced_usd,
        of_cost_usd=told.cost_usd if told else None,
        seconds=state.spending(now).seconds,
        of_seconds=told.seconds if told else None,
    )
