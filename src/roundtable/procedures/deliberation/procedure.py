"""The rules: independent answers, anonymised critique, final ballots, a checked verdict.

Independent unanimity ends it after the first round. Round 1 keeps its ballots as the control
group, so the verdict can say what talk changed.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from . import tasks
from .sitting import ANSWER, CLERK, CRITIQUE, MINIMUM, Sitting
from .verdict import extracted, outcome, written


class Deliberation:
    """Experts answer alone, review each other without names, and vote."""

    name = "deliberation"

    def advance(self, state: State) -> tuple[Effect, ...]:
        sitting = Sitting(state)
        if stop := stop_requested(state):
            return self._end_early(sitting, stop)
        return (
            self._answers(sitting)
            or self._options(sitting)
            or self._control_group(sitting)
            or self._critique(sitting)
            or self._conclude(sitting)
        )

    def _answers(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        if not self._may_open(sitting, ANSWER, 1):
            return self._too_few(sitting)
        plans = [tasks.answer(sitting, p) for p in state.participants]
        stage = run_stage(state, plans, closing=lambda _, missing: _missing(state, missing))
        needed = 1 if budget_exhausted(state) else MINIMUM
        if stage.over and len(stage.speeches) < needed:
            return self._too_few(sitting)
        return stage.effects

    def _options(self, sitting: Sitting) -> tuple[Effect, ...]:
        """Where the question names no options, the host lists the positions in the answers."""
        if not (sitting.needs_clerk and sitting.host_writes) or sitting.ballots(1):
            return ()
        if not self._may_open(sitting, CLERK, 0):
            return ()
        return run_stage(sitting.state, [tasks.clerk(sitting)]).effects

    def _control_group(self, sitting: Sitting) -> tuple[Effect, ...]:
        if sitting.ballots(1):
            return ()
        events = [*sitting.first_ballots(), *sitting.raised_points()]
        if sitting.needs_clerk and not sitting.state.spoken_in(CLERK, 0):
            events.append(ROUGH_OPTIONS_NOTE)
        return (Record(tuple(events)),)

    def _critique(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        wanted = state.start.options.get("critique") and len(sitting.answers) >= MINIMUM
        if not wanted or not self._may_open(sitting, CRITIQUE, 2):
            return ()
        if self._stops_early(sitting):
            known = any(note.code == EARLY_STOP for note in state.notes)
            return () if known else (Record((_early_stop_note(sitting),)),)
        here = {speech.participant for speech in sitting.answers}
        plans = [tasks.critique(sitting, p) for p in state.participants if p.id in here]

        def closing(
            speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
        ) -> tuple[Event, ...]:
            return (*sitting.final_ballots(speeches), *_missing(state, failures))

        return run_stage(state, plans, closing=closing).effects

    def _stops_early(self, sitting: Sitting) -> bool:
        return bool(sitting.state.start.options.get("early_stop")) and sitting.unanimous

    def _conclude(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        verdict = None
        if sitting.host_writes:
            stage = run_stage(state, [tasks.synthesis(sitting, outcome(sitting))])
            if not stage.over:
                return stage.effects
            if stage.speeches:
                verdict = written(sitting, stage.speeches[0])
        notes: tuple[Event, ...] = ()
        if verdict is None:
            verdict = extracted(sitting)
            if sitting.host_writes:
                notes = (EXTRACTED_NOTE,)
        if (spent := budget_exhausted(state)) is not None:
            verdict = verdict.model_copy(update={"partial": True})
            closed = DiscussionClosed(
                status="stopped",
                stop_reason="budget",
                detail=f"Stopped by {spent.detail}.",
                remedy="Raise the limit to let the table finish.",
            )
        else:
            closed = DiscussionClosed(status="concluded", stop_reason="verdict")
        return (Record((*notes, VerdictReached(verdict=verdict), closed)),)

    def _end_early(self, sitting: Sitting, stop: Stop) -> tuple[Effect, ...]:
        """End now, with what exists and without another call."""
        events: list[Event] = []
        if sitting.last_words:
            verdict = extracted(sitting).model_copy(update={"partial": True})
            events.append(VerdictReached(verdict=verdict))
        events.append(
            DiscussionClosed(status="stopped", stop_reason=stop.reason, detail=stop.detail)
        )
        return (Record(tuple(events)),)

    def _too_few(self, sitting: Sitting) -> tuple[Effect, ...]:
        spent = budget_exhausted(sitting.state)
        count = len(sitting.answers)
        closed = DiscussionClosed(
            status="failed",
            stop_reason="budget" if spent else "too_few_answers",
            detail=f"The budget ended it before enough had answered: {spent.detail}."
            if spent
            else f"{count} of {len(sitting.state.participants)} experts answered, and a "
            "deliberation needs at least two.",
            remedy="Raise the limit and ask again."
            if spent
            else "Try again, or with other models: --models=A,B,C.",
        )
        return (Record((closed,)),)

    def _may_open(self, sitting: Sitting, stage: str, round_: int) -> bool:
        """A spent budget opens nothing new, but lets what is open come to its end."""
        return (stage, round_) in sitting.state.stages or not budget_exhausted(sitting.state)


def _missing(state: State, failures: Sequence[TurnFailed]) -> tuple[NoteAdded, ...]:
    names = {p.id: p for p in state.participants}
    return tuple(
        NoteAdded(
            code="timed_out" if failure.cause == "timeout" else "missing",
            text=f"{names[failure.participant].name} did not answer in round {failure.round}: "
            f"{failure.message} So its view "
            + ("of round 1 stands." if failure.round > 1 else "is missing."),
            remedy=failure.remedy,
        )
        for failure in failures
    )


EARLY_STOP = "early_stop"


def _early_stop_note(sitting: Sitting) -> NoteAdded:
    """What the unanimity of independent answers saved."""
    saved = len(sitting.answers)
    usage = sitting.state.usage
    cost = usage.cost_usd
    money = f", about ${cost / max(1, usage.calls) * saved:.4f}" if cost else ""
    return NoteAdded(
        code=EARLY_STOP,
        text=f"All {saved} independent answers came to the same, so the critique was left out: "
        f"{saved} calls saved{money}.",
        remedy="--always-critique holds it all the same.",
    )


ROUGH_OPTIONS_NOTE = NoteAdded(
    code="rough_options",
    text="No clerk listed the positions, so only answers in the same words count as the same.",
    remedy="Name the options with --choices=A,B,C.",
)
EXTRACTED_NOTE = NoteAdded(
    code="extracted_verdict",
    text="The host could not write the verdict, so it is an extract of what the experts said, made "
    "without a model. The vote is counted all the same.",
    remedy="Ask again to get a written one.",
)
