"""How long a discussion may take and what it may cost, for whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.state import State
from ...engine.service import Service
from ...procedures import procedure_spec


@dataclass(frozen=True, slots=True)
class Expected:
    """None where nobody knows."""

    seconds: float | None = None
    usd: float | None = None


async def expected_of(service: Service, state: State) -> Expected:
    """As the page says it for the time; the middle of the estimate for the cost."""
    from ..web.usual import usual_seconds

    cost = procedure_spec(state.start.procedure).estimate(state).cost_usd
    return Expected(
        await usual_seconds(service, state.discussion_id), sum(cost) / 2 if cost else None
    )
