"""The adaptive rules: search, meta-panel, debate, second stage, synthesis, validation.

A full run in its normal shape makes 4 calls of the meta-panel, 4 answers, 4 cross-critiques and 1
synthesis; a quick one 3 answers and 1 synthesis. Each group is taken side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...core.effects import Effect, LookUp, Record
from ...core.events import (
    Event,
    NoteAdded,
    ParticipantsSeated,
    SpeechGiven,
)
from ...core.stages import closed_stage, run_stage
from ...core.state import State
from ...core.stopping import Stop, stop_requested
from ...core.values import Participant, Verdict
from .. import endings
from . import concluding, tasks
from . import notes as say
from .choosing import by_default, by_meta_panel
from .closing import after_answers, after_critique, after_second, missing
from .design import SeatPlan
from .hints import validate_hint
from .panels import SEARCH_SECONDS
from .sitting import ANSWER, CRITIQUE, SECOND, VALIDATION, Sitting
from .validation import Judged, inaccurate, judge, must_rewrite, outcome
from .verdict import extracted, written

SEARCH_RESULTS = 5


class Adaptive:
    """A meta-panel designs the workflow, a panel works, a neutral synthesiser concludes."""

    name = "adaptive"

    def advance(self, state: State) -> tuple[Effect, ...]:
        sitting = Sitting(state)
        if stop := stop_requested(state):
            return _end_early(sitting, stop)
        return (
            _ground(sitting)
            or _choose(sitting)
            or _answer(sitting)
            or _criticise(sitting)
            or _second_stage(sitting)
            or _conclude(sitting)
        )


def _ground(sitting: Sitting) -> tuple[Effect, ...]:
    """The search comes before every model call, and never blocks for long."""
    if sitting.searched or sitting.state.workflow is not None:
        return ()
    topic, session = sitting.state.start.topic, sitting.terms.session
    return (LookUp(topic, SEARCH_RESULTS, SEARCH_SECONDS, session),)


def _choose(sitting: Sitting) -> tuple[Effect, ...]:
    """The meta-panel designs the workflow, unless flags or circumstances have settled it."""
    state, terms = sitting.state, sitting.terms
    if state.workflow is not None:
        return ()
    if not terms.meta:
        return (Record(by_default(sitting)),)
    if state.seated is None:
        reason = "The meta-panel designs the workflow."
        return (Record((ParticipantsSeated(participants=terms.analysts, reason=reason),)),)
    stage = run_stage(state, [tasks.analysis(sitting, each) for each in terms.analysts])
    if not stage.over:
        return stage.effects
    return (Record(by_meta_panel(sitting, stage.speeches)),)


def _answer(sitting: Sitting) -> tuple[Effect, ...]:
    """Round 1, independently and side by side."""
    if not endings.may_open(sitting.state, ANSWER, 1):
        return _nobody(sitting)
    stage = closed_stage(sitting.state, ANSWER, 1)
    if stage is None:
        plans = [tasks.answer(sitting, seat, who) for seat, who in sitting.seated(1)]
        stage = run_stage(sitting.state, plans, closing=partial(after_answers, sitting))
    if stage.over and not stage.speeches:
        return _nobody(sitting)
    return stage.effects


def _criticise(sitting: Sitting) -> tuple[Effect, ...]:
    """Cross-critique in round 2 and, where it was designed so, in round 3. In a hybrid everybody
    has another sub-task, so there is nothing to score: its second stage takes that place."""
    if sitting.design.workflow == "hybrid" or len(sitting.critics) < 2:
        return ()
    for round_ in range(2, sitting.rounds + 1):
        critics = _critics(sitting, round_)
        if not critics or not endings.may_open(sitting.state, CRITIQUE, round_):
            return ()
        if closed_stage(sitting.state, CRITIQUE, round_):
            continue
        plans = [tasks.critique(sitting, seat, who, round_) for seat, who in critics]
        stage = run_stage(sitting.state, plans, closing=partial(after_critique, sitting))
        if not stage.over:
            return stage.effects
    return ()


def _critics(sitting: Sitting, round_: int) -> list[tuple[SeatPlan, Participant]]:
    """Whoever failed in a round is not asked again: what it said before is its final position."""
    if round_ == 2:
        return sitting.critics
    heard = {speech.participant for speech in sitting.critiques(round_ - 1)}
    return [(seat, who) for seat, who in sitting.critics if seat.id in heard]


def _second_stage(sitting: Sitting) -> tuple[Effect, ...]:
    """New agents take up everything that stage 1 put out."""
    seats = sitting.seated(2)
    if not seats or not endings.may_open(sitting.state, SECOND, sitting.second_round):
        return ()
    plans = [tasks.second(sitting, seat, who) for seat, who in seats]
    return run_stage(sitting.state, plans, closing=partial(after_second, sitting)).effects


def _conclude(sitting: Sitting) -> tuple[Effect, ...]:
    """The neutral synthesiser; where it fails the orchestrator; where that fails an extract."""
    if sitting.synthesiser.speaker.demonstration:
        skipped = (say.NO_DRAFT,) if sitting.terms.check_synthesis else ()
        return _close(sitting, extracted(sitting), skipped)
    stage = run_stage(sitting.state, [concluding.synthesis(sitting)])
    if not stage.over:
        return stage.effects
    if not stage.speeches:
        return _last_resort(sitting)
    draft = stage.speeches[0]
    if not sitting.terms.check_synthesis:
        return _close(sitting, written(sitting, draft))
    return _validate(sitting, draft)


def _last_resort(sitting: Sitting) -> tuple[Effect, ...]:
    skipped = (say.NO_DRAFT,) if sitting.terms.check_synthesis else ()
    if not sitting.host.speaker.demonstration:
        stage = run_stage(sitting.state, [concluding.by_orchestrator(sitting)])
        if not stage.over:
            return stage.effects
        if stage.speeches:
            notes = (say.BY_ORCHESTRATOR, *skipped)
            return _close(sitting, written(sitting, stage.speeches[0]), notes)
    return _close(sitting, extracted(sitting), (say.EXTRACTED, *skipped))


def _validate(sitting: Sitting, draft: SpeechGiven) -> tuple[Effect, ...]:
    """The draft is withheld until those who debated have checked it."""
    if not endings.may_open(sitting.state, VALIDATION, 0):
        return _close(sitting, written(sitting, draft), (say.NO_VALIDATOR,))
    heard = {speech.participant for speech in sitting.answers}
    seats = [(seat, who) for seat, who in sitting.seated(1) if seat.id in heard]
    plans = [concluding.validation(sitting, seat, who, draft) for seat, who in seats]
    stage = run_stage(
        sitting.state,
        plans,
        closing=lambda _, failures: tuple(missing(sitting, failure) for failure in failures),
    )
    if not stage.over:
        return stage.effects
    judged = [judge(s.participant, s.text, s.sections) for s in stage.speeches]
    final = draft
    notes: list[NoteAdded] = []
    if must_rewrite(judged):
        rewriting = run_stage(sitting.state, [concluding.rewrite(sitting, draft, judged)])
        if not rewriting.over:
            return rewriting.effects
        if rewriting.speeches:
            final = rewriting.speeches[0]
            notes.append(say.rewritten(_roles(sitting, inaccurate(judged))))
        else:
            notes += [say.REWRITE_FAILED, *_warnings(sitting, judged)]
    else:
        notes += _warnings(sitting, judged)
    value = outcome(judged)
    unread = [each for each in judged if each.judgement is None]
    if unread and value != "no":
        notes.append(say.unclear(_roles(sitting, unread)))
    notes.append(say.NO_VALIDATOR if value == "no" else say.validated(value))
    return _close(sitting, written(sitting, final), notes)


def _warnings(sitting: Sitting, judged: Sequence[Judged]) -> list[NoteAdded]:
    return [
        say.misrepresented(sitting.role(each.participant), each.correction)
        for each in inaccurate(judged)
    ]


def _roles(sitting: Sitting, judged: Sequence[Judged]) -> str:
    return ", ".join(sitting.role(each.participant) for each in judged)


def _close(sitting: Sitting, verdict: Verdict, notes: Sequence[Event] = ()) -> tuple[Effect, ...]:
    hint = validate_hint(sitting)
    return endings.with_verdict(sitting.state, verdict, *notes, *hint, finish="the panel")


def _end_early(sitting: Sitting, stop: Stop) -> tuple[Effect, ...]:
    """End now, with what exists and without another call."""
    return endings.with_what_exists(extracted(sitting) if sitting.last_words else None, stop)


def _nobody(sitting: Sitting) -> tuple[Effect, ...]:
    """Without a single answer there is nothing to synthesise, and nothing is made up."""
    return endings.without_verdict(
        sitting.state,
        detail=f"0 agents answered, of {len(sitting.seated(1))}: there is no synthesis.",
        remedy="Ask again in a moment, or try other models: --panel budget or --panel MODEL,…",
        before="the run before anybody had answered",
    )
