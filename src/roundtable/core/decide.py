"""`decide`: from the state of a discussion to the next effects. Pure, so it can run again."""

from __future__ import annotations

from typing import Protocol

from .effects import Effect
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
    """The next effects, or none when the discussion is closed."""
    if state.opened is None or state.closed is not None:
        return ()
    return procedure.advance(state)
