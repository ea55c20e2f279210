"""The adaptive rules: search, meta-panel, debate, second stage, synthesis, validation.

A full run in its normal shape makes 4 calls of the meta-panel, 4 answers, 4 cross-critiques and 1
synthesis; a quick one 3 answers and 1 synthesis. Each group is taken side by side. Where the
question names no options, the orchestrator, as a clerk, lists those in the answers before they are
criticised; where they are not, nothing is put to the vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...core.effects import Effect, LookUp, Record
from ...core.events import (
    Event,
    NoteAdded,
    ParticipantsSeated,
    ScoresGiven,
    SpeechGiven,
    TurnFailed,
    WorkflowChosen,
)
from ...core.scores import has_scores, read_scores
from ...core.stages import closed_stage, run_stage
from ...core.state import State
from ...core.stopping import Stop, stop_requested
from ...core.values import Participant, Verdict
from .. import endings, verdicts
from ..clerk import (
    given_options,
    listed_options,
    with_own_positions,
)
from ..closing import closing_ballot
from . import notes as say
from . import turns
from .design import (
    Design,
    Recommendation,
    decide,
    participant_for,
    read_recommendation,
    writer_participant,
)
from .panels import SEARCH_SECONDS, SYNTHESISER_ID
from .table import (
    ANSWER,
    CRITIQUE,
    META,
    RECHECK,
    SECOND,
    SYNTHESIS,
    VALIDATION,
    PanelTable,
    digest,
)
from .turns import Judged, inaccurate, judge, must_rewrite, outcome

SEARCH_RESULTS = 5


class Adaptive:
    """A meta-panel designs the workflow, a panel works, a neutral synthesiser concludes."""

    name = "adaptive"

    def advance(self, state: State) -> tuple[Effect, ...]:
        table = PanelTable(state)
        if stop := stop_requested(state):
            return _end_early(table, stop)
        return (
            _ground(table)
            or _choose(table)
            or given_options(table)
            or _answer(table)
            or _options(table)
            or _criticise(table)
            or _closing(table)
            or _second_stage(table)
            or _conclude(table)
        )


# --- stages ------------------------------------------------------------------------------------


def _ground(table: PanelTable) -> tuple[Effect, ...]:
    """The search comes before every model call, and never blocks for long."""
    if table.searched or table.state.workflow is not None:
        return ()
    topic, session = table.state.start.topic, table.terms.session
    return (LookUp(topic, SEARCH_RESULTS, SEARCH_SECONDS, session),)


def _choose(table: PanelTable) -> tuple[Effect, ...]:
    """The meta-panel designs the workflow, unless flags or circumstances have settled it."""
    state, terms = table.state, table.terms
    if state.workflow is not None:
        return ()
    if not terms.meta:
        return (Record((_chosen(terms.default),)),)
    if state.seated is None:
        reason = "The meta-panel designs the workflow."
        return (Record((ParticipantsSeated(participants=terms.analysts, reason=reason),)),)
    stage = run_stage(state, [turns.analysis(table, each) for each in terms.analysts])
    if not stage.over:
        return stage.effects
    return (Record(_by_meta_panel(table, stage.speeches)),)


def _answer(table: PanelTable) -> tuple[Effect, ...]:
    """Round 1, independently and side by side."""
    if not endings.may_open(table.state, ANSWER, 1):
        return _nobody(table)
    stage = closed_stage(table.state, ANSWER, 1)
    if stage is None:
        plans = [turns.answer(table, seat) for seat in table.seated(1)]
        stage = run_stage(table.state, plans, closing=partial(_after_answers, table))
    if stage.over and not stage.speeches:
        return _nobody(table)
    return stage.effects


def _options(table: PanelTable) -> tuple[Effect, ...]:
    """The clerk lists what the answers share and where they differ, for those who go on to vote."""
    if not _is_criticised(table, 2):
        return ()
    return listed_options(table, table.answers, name="rt-clerk")


def _criticise(table: PanelTable) -> tuple[Effect, ...]:
    """Cross-critique in round 2 and, where it was designed so, in round 3."""
    for round_ in range(2, table.rounds + 1):
        if not _is_criticised(table, round_):
            return ()
        if closed_stage(table.state, CRITIQUE, round_):
            continue
        if (CRITIQUE, round_) not in table.state.stages and (tabled := with_own_positions(table)):
            return (Record((tabled,)),)
        last = round_ == table.rounds and not table.seated(2)
        plans = [turns.critique(table, s, round_, last=last) for s in _critics(table, round_)]
        return run_stage(table.state, plans, closing=partial(_after_critique, table)).effects
    return ()


def _is_criticised(table: PanelTable, round_: int) -> bool:
    """In a hybrid everybody has another sub-task, so there is nothing to criticise: its second
    stage takes that place."""
    if table.design.workflow == "hybrid" or len(table.critics) < 2 or table.rounds < round_:
        return False
    return bool(_critics(table, round_)) and endings.may_open(table.state, CRITIQUE, round_)


def _critics(table: PanelTable, round_: int) -> list[Participant]:
    """Whoever failed in a round is not asked again: what it said before is its final position."""
    if round_ == 2:
        return table.critics
    heard = {speech.participant for speech in table.critiques(round_ - 1)}
    return [seat for seat in table.critics if seat.id in heard]


def _closing(table: PanelTable) -> tuple[Effect, ...]:
    """What those who heard each other leave open; without a cross-critique nothing is asked."""
    rounds = table.critique_rounds
    taken_up = any(stage == SECOND for stage, _ in table.state.stages)
    return closing_ballot(table, rounds[-1]) if rounds and not taken_up else ()


def _second_stage(table: PanelTable) -> tuple[Effect, ...]:
    """New agents take up everything that stage 1 put out."""
    seats = table.seated(2)
    if not seats or not endings.may_open(table.state, SECOND, table.second_round):
        return ()
    plans = [turns.second(table, seat) for seat in seats]
    return run_stage(table.state, plans, closing=partial(_after_second, table)).effects


def _conclude(table: PanelTable) -> tuple[Effect, ...]:
    """The neutral synthesiser; where it fails the orchestrator; where that fails an extract."""
    if table.synthesiser.speaker.demonstration:
        skipped = (say.NO_DRAFT,) if table.terms.check_synthesis else ()
        return _close(table, verdicts.extracted(table, table.latest), skipped)
    stage = closed_stage(table.state, SYNTHESIS, 0)
    stage = stage or run_stage(table.state, [turns.synthesis(table)])
    if not stage.over:
        return stage.effects
    draft = _usable(table, stage.speeches)
    if draft is None:
        return _last_resort(table)
    if not table.terms.check_synthesis:
        return _close(table, turns.written(table, draft))
    return _validate(table, draft)


def _usable(table: PanelTable, speeches: Sequence[SpeechGiven]) -> SpeechGiven | None:
    """What was written, unless it is a refusal, garbage or somebody else's words."""
    found = (s for s in speeches if not verdicts.unusable(s, turns.SECTIONS, table.latest))
    return next(found, None)


def _last_resort(table: PanelTable) -> tuple[Effect, ...]:
    skipped = (say.NO_DRAFT,) if table.terms.check_synthesis else ()
    if table.host_writes:
        stage = run_stage(table.state, [turns.by_orchestrator(table)])
        if not stage.over:
            return stage.effects
        if written := _usable(table, stage.speeches):
            return _close(table, turns.written(table, written), (say.BY_ORCHESTRATOR, *skipped))
    return _close(table, verdicts.extracted(table, table.latest), (say.EXTRACTED, *skipped))


def _validate(table: PanelTable, draft: SpeechGiven) -> tuple[Effect, ...]:
    """The draft is withheld until those who debated have checked it."""
    if not endings.may_open(table.state, VALIDATION, 0):
        return _close(table, turns.written(table, draft), (say.NO_VALIDATOR,))
    heard = {speech.participant for speech in table.answers}
    plans = [turns.validation(table, s, draft) for s in table.seated(1) if s.id in heard]
    stage = run_stage(
        table.state,
        plans,
        closing=lambda _, failures: tuple(_missing(table, failure) for failure in failures),
    )
    if not stage.over:
        return stage.effects
    judged = [judge(s.participant, s.text, s.sections) for s in stage.speeches]
    if must_rewrite(judged):
        return _rewrite(table, draft, judged)
    return _close_judged(table, draft, judged, _corrections(table, judged))


def _rewrite(table: PanelTable, draft: SpeechGiven, judged: Sequence[Judged]) -> tuple[Effect, ...]:
    """Written anew with every correction, and checked again by those who made them. Once: what is
    still wrong then is said."""
    stage = run_stage(table.state, [turns.rewrite(table, draft, judged)])
    if not stage.over:
        return stage.effects
    rewritten = _usable(table, stage.speeches)
    if rewritten is None:
        notes = [say.REWRITE_FAILED, *_corrections(table, judged)]
        return _close_judged(table, draft, judged, notes)
    told = [say.rewritten(_names(table, inaccurate(judged))), *_taken_up(table, judged)]
    if not endings.may_open(table.state, RECHECK, 0):
        asked = [each.participant for each in turns.corrected(judged)]
        unknown = turns.newest(judged, (), asked)
        return _close_judged(table, rewritten, unknown, [*told, say.NOT_RECHECKED])
    before = {each.participant: each for each in turns.corrected(judged)}
    plans = [
        turns.validation(table, s, rewritten, before[s.id])
        for s in table.seated(1)
        if s.id in before
    ]
    checking = run_stage(
        table.state,
        plans,
        closing=lambda _, failures: tuple(_missing(table, failure) for failure in failures),
    )
    if not checking.over:
        return checking.effects
    again = [judge(s.participant, s.text, s.sections) for s in checking.speeches]
    if len(inaccurate(again)) > len(inaccurate(judged)):
        # Of several attempts the best one is kept, not the last.
        notes = [say.REWRITE_WORSE, *_corrections(table, judged)]
        return _close_judged(table, draft, judged, notes)
    final = turns.newest(judged, again, tuple(before))
    return _close_judged(table, rewritten, final, [*told, *_corrections(table, again)])


def _close_judged(
    table: PanelTable, final: SpeechGiven, judged: Sequence[Judged], notes: Sequence[NoteAdded]
) -> tuple[Effect, ...]:
    value = outcome(judged)
    told = list(notes)
    unread = [each for each in judged if each.judgement is None]
    if unread and value != "no":
        told.append(say.unclear(_names(table, unread)))
    told.append(say.NO_VALIDATOR if value == "no" else say.validated(value))
    return _close(table, turns.written(table, final), told)


def _corrections(table: PanelTable, judged: Sequence[Judged]) -> list[NoteAdded]:
    """What stands uncorrected, whoever calls it wrong."""
    return [
        say.misrepresented(table.name(each.participant), each.correction)
        if each.judgement == "INACCURATE"
        else say.partly(table.name(each.participant), each.correction)
        for each in turns.corrected(judged)
        if each.judgement == "INACCURATE" or each.correction
    ]


def _taken_up(table: PanelTable, judged: Sequence[Judged]) -> list[NoteAdded]:
    return [
        say.taken_up(table.name(each.participant), str(each.judgement), each.correction)
        for each in turns.corrected(judged)
        if each.correction
    ]


def _names(table: PanelTable, judged: Sequence[Judged]) -> str:
    return ", ".join(table.name(each.participant) for each in judged)


# --- ends --------------------------------------------------------------------------------------


def _close(table: PanelTable, verdict: Verdict, notes: Sequence[Event] = ()) -> tuple[Effect, ...]:
    terms, topic = table.terms, table.state.start.topic
    hint: tuple[NoteAdded, ...] = ()
    if not (terms.check_synthesis or terms.quick):
        reviewers = len(table.seated(2))
        hint = say.validate_hint(topic, terms.task_mode, table.consensus.value, reviewers)
    return endings.with_verdict(table.state, verdict, *notes, *hint, finish="the panel")


def _end_early(table: PanelTable, stop: Stop) -> tuple[Effect, ...]:
    """End now, with what exists and without another call."""
    words = table.latest
    return endings.with_what_exists(verdicts.extracted(table, words) if words else None, stop)


def _nobody(table: PanelTable) -> tuple[Effect, ...]:
    """Without a single answer there is nothing to synthesise, and nothing is made up."""
    return endings.without_verdict(
        table.state,
        needs=1,
        detail=f"0 agents answered, of {len(table.seated(1))}: there is no synthesis."
        f"{endings.reasons(table.state)}",
        remedy="Ask again in a moment, or try other models: --models budget or --models MODEL,…",
        before="the run before anybody had answered",
    )


# --- from the meta-panel's words to the seats ----------------------------------------------------


def _by_meta_panel(table: PanelTable, speeches: Sequence[SpeechGiven]) -> tuple[Event, ...]:
    """The workflow that the recommendations come to; the default where there are none."""
    terms, host = table.terms, table.host
    found = [r for s in speeches if (r := read_recommendation(s.participant, s.text)) is not None]
    decision = None
    if found:
        decision = decide(
            found,
            terms.bench,
            orchestrator=host.speaker.model,
            forced=terms.forced,
            max_panel=terms.max_panel,
            rounds=terms.default.rounds,
            roles=[seat.role for seat in terms.default.seats],
            synthesis=terms.synthesis,
            named=terms.named_host,
            asked=terms.asked_host,
        )
    if decision is not None and terms.rounds is not None:
        wanted = decision.design.model_copy(update={"rounds": terms.rounds})
        decision = decision.model_copy(update={"design": wanted})
    if decision is None:
        notes: tuple[NoteAdded, ...] = (
            say.meta_failed(_silent(table, found)),
            *terms.default_notes,
        )
        reason = "The meta-panel gave no recommendation: the default panel of the mode."
        return (_chosen(terms.default), _seated(table.state.start.participants, reason), *notes)
    bench = {each.name: each for each in terms.bench}
    seats = decision.design.seats
    panel = [participant_for(plan, bench[decision.speakers[plan.id]]) for plan in seats]
    writer = writer_participant(bench[decision.speakers[SYNTHESISER_ID]].speakers)
    first = [who for plan, who in zip(seats, panel, strict=True) if plan.stage == 1]
    notes = (*decision.notes, *say.bias(first, host, writer.speaker.model))
    if decision.design.left_out:
        notes = (*notes, say.left_out(decision.design.left_out))
    if len(found) < len(terms.analysts):
        notes = (say.meta_partly(_silent(table, found), len(found)), *notes)
    reason = f"Designed by the meta-panel: {decision.design.workflow}."
    return (_chosen(decision.design), _seated((*panel, writer), reason), *notes)


def _chosen(design: Design) -> WorkflowChosen:
    return WorkflowChosen(
        workflow=design.workflow, rounds=design.rounds, design=design.model_dump(mode="json")
    )


def _seated(participants: Sequence[Participant], reason: str) -> ParticipantsSeated:
    return ParticipantsSeated(participants=tuple(participants), reason=reason)


def _silent(table: PanelTable, found: Sequence[Recommendation]) -> str:
    """Who gave no recommendation, and why."""
    heard = {each.analyst for each in found}
    failed = {f.participant: f for f in table.state.failures if f.stage == META}
    told = []
    for analyst in table.terms.analysts:
        if analyst.id in heard:
            continue
        failure = failed.get(analyst.id)
        if failure is None:
            why = "no workflow in its answer"
        else:
            mark = f"{say.TIMEOUT} " if failure.cause == "timeout" else ""
            why = f"{mark}{failure.message.removesuffix('.')}"
        told.append(f"{analyst.name}: {why}")
    return "; ".join(told) or "nobody on the bench may be seated"


# --- what is recorded when a stage closes --------------------------------------------------------


def _after_answers(
    table: PanelTable, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    found: list[NoteAdded] = [_missing(table, failure) for failure in failures]
    wanted = table.rounds > 1 and table.design.workflow != "hybrid"
    empty = [s for s in speeches if not digest(s)]
    if len(speeches) == 1:
        found.append(say.ONE_SURVIVOR)
    elif wanted and speeches:
        found.extend(say.no_digest(table.name(s.participant)) for s in empty)
        if len(speeches) - len(empty) < 2:
            found.append(say.NO_PEERS)
    return tuple(found)


def _after_critique(
    table: PanelTable, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    found = [_missing(table, failure, say.STANDS) for failure in failures]
    return (*_written_scores(table, speeches), *found)


def _after_second(
    table: PanelTable, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    """Stage 2 is not asked for scores; where it writes some, they count."""
    found = [_missing(table, failure) for failure in failures]
    if not speeches:
        found.append(say.STAGE_2_FAILED)
    return (*_written_scores(table, [s for s in speeches if has_scores(s.text)]), *found)


def _written_scores(table: PanelTable, speeches: Sequence[SpeechGiven]) -> tuple[Event, ...]:
    """Scores are declared. Of a speech that declares none, a `SCORES:` block is understood; what is
    not clean in it is marked, and no figure is made of it."""
    given: list[ScoresGiven] = []
    doubtful: list[tuple[str, str]] = []
    roles = {seat.id: seat.name for seat in table.critics}
    everybody = [seat.role for seat in table.design.seats]
    for speech in speeches:
        declared = speech.declaration
        said = declared is not None and (declared.scores or declared.abstain is not None)
        others = {who: role for who, role in roles.items() if who != speech.participant}
        if said or not others or speech.participant in table.record.demonstration:
            continue
        read = read_scores(speech.text, others, everybody)
        given.append(
            ScoresGiven(
                turn_id=speech.turn_id,
                participant=speech.participant,
                round=speech.round,
                scores=dict(read.given),
                inferred=read.inferred,
            )
        )
        critic = table.name(speech.participant)
        doubtful.extend((critic, others[peer]) for peer in read.inferred)
    return (*given, say.inferred(doubtful)) if doubtful else tuple(given)


def _missing(table: PanelTable, failure: TurnFailed, stands: str = "") -> NoteAdded:
    """Who did not answer, and what to do about it."""
    turn = table.state.turn(failure.turn_id)
    model = turn.attempts[-1].started.model if turn and turn.attempts else ""
    return say.absent(table.name(failure.participant), failure, model, stands=stands)
