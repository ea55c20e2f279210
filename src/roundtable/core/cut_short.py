"""Who was cut off at its length limit, in a sentence: what somebody did not get to say is missing
from whatever was counted and written afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from .events import SpeechGiven
from .naming import line, name_of
from .state import State
from .text import listed
from .turns import TRUNCATED

CUT_SHORT = "cut_short"
"""The code under which it is noted beside the verdict."""
REMEDY = "Ask for shorter answers, or give these seats other models."


def is_cut(speech: SpeechGiven) -> bool:
    return TRUNCATED in speech.flags


def cut_short(state: State) -> str:
    """Which experts were cut off and when; empty if nobody was. Computed once for a state."""
    return state.derived("cut short", _cut_short)


def _cut_short(state: State) -> str:
    cut: dict[str, list[SpeechGiven]] = {}
    for speech in state.said.in_rounds:
        if is_cut(speech):
            cut.setdefault(speech.participant, []).append(speech)
    if not cut:
        return ""
    seats = len({speech.participant for speech in state.said.in_rounds})
    were, own = ("was", "its") if len(cut) == 1 else ("were", "their")
    who = "; ".join(_told(state, seat, speeches) for seat, speeches in cut.items())
    return (
        f"{len(cut)} of {seats} experts {were} cut off at {own} length limit, and the rest was "
        f"not heard: {who}."
    )


def _told(state: State, seat: str, speeches: Sequence[SpeechGiven]) -> str:
    rounds = list(dict.fromkeys(str(speech.round) for speech in speeches))
    models = listed(list(dict.fromkeys(line(speech.model) for speech in speeches)))
    when = f"round {rounds[0]}" if len(rounds) == 1 else f"rounds {listed(rounds)}"
    return f"{name_of(state, seat)} ({models}) in {when}"
