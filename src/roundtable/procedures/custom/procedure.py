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
from .. import endings, verdicts
from ..clerk import listed_options, tabled_by_asker, with_own_positions
from ..closing import closing_ballot
from . import tasks
from .schedule import Step, blocks
from .table import CustomTable, End, table_of
from .verdict import computed, extracted, written


@dataclass(frozen=True, slots=True)
class Custom:
    """Interprets the definition that the discussion carries with it."""

    name: str

    def advance(self, state: State) -> tuple[Effect, ...]:
        table = table_of(state)
        if stop := stop_requested(state):
            return self._end_early(table, stop)
        if not state.tabled:
            tabled = table.tabled_by_file or tabled_by_asker(table)
            if tabled is not None:
                return (Record((tabled,)),)
        ends: list[End] = []
        for step in table.steps(ends):
            if notes := _early_ends(state, ends):
                return (Record(notes),)
            if budget_exhausted(state) and not table.opened(step):
                break
            if not table.closed(step):
                if not table.opened(step) and (effects := self._options(table, step)):
                    return effects
                return self._hold(table, step)
            if self._too_few(table, step):
                if budget_exhausted(state) and table.newest:
                    break
                return self._give_up(table, step)
        if notes := _early_ends(state, ends):
            return (Record(notes),)
        if not table.newest and budget_exhausted(state):
            return self._give_up(table, None)
        return self._options(table, None) or self._votes(table) or self._conclude(table, ends)

    def _options(self, table: CustomTable, step: Step | None) -> tuple[Effect, ...]:
        """Before a stage that decides, or at the end: what can be voted on. Where the question
        names nothing, the host lists it from what was declared so far; afterwards, positions that
        no option says join the table."""
        state = table.state
        declared = [s for s in table.newest if s.declaration and s.declaration.position]
        if not table.definition.decides or (step is not None and not step.stage.decides):
            return ()
        if not state.tabled:
            return listed_options(table, declared)
        tabled = with_own_positions(table) if step is not None else None
        return (Record((tabled,)),) if tabled is not None else ()

    def _votes(self, table: CustomTable) -> tuple[Effect, ...]:
        """What is still open before the question is counted."""
        if not table.definition.decides:
            return ()
        return closing_ballot(table, table.rounds, unvoted=True)

    def _hold(self, table: CustomTable, step: Step) -> tuple[Effect, ...]:
        def closing(_: Sequence[SpeechGiven], failures: Sequence[TurnFailed]) -> tuple[Event, ...]:
            return _missing(table, failures)

        plans = tasks.plans(table, step)
        return run_stage(table.state, plans, step.stage.order, closing).effects

    def _too_few(self, table: CustomTable, step: Step) -> bool:
        if step.stage.by_host:
            return False
        needed = 1 if budget_exhausted(table.state) else step.stage.min_survivors
        return len(table.said_in(step)) < needed

    def _give_up(self, table: CustomTable, step: Step | None) -> tuple[Effect, ...]:
        """Too few spoke: with the words of an earlier stage a partial verdict, else none."""
        state = table.state
        spent = budget_exhausted(state)
        reason: StopReason = "budget" if spent else "too_few_answers"
        held = step is not None and any(s.round not in (0, step.round) for s in table.held)
        if spent or step is None:
            why = f": {spent.detail}" if spent else ""
            detail = f"The budget ended it before anybody had spoken{why}."
            remedy = endings.to_raise(state)
        else:
            count, seats = len(table.said_in(step)), len(table.speakers(step))
            detail = (
                f"{count} of {seats} spoke in {step.stage.name} (round {step.round}), and it needs "
                f"at least {step.stage.min_survivors}.{endings.reasons(state)}"
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
        verdict = _without_host(table).model_copy(update={"partial": True})
        return (Record((VerdictReached(verdict=verdict), closed)),)

    def _conclude(self, table: CustomTable, ends: Sequence[End]) -> tuple[Effect, ...]:
        state = table.state
        verdict: Verdict | None = None
        notes: tuple[Event, ...] = ()
        if table.host_concludes:
            stage = run_stage(state, [tasks.verdict(table)])
            if not stage.over:
                return stage.effects
            word = next(iter(stage.speeches), None)
            sections = table.definition.verdict.sections
            why = verdicts.unusable(word, sections, table.newest)
            if word is None or why:
                notes = (verdicts.extracted_because(why, EXTRACTED_NOTE),)
            else:
                verdict = written(table, word)
        verdict = verdict or _without_host(table)
        if (before := state.unchanged) is not None:
            verdict, closed = before.verdict, before.closed
        elif (spent := budget_exhausted(state)) is not None:
            verdict = verdict.model_copy(update={"partial": True})
            closed = DiscussionClosed(
                status="stopped",
                stop_reason="budget",
                detail=f"Stopped by {spent.detail}.",
                remedy=endings.to_let_finish(state, "the table"),
            )
        else:
            closed = DiscussionClosed(
                status="concluded",
                stop_reason=_reason(table, ends),
                detail="; ".join(_told(end) for end in ends),
            )
        return (Record((*notes, VerdictReached(verdict=verdict), closed)),)

    def _end_early(self, table: CustomTable, stop: Stop) -> tuple[Effect, ...]:
        """End now, with what exists and without another call."""
        events: list[Event] = []
        if table.newest:
            verdict = _without_host(table).model_copy(update={"partial": True})
            events.append(VerdictReached(verdict=verdict))
        events.append(
            DiscussionClosed(status="stopped", stop_reason=stop.reason, detail=stop.detail)
        )
        return (Record(tuple(events)),)


def _without_host(table: CustomTable) -> Verdict:
    counts = table.definition.verdict.by == "aggregate"
    return (computed(table) if counts else None) or extracted(table)


def _reason(table: CustomTable, ends: Sequence[End]) -> StopReason:
    """By the last repetition that had a rule: it ended by it, or ran out of passes."""
    ruled = [block for block in blocks(table.definition) if block.until is not None]
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


def _missing(table: CustomTable, failures: Sequence[TurnFailed]) -> tuple[NoteAdded, ...]:
    notes = []
    for failure in failures:
        if failure.participant == table.host.id:
            code = "host_failed"
            text = (
                f"The host did not speak ({failure.stage}): {failure.message} It went on without."
            )
        else:
            name = table.state.name_of(failure.participant)
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
