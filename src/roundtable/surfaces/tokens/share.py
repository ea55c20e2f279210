"""What is set aside of a budget for a discussion that nobody limited: by its estimate, so that
others can be opened beside it."""

from __future__ import annotations

from ...bootstrap import App
from ...core.purse import share_of
from ...ledger.memory import MemoryLedger
from ...procedures import procedure_spec
from ...procedures.opening import OpenRequest


async def share(app: App, request: OpenRequest, left: float) -> float:
    """So many of the dollars that are left. It is rehearsed in memory: nobody is called, and
    nothing is stored."""
    service = app.service.with_ledger(MemoryLedger())
    state = await service.open(request)
    if procedure_spec(state.start.procedure).moderation:
        return left  # what is led by hand may become longer than any estimate
    told = await service.estimate(state)
    return share_of(left, told.cost_usd[1] if told.cost_usd is not None else None)
