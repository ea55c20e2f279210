"""The council's rules: briefing, answers, summary, cross-examination, synthesis.

The longest path is five calls with round 2 and three without: the Captain splits the question,
the three answer side by side, the Captain sums up, the three cross-examine side by side, and the
Captain concludes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.effects import AskPerson, Effect, LookUp
from ...core.events import BallotCast, Event, NoteAdded, SpeechGiven, TurnFailed
from ...core.stages import closed_stage, run_stage
from ...core.state import State
from ...core.stopping import Stop, budget_exhausted, stop_requested
from .. import endings
from . import tasks
from .roles import BY_ID
from .sitting import (
    ANSWER,
    BRIEF,
    CROSS_EXAMINATION,
    MINIMUM,
    ROUND2_QUESTION,
    SUMMARY,
    Sitting,
    ballot,
)
from .verdict import extracted, joint_findings, written


class Council:
    """Scholar, Engineer and Muse, led by a Captain."""

    name = "council"

    def advance(self, state: State) -> tuple[Effect, ...]:
        sitting = Sitting(state)
        if stop := stop_requested(state):
            return self._end_early(sitting, stop)
        return (
            self._prepare(sitting)
            or self._first_round(sitting)
            or self._second_round(sitting)
            or self._conclude(sitting)
        )

    def _prepare(self, sitting: Sitting) -> tuple[Effect, ...]:
        """The Captain splits the question while the search runs."""
        state = sitting.state
        if (ANSWER, 1) in state.stages:
            return ()
        effects: list[Effect] = []
        if state.start.options.get("search") and not state.searches:
            effects.append(LookUp(state.start.topic))
        if sitting.captain_writes and endings.may_open(state, BRIEF, 0):
            briefing = run_stage(state, [tasks.briefing(sitting)], closing=_briefing_notes)
            effects.extend(briefing.effects)
        return tuple(effects)

    def _first_round(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        if not endings.may_open(state, ANSWER, 1):
            return self._too_few(sitting)
        stage = closed_stage(state, ANSWER, 1)
        if stage is None:
            plans = [tasks.answer(sitting, p) for p in state.start.participants]
            stage = run_stage(state, plans, closing=_Closing(state, minimum=MINIMUM))
        if stage.over and len(stage.speeches) < self._needed(sitting):
            return self._too_few(sitting)
        return stage.effects

    def _second_round(self, sitting: Sitting) -> tuple[Effect, ...]:
        """Cross-examination by those who answered, on the Captain's joint findings."""
        state = sitting.state
        if len(sitting.answers) < MINIMUM:
            return ()
        if closed_stage(state, CROSS_EXAMINATION, 2):
            return ()
        begun = (SUMMARY, 0) in state.stages or (CROSS_EXAMINATION, 2) in state.stages
        if budget_exhausted(state) and not begun:
            return ()
        if sitting.round2_wanted is None:
            return (
                AskPerson(
                    question=ROUND2_QUESTION,
                    text="Hold round 2, the cross-examination? It costs about twice as much.",
                    options=("yes", "no"),
                    default="no",
                ),
            )
        if not sitting.round2_wanted:
            return ()
        summary = None
        if sitting.captain_writes:
            summary = run_stage(state, [tasks.summary(sitting)], closing=_summary_notes)
        if summary is not None and not summary.over:
            return summary.effects
        if budget_exhausted(state) and (CROSS_EXAMINATION, 2) not in state.stages:
            return ()
        findings = summary.speeches[0].text if summary and summary.speeches else None
        if findings is None:
            findings = joint_findings(sitting)
        here = {speech.participant for speech in sitting.answers}
        seated = [p for p in state.start.participants if p.id in here]
        plans = [tasks.cross_examination(sitting, p, findings) for p in seated]
        return run_stage(
            state, plans, closing=_Closing(state, minimum=MINIMUM, second=True)
        ).effects

    def _conclude(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        verdict = None
        if sitting.captain_writes:
            stage = run_stage(state, [tasks.synthesis(sitting)])
            if not stage.over:
                return stage.effects
            if stage.speeches:
                verdict = written(sitting, stage.speeches[0])
        notes: tuple[NoteAdded, ...] = ()
        if verdict is None:
            verdict = extracted(sitting)
            if sitting.captain_writes:
                notes = (EXTRACTED_NOTE,)
        return endings.with_verdict(state, verdict, *notes, finish="the council")

    def _end_early(self, sitting: Sitting, stop: Stop) -> tuple[Effect, ...]:
        """End now, with what exists and without another call."""
        return endings.with_what_exists(extracted(sitting) if sitting.last_words else None, stop)

    def _too_few(self, sitting: Sitting) -> tuple[Effect, ...]:
        return endings.without_verdict(
            sitting.state,
            detail=f"Sorry: {len(sitting.answers)} of {len(sitting.state.start.participants)} "
            "specialists answered, and a synthesis needs at least two.",
            remedy="Try again with --preset=cheap, or with one model for all: --all=MODEL.",
            before="the council before anybody had answered",
        )

    def _needed(self, sitting: Sitting) -> int:
        """A council that ran out of budget still concludes from a single answer."""
        return 1 if budget_exhausted(sitting.state) else MINIMUM


class _Closing:
    """What is recorded when a round closes: its ballots, and who is missing from it."""

    def __init__(self, state: State, *, minimum: int, second: bool = False) -> None:
        self.state = state
        self.minimum = minimum
        self.second = second

    def __call__(
        self, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
    ) -> tuple[Event, ...]:
        ballots: list[BallotCast] = [ballot(self.state, speech) for speech in speeches]
        notes = [_missing_note(failure, second=self.second) for failure in failures]
        refused = any(failure.cause == "budget" for failure in failures)
        if self.second and len(speeches) < self.minimum and not refused:
            notes.append(ROUND2_OMITTED_NOTE)
        return (*ballots, *notes)


def _missing_note(failure: TurnFailed, *, second: bool) -> NoteAdded:
    name = BY_ID[failure.participant].name
    mark = f"[Agent {name} timed out] " if failure.cause == "timeout" else ""
    stands = (
        "its first answer stands"
        if second
        else f"its perspective ({BY_ID[failure.participant].perspective}) is missing"
    )
    return NoteAdded(
        code="timed_out" if failure.cause == "timeout" else "missing",
        text=f"{mark}The {name} did not answer in round {failure.round}: {failure.message} "
        f"So {stands}.",
        remedy=failure.remedy,
    )


def _briefing_notes(
    _speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    return tuple(
        NoteAdded(
            code="briefing_failed",
            text="The Captain could not split the question, so each role took its standing task: "
            f"{failure.message}",
            remedy=failure.remedy,
        )
        for failure in failures
    )


def _summary_notes(
    _speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    return tuple(
        NoteAdded(
            code="summary_failed",
            text="The Captain could not sum up round 1, so the cross-examination is held on an "
            f"extract of the answers, made without a model: {failure.message}",
            remedy=failure.remedy,
        )
        for failure in failures
    )


ROUND2_OMITTED_NOTE = NoteAdded(
    code="round2_omitted",
    text="The cross-examination was left out for lack of agents; the first answers stand.",
    remedy="Ask again, or choose other models.",
)
EXTRACTED_NOTE = NoteAdded(
    code="extracted_verdict",
    text="The Captain could not write the synthesis, so the verdict is an extract of what the "
    "specialists said, made without a model.",
    remedy="Ask again to get a written one.",
)
