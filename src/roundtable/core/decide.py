"""`decide`: from the state of a discussion to the next effects. Pure, so it can run again."""

from __future__ import annotations

from typing import Protocol

from .effects import Effect, TakeTurn, Wait
from .state import State


class Procedure(Protocol):
    """The rules of a discussion: a pure function from its state to the next effects."""

    @property
    def name(self) -> str: ...

    def advance(self, state: State) -> tuple[Effect, ...]:
        """What to do next. It may be asked again before an earlier answer has been carried out,
        and then names the turns still open again; an empty answer ends the drive."""
        ...


def decide(state: State, procedure: Procedure) -> tuple[Effect, ...]:
    """The next effects, or none when the discussion is closed. While it is paused nothing new
    begins: only calls that are under way go on. A stop ends a paused discussion too."""
    if state.opened is None or state.closed is not None:
        return ()
    effects = advanced(state, procedure)
    if state.paused is None or state.stop_requested is not None:
        return effects
    return (*(e for e in effects if isinstance(e, TakeTurn) and _speaking(state, e)), Wait())


def advanced(state: State, procedure: Procedure) -> tuple[Effect, ...]:
    """What the procedure says of this state, paused or not. It is asked once for each state."""
    asked, effects = state.derived("effects", lambda s: (procedure, procedure.advance(s)))
    return effects if asked is procedure else procedure.advance(state)


def _speaking(state: State, effect: TakeTurn) -> bool:
    turn = state.turn(effect.plan.turn_id)
    return turn is not None and any(attempt.in_flight for attempt in turn.attempts)
