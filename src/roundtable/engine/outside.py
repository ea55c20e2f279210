"""A turn whose words come from outside: nobody is called, it is waited for."""

from __future__ import annotations

from ..core.effects import TurnPlan
from ..core.events import TurnFailed
from .journal import Journal
from .tools import Tools


async def await_words(plan: TurnPlan, journal: Journal, tools: Tools) -> None:
    """Wait until the turn's time is over, and record that nobody came. Whoever speaks in time
    takes the turn through `Service.speak`; the driver then no longer wants this and cancels it."""
    await tools.clock.sleep(plan.policy.timeout)
    absent = TurnFailed(
        turn_id=plan.turn_id,
        stage=plan.stage,
        round=plan.round,
        participant=plan.participant.id,
        cause="absent",
        message=f"Nobody spoke for {plan.participant.name} within {plan.policy.timeout:.0f} s.",
        remedy="Speak sooner with `roundtable speak`, or give the turns more time.",
    )
    # A turn has one outcome: words that came in the same moment stay.
    await journal.record((absent, f"outcome/{plan.turn_id}"))
