"""How long a discussion may take and what it may cost, for whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.errors import LedgerError
from ...core.state import State
from ...engine.service import Service


@dataclass(frozen=True, slots=True)
class Expected:
    """None where nobody knows."""

    seconds: float | None = None
    usd: float | None = None


async def expected_of(service: Service, state: State) -> Expected:
    """As the page says it for the time; as it was told before the start for the cost."""
    from ..web.usual import usual_seconds

    told = state.expected or (await service.estimate(state)).expected
    try:
        return Expected(await usual_seconds(service, state.discussion_id), told.cost_usd)
    except LedgerError:  # it is away: whoever drives the discussion waits for it
        return Expected(None, told.cost_usd)
