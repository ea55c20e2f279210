"""One procedure for all definitions: it carries out the stages that a user wrote down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.effects import Effect, Record
from ...core.events import (
    DiscussionClosed,
    Event,
    NoteAdded,
    SpeechGiven,
    TurnFailed,
    VerdictReached,
)
from ...core.stages import run_stage
from ...core.state import State
from ...core.stopping import Stop, budget_exhausted, stop_requested
from ...core.values import StopReason, Verdict
from . import tasks
from .schedule import Step, blocks
from .sitting import End, Sitting
from .verdict import computed, extracted, written


@dataclass(frozen=True, slots=True)
class Custom:
    """Interprets the definition that the discussion carries with it."""

    name: str

    def advance(self, state: State) -> tuple[Effect, ...]:
        sitting = Sitting(state)
        if stop := stop_requested(state):
            return self._end_early(sitting, stop)
        ends: list[End] = []
        for step in sitting.steps(ends):
            if notes := _early_ends(state, ends):
                return (Record(notes),)
            if budget_exhausted(state) and not sitting.opened(step):
                break
            if not sitting.closed(step):
                return self._hold(sitting, step)
            if self._too_few(sitting, step):
                if budget_exhausted(state) and sitting.last_words:
                    break
                return self._give_up(sitting, step)
        if notes := _early_ends(state, ends):
            return (Record(notes),)
        if not sitting.last_words and budget_exhausted(state):
            return self._give_up(sitting, None)
        return self._conclude(sitting, ends)

    def _hold(self, sitting: Sitting, step: Step) -> tuple[Effect, ...]:
        def closing(
            speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
        ) -> tuple[Event, ...]:
            return (*sitting.facts(step, speeches), *_missing(sitting, failures))

        plans = tasks.plans(sitting, step)
        return run_stage(sitting.state, plans, step.stage.order, closing).effects

    def _too_few(self, sitting: Sitting, step: Step) -> bool:
        if step.stage.by_host:
            return False
        needed = 1 if budget_exhausted(sitting.state) else step.stage.min_survivors
        return len(sitting.said_in(step)) < needed

    def _give_up(self, sitting: Sitting, step: Step | None) -> tuple[Effect, ...]:
        """Too few spoke: with the words of an earlier stage a partial verdict, else none."""
        state = sitting.state
        spent = budget_exhausted(state)
        reason: StopReason = "budget" if spent else "too_few_answers"
        held = step is not None and any(s.round not in (0, step.round) for s in sitting.held)
        if spent or step is None:
            why = f": {spent.detail}" if spent else ""
            detail = f"The budget ended it before anybody had spoken{why}."
            remedy = "Raise the limit and ask again."
        else:
            count, seats = len(sitting.said_in(step)), len(sitting.speakers(step))
            detail = (
                f"{count} of {seats} spoke in {step.stage.name} (round {step.round}), and it needs "
                f"at least {step.stage.min_survivors}."
            )
            remedy = "Try again, or with other models: --models=A,B,C."
        closed = DiscussionClosed(
            status="stopped" if held else "failed",
            stop_reason=reason,
            detail=detail,
            remedy=remedy,
        )
        if not held:
            return (Record((closed,)),)
        verdict = _without_host(sitting).model_copy(update={"partial": True})
        return (Record((VerdictReached(verdict=verdict), closed)),)

    def _conclude(self, sitting: Sitting, ends: Sequence[End]) -> tuple[Effect, ...]:
        state = sitting.state
        verdict: Verdict | None = None
        notes: tuple[Event, ...] = ()
        if sitting.host_concludes:
            stage = run_stage(state, [tasks.verdict(sitting)])
            if not stage.over:
                return stage.effects
            if stage.speeches:
                verdict = written(sitting, stage.speeches[0])
            else:
                notes = (EXTRACTED_NOTE,)
        verdict = verdict or _without_host(sitting)
        if (spent := budget_exhausted(state)) is not None:
            verdict = verdict.model_copy(update={"partial": True})
            closed = DiscussionClosed(
                status="stopped",
                stop_reason="budget",
                detail=f"Stopped by {spent.detail}.",
                remedy="Raise the limit to let the table finish.",
            )
        else:
            closed = DiscussionClosed(
                status="concluded",
                stop_reason=_reason(sitting, ends),
                detail="; ".join(_told(end) for end in ends),
            )
        return (Record((*notes, VerdictReached(verdict=verdict), closed)),)

    def _end_early(self, sitting: Sitting, stop: Stop) -> tuple[Effect, ...]:
        """End now, with what exists and without another call."""
        events: list[Event] = []
        if sitting.last_words:
            verdict = _without_host(sitting).model_copy(update={"partial": True})
            events.append(VerdictReached(verdict=verdict))
        events.append(
            DiscussionClosed(status="stopped", stop_reason=stop.reason, detail=stop.detail)
        )
        return (Record(tuple(events)),)


def _without_host(sitting: Sitting) -> Verdict:
    counts = sitting.definition.verdict.by == "aggregate"
    return (computed(sitting) if counts else None) or extracted(sitting)


def _reason(sitting: Sitting, ends: Sequence[End]) -> StopReason:
    """By the last repetition that had a rule: it ended by it, or ran out of passes."""
    ruled = [block for block in blocks(sitting.definition) if block.until is not None]
    if not ruled:
        return "verdict"
    return "converged" if any(end.block == ruled[-1] for end in ends) else "max_rounds"


def _told(end: End) -> str:
    return f"{end.block.name} ended after pass {end.passes}: {end.stop.detail}"


def _early_ends(state: State, ends: Sequence[End]) -> tuple[NoteAdded, ...]:
    """What the reader should know of repetitions that a rule ended before their last pass."""
    known = {note.code for note in state.notes}
    notes = []
    for end in ends:
        code = f"early_stop/{end.block.name}"
        if end.passes < end.block.repeat and code not in known:
            left = end.block.repeat - end.passes
            text = f"{_told(end)}, so {left} further pass(es) were left out."
            notes.append(NoteAdded(code=code, text=text))
    return tuple(notes)


def _missing(sitting: Sitting, failures: Sequence[TurnFailed]) -> tuple[NoteAdded, ...]:
    notes = []
    for failure in failures:
        if failure.participant == sitting.host.id:
            code = "host_failed"
            text = (
                f"The host did not speak ({failure.stage}): {failure.message} It went on without."
            )
        else:
            name = sitting.state.name_of(failure.participant)
            code = "timed_out" if failure.cause == "timeout" else "missing"
            text = (
                f"{name} did not speak in {failure.stage}, round {failure.round}: {failure.message}"
            )
        notes.append(NoteAdded(code=code, text=text, remedy=failure.remedy))
    return tuple(notes)


EXTRACTED_NOTE = NoteAdded(
    code="extracted_verdict",
    text="The host could not write the verdict, so it was made without a model, of what was said "
    "and counted.",
    remedy="Ask again to get a written one.",
)
