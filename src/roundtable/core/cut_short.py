"""Who was cut off, and by what, in a sentence: what somebody did not get to say is missing from
whatever was counted and written afterwards. Its own length limit and the budget of the discussion
are told apart, because other things help against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .declaration import LIMITED
from .events import SpeechGiven
from .naming import line, name_of
from .state import State
from .text import listed
from .turns import TRUNCATED

CUT_SHORT = "cut_short"
"""The code under which it is noted beside the verdict."""
OWN_LENGTH, BUDGET = "cut off at its length limit", "cut off by the budget"
_REMEDIES = {
    OWN_LENGTH: "Ask for shorter answers, or give these seats other models.",
    BUDGET: "What was cut stays cut, also under a higher limit: next time ask for shorter answers, "
    "or begin with a higher limit.",
}


def cut_by(flags: Sequence[str]) -> str:
    """What cut a speech or a written answer with these flags off, in words; empty if nothing."""
    if LIMITED in flags:
        return BUDGET
    return OWN_LENGTH if TRUNCATED in flags else ""


def cut_short(state: State) -> tuple[tuple[str, str], ...]:
    """Which experts were cut off and when, a sentence for each thing that cut them, with what to do
    about it; empty if nobody was. Computed once for a state."""
    return state.derived("cut short", _cut_short)


def _cut_short(state: State) -> tuple[tuple[str, str], ...]:
    cut: dict[str, dict[str, list[SpeechGiven]]] = {OWN_LENGTH: {}, BUDGET: {}}
    for speech in state.said.in_rounds:
        if by := cut_by(speech.flags):
            cut[by].setdefault(speech.participant, []).append(speech)
    return tuple((_sentence(state, by, who), _REMEDIES[by]) for by, who in cut.items() if who)


def _sentence(state: State, by: str, cut: Mapping[str, Sequence[SpeechGiven]]) -> str:
    seats = len({speech.participant for speech in state.said.in_rounds})
    were, by = ("was", by) if len(cut) == 1 else ("were", by.replace("its", "their"))
    who = "; ".join(_told(state, seat, speeches) for seat, speeches in cut.items())
    return f"{len(cut)} of {seats} experts {were} {by}, and the rest was not heard: {who}."


def _told(state: State, seat: str, speeches: Sequence[SpeechGiven]) -> str:
    rounds = list(dict.fromkeys(str(speech.round) for speech in speeches))
    models = listed(list(dict.fromkeys(line(speech.model) for speech in speeches)))
    when = f"round {rounds[0]}" if len(rounds) == 1 else f"rounds {listed(rounds)}"
    return f"{name_of(state, seat)} ({models}) in {when}"
