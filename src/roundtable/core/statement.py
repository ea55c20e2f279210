"""A statement: what one seat declared in one turn, and what a seat said to a point or condition."""

from __future__ import annotations

from dataclasses import dataclass

from .declaration import Declaration, StanceWord
from .events import SpeechGiven
from .state import State
from .values import HOST_WIRE_NAME


@dataclass(frozen=True, slots=True)
class Statement:
    """What one seat declared in one turn."""

    participant: str
    round: int
    turn_id: str
    declaration: Declaration
    independent: bool = False
    corrects: bool = False
    """Whether it sets right what its seat declared before in the same round."""
    in_turn: bool = False
    """Whether its seat knew all that was said before it in its round, since they speak one after
    another, or since it came later by itself."""
    stage: str = ""
    """The stage of its round that it was said in; of a correction, that of what it corrects. Empty
    where a round is taken for one stage, as in 0.1."""

    @property
    def place(self) -> tuple[int, str]:
        """Where it was said: seats that speak at one place do so side by side, unless in turn."""
        return self.round, self.stage


@dataclass(frozen=True, slots=True)
class PointStance:
    """What a seat said last to a point or condition, as it is worded now."""

    stance: StanceWord
    text: str = ""
    turn_id: str = ""
    round: int = 0
    since: str = ""
    """The turn since which it says the same without a break."""


def demonstrates(state: State, speech: SpeechGiven) -> bool:
    """Whether a speech was given by a speaker that is too small to be counted."""
    small = state.derived("demonstrations", _demonstrations)
    return bool(small) and (speech.participant, speech.model) in small


def _demonstrations(state: State) -> frozenset[tuple[str, str]]:
    """Who speaks by which models that are too small to be counted."""
    host = state.start.host
    table = {**state.ever_seated, host.id: host, HOST_WIRE_NAME: host}
    return frozenset(
        (name, ref.model)
        for name, seated in table.items()
        for ref in seated.speakers
        if ref.demonstration
    )
