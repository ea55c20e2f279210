"""Whose turn it is to speak from outside, and what a call from there makes of it.

The host may remark at any time; a participant fills its own open turn, or sets right what it
declared before. Whoever may do neither is told whose turn it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.effects import TurnPlan, turn_id
from ..core.errors import NotAllowed, is_closed
from ..core.events import SpeechGiven
from ..core.material import material_size, refuse_too_much
from ..core.state import State
from ..core.values import HOST_WIRE_NAME, OUTSIDE
from ..core.verdict_sources import REMARK
from ..procedures import procedure_spec
from .external import Heard, heard
from .later import heard_later
from .moderation import CONCLUSION, open_turns, registered


def repeated(state: State, participant: str, key: str) -> SpeechGiven | None:
    """The speech that an earlier call with this key brought."""
    speaker = state.start.host.id if participant == HOST_WIRE_NAME else participant
    return state.said.keyed(speaker, key)


def outside_speech(
    state: State, participant: str, text: str, fields: Mapping[str, Any] | None, key: str
) -> Heard:
    """The speech that this call makes in this state, or NotAllowed."""
    if state.closed is not None:
        raise is_closed(state.discussion_id)
    if participant == HOST_WIRE_NAME:
        if fields:
            raise NotAllowed("The host declares nothing: it never votes.", "Speak as a seat.")
        refuse_too_much(material_size(state) + len(text))
        awaited = _open_turn(state, state.start.host.id)
        if awaited is None or awaited.stage == CONCLUSION or not _waits_outside(awaited):
            number = len(state.said.of(REMARK)) + 1
            stage, turn = REMARK, turn_id(0, REMARK, f"{HOST_WIRE_NAME}-{number}")
        else:  # a round waits for it
            stage, turn = awaited.stage, awaited.turn_id
        remark = SpeechGiven(
            turn_id=turn,
            stage=stage,
            round=0,
            participant=state.start.host.id,
            model=OUTSIDE,
            text=text,
            after_round=state.newest_round,
            key=key,
        )
        return Heard(remark)
    registered(state, participant)
    if state.paused is not None:
        raise NotAllowed(
            f"{state.discussion_id} was paused by {state.paused.by}.",
            f"Let it go on first: roundtable resume {state.discussion_id}",
        )
    plan = _open_turn(state, participant)
    if plan is None and fields and not text.strip():
        spec = procedure_spec(state.start.procedure)
        if (later := spec.declares_later(state, participant)) is not None:
            return heard_later(state, later, fields, key)
    if plan is None:
        raise NotAllowed(
            f"It is not {participant}'s turn in {state.discussion_id}.",
            _whose_turn(state),
        )
    return heard(state, plan, text, fields, key)


def _open_turn(state: State, participant: str) -> TurnPlan | None:
    return next((plan for plan in _open(state) if plan.participant.id == participant), None)


def _waits_outside(plan: TurnPlan) -> bool:
    return plan.participant.speaker.model == OUTSIDE


def _whose_turn(state: State) -> str:
    names = [plan.participant.id for plan in _open(state)]
    now = f" Now it is the turn of {', '.join(names)}." if names else ""
    return f"A participant may speak while a turn of its own is open.{now}"


def _open(state: State) -> Sequence[TurnPlan]:
    return open_turns(state, procedure_spec(state.start.procedure).procedure)
