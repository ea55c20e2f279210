"""Who did not answer, why, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.naming import line, name_of
from ..core.record import record_of
from ..core.state import State


@dataclass(frozen=True, slots=True)
class Absence:
    name: str
    why: str
    """What its last call failed of."""
    remedy: str


def absences(state: State) -> tuple[Absence, ...]:
    """Everybody who was asked and said nothing, in the order of the seats. Before there is a
    verdict nobody is absent: whoever was not asked yet may still speak."""
    if state.verdict is None:
        return ()
    last = {each.participant: each for each in state.failures}
    return tuple(
        Absence(name_of(state, who), line(last[who].message), line(last[who].remedy))
        for who in record_of(state).absent
        if who in last
    )
