"""Stages: how a group of turns opens, is taken in parallel or in order, and closes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from .effects import Effect, Record, TakeTurn, TurnPlan
from .events import Event, SpeechGiven, StageClosed, StageOpened, TurnFailed
from .state import State


@dataclass(frozen=True, slots=True)
class StageProgress:
    """Where a stage stands: effects that carry it on, or, when it is over, what came of it."""

    effects: tuple[Effect, ...]
    speeches: tuple[SpeechGiven, ...] = ()
    failures: tuple[TurnFailed, ...] = ()

    @property
    def over(self) -> bool:
        return not self.effects


def closed_stage(state: State, stage: str, round_: int) -> StageProgress | None:
    """What came of a stage that is closed; None while it is not. Whoever asks here first need not
    plan the turns of a stage anew in every decision after it."""
    held = state.stages.get((stage, round_))
    if held is None or held.closed is None:
        return None
    turns = [turn for each in held.opened.turns if (turn := state.turn(each)) is not None]
    return StageProgress(
        (),
        tuple(turn.speech for turn in turns if turn.speech is not None),
        tuple(turn.failure for turn in turns if turn.speech is None and turn.failure),
    )


Closing = Callable[[Sequence[SpeechGiven], Sequence[TurnFailed]], tuple[Event, ...]]
"""What else is recorded when a stage closes: ballots, notes."""


def _nothing_else(_: Sequence[SpeechGiven], __: Sequence[TurnFailed]) -> tuple[Event, ...]:
    return ()


def run_stage(
    state: State,
    plans: Sequence[TurnPlan],
    order: Literal["parallel", "sequential"] = "parallel",
    closing: Closing = _nothing_else,
) -> StageProgress:
    """Carry one stage on. All plans belong to the same stage and round.

    In a sequential stage only the first open turn is taken, so each plan may be built from the
    speeches before it.
    """
    name, round_ = plans[0].stage, plans[0].round
    effects: list[Effect] = []
    stage = state.stages.get((name, round_))
    if stage is None:
        turns = tuple(plan.turn_id for plan in plans)
        effects.append(Record((StageOpened(stage=name, round=round_, turns=turns),)))
    turns_now = [(plan, state.turn(plan.turn_id)) for plan in plans]
    waiting = [plan for plan, turn in turns_now if turn is None or not turn.over]
    if waiting:
        taken = waiting if order == "parallel" else waiting[:1]
        return StageProgress((*effects, *(TakeTurn(plan) for plan in taken)))
    speeches = tuple(t.speech for _, t in turns_now if t is not None and t.speech is not None)
    failures = tuple(
        t.failure for _, t in turns_now if t is not None and t.speech is None and t.failure
    )
    if stage is None or stage.closed is None:
        closed = StageClosed(
            stage=name,
            round=round_,
            spoke=tuple(speech.participant for speech in speeches),
            missing=tuple(failure.participant for failure in failures),
        )
        effects.append(Record((closed, *closing(speeches, failures))))
    return StageProgress(tuple(effects), speeches, failures)
