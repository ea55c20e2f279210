"""Whether a discussion needs a process that drives it, and how long that process waits for words
from outside. Every surface asks here, so that none calls live what another calls interrupted."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from ..core.effects import TurnPlan
from ..core.state import State
from ..core.values import OUTSIDE, Participant
from ..procedures import procedure_spec
from ..procedures.spec import ProcedureSpec


def runs_by_itself(state: State) -> bool:
    """Whether the program has a part in it: somebody at the table is called by a process."""
    seats = (*state.participants, state.start.host)
    return calls_somebody(procedure_spec(state.start.procedure), seats)


def calls_somebody(spec: ProcedureSpec, seats: Iterable[Participant]) -> bool:
    """The same of a table that is being opened."""
    return not spec.moderation or any(seat.speaker.model != OUTSIDE for seat in seats)


def needs_driver(state: State) -> bool:
    """Whether it is interrupted where no process drives it. Also while it waits for somebody's
    words: nobody counts the time they have, and nobody would go on after them."""
    return state.closed is None and state.paused is None and runs_by_itself(state)


def waits_until(state: State, plan: TurnPlan) -> datetime | None:
    """Until when whoever holds this turn from outside is waited for; None where nothing ends the
    wait. Before that time it is never given up."""
    if plan.participant.speaker.model != OUTSIDE:
        return None
    if plan.participant == state.start.host:
        since = state.updated_at
    elif not runs_by_itself(state):
        return None
    else:
        since = _called_at(state)
    return since + timedelta(seconds=plan.policy.patience) if since is not None else None


def _called_at(state: State) -> datetime | None:
    """Since when a turn can be open: since its stage is, or since the one before it ended."""
    since = [state.stage_at or state.opened_at]
    if procedure_spec(state.start.procedure).moderation:
        from .meeting_status import side_by_side  # only a meeting needs it

        if not side_by_side(state):
            since.append(state.turn_over_at)
    return max((each for each in since if each is not None), default=None)
