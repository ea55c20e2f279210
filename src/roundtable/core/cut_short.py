"""Who was cut off, and by what, in a sentence: what somebody did not get to say is missing from
whatever was counted and written afterwards. Its own length limit and the budget of the discussion
are told apart, because other things help against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .declaration import LIMITED
from .events import SpeechGiven
from .naming import line, name_of
from .state import State, Turn
from .text import listed
from .turns import TRUNCATED

CUT_SHORT = "cut_short"
"""The code under which it is noted beside the verdict."""
OWN_LENGTH, BUDGET = "cut off at its length limit", "cut off by the budget"
CUT_IN_THOUGHT = "The limit cut it off while it thought, and allows it no more"
_REMEDIES = {
    OWN_LENGTH: "Ask for shorter answers, or give these seats other models.",
    BUDGET: "What was cut stays cut, also under a higher limit: next time ask for shorter answers, "
    "or begin with a higher limit.",
}
_CAN_BE_RAISED = "Raise the limit: they are asked once more, with all that their task allows."


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
    found = [(_sentence(state, by, who), _REMEDIES[by]) for by, who in cut.items() if who]
    if silenced := cut_in_thought(state):
        found.append((silenced, _CAN_BE_RAISED if state.exhausted else _REMEDIES[BUDGET]))
    return tuple(found)


def was_cut_in_thought(turn: Turn | None) -> bool:
    """Whether a limit cut the last call of a turn while it thought, before its first word."""
    last = turn.attempts[-1] if turn is not None and turn.attempts else None
    return last is not None and last.failed is not None and last.failed.used_up == "limit"


def thought_past_grant(turn: Turn | None, model: str) -> bool:
    """Whether a limit cut a call of this model in a turn, now or before it was raised, while it
    thought."""
    attempts = turn.attempts if turn is not None else ()
    failed = (each.failed for each in attempts if each.started.model == model)
    return any(each is not None and each.used_up == "limit" for each in failed)


def cut_in_thought(state: State) -> str:
    """Whom the limit cut off before the first word of an answer, in a sentence; empty if nobody."""
    lost = (each for each in state.failures if each.cause == "budget")
    cut = (each for each in lost if was_cut_in_thought(state.turn(each.turn_id)))
    names = list(dict.fromkeys(name_of(state, each.participant) for each in cut))
    if not names:
        return ""
    who = "it" if len(names) == 1 else "they"
    return f"The limit cut {listed(names)} off while {who} thought, before the first word."


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
