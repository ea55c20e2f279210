"""Which of the five rounds were not held, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.state import State
from ...core.stopping import spent_so_far
from .rounds import ARBITRATION, ROUNDS, held, planned, round_name

EARLY_STOP = "early_stop"
FORCE_ARBITRATE = "FORCE_ARBITRATE"
LONE_EXPERT = "single_survivor"
SILENT_ROUND = "silent_round"


@dataclass(frozen=True, slots=True)
class Skipped:
    round: str
    title: str
    reason: str


def skipped(state: State) -> tuple[Skipped, ...]:
    """The rounds without a speech, in order; none while the discussion goes on."""
    if state.closed is None:
        return ()
    opened = {stage for _, stage in held(state)}
    wanted = {stage for _, stage in planned(state)}
    found: list[Skipped] = []
    for round_ in ROUNDS.values():
        if round_.stage == ARBITRATION:
            if not state.spoken_in(ARBITRATION, 0):
                found.append(Skipped("R5", round_.title, _without_host(state)))
        elif round_.stage not in wanted:
            found.append(Skipped(f"R{round_.number}", round_.title, _not_planned(state)))
        elif round_.stage not in opened:
            found.append(Skipped(f"R{round_.number}", round_.title, _reason(state)))
    found.extend(
        Skipped(round_name(number, stage), ROUNDS[stage].title, _reason(state))
        for number, stage in planned(state)
        if number != ROUNDS[stage].number and (number, stage) not in held(state)
    )
    return tuple(found)


def forced(state: State) -> bool:
    """Whether the rounds were used up, so that the host had to rule."""
    return any(note.code == FORCE_ARBITRATE for note in state.notes)


def _not_planned(state: State) -> str:
    return (
        "pre-analysis only" if state.start.options.get("depth") == "pre-ac" else "left out (quick)"
    )


def _reason(state: State) -> str:
    if state.stop_requested is not None:
        return "the discussion was stopped"
    if state.exhausted is not None:
        return f"the budget was spent ({spent_so_far(state)})"
    for note in state.notes:
        if note.code in (EARLY_STOP, LONE_EXPERT, SILENT_ROUND):
            return note.text
    return "nobody was left to speak"


def _without_host(state: State) -> str:
    if state.start.options.get("depth") == "pre-ac":
        return "pre-analysis only"
    if state.start.host.speaker.demonstration:
        return "the demonstration model cannot judge; the summary is an extract made by code"
    if state.verdict is not None and state.stop_requested is None and state.exhausted is None:
        return "the host failed; the summary was extracted from the rounds"
    return _reason(state)
