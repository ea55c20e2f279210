"""A turn whose words come from outside: nobody is called, it is waited for."""

from __future__ import annotations

from ..core.effects import TurnPlan
from ..core.events import NoteAdded, TurnFailed
from .journal import Journal
from .tools import Tools

WAITING = "waiting"
"""The code of the note that reminds whoever holds the turn."""


async def await_words(plan: TurnPlan, journal: Journal, tools: Tools) -> None:
    """Wait until the turn's time is over, with a reminder half-way, and record that nobody came.
    Whoever speaks in time takes the turn through `Service.speak`; the driver then no longer wants
    this and cancels it."""
    half = plan.policy.patience / 2
    await tools.clock.sleep(half)
    reminder = NoteAdded(
        code=WAITING,
        text=f"{plan.participant.name} has {half:.0f} s left to speak in round {plan.round}.",
        remedy=f"roundtable speak {journal.state.discussion_id} TEXT --as {plan.participant.id}",
    )
    await journal.record((reminder, f"{WAITING}/{plan.turn_id}"))
    await tools.clock.sleep(half)
    absent = TurnFailed(
        turn_id=plan.turn_id,
        stage=plan.stage,
        round=plan.round,
        participant=plan.participant.id,
        cause="absent",
        message=f"Nobody spoke for {plan.participant.name} within {plan.policy.patience:.0f} s.",
        remedy="Speak sooner with `roundtable speak`, or give the turns more time.",
    )
    # A turn has one outcome: words that came in the same moment stay.
    await journal.record((absent, f"outcome/{plan.turn_id}"))
