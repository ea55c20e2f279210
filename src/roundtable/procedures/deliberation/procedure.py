"""The rules: independent answers, anonymised critique, final ballots, a checked verdict.

Independent unanimity ends it after the first round. Round 1 keeps its ballots as the control
group, so the verdict can say what talk changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.effects import Effect, Record
from ...core.events import Event, NoteAdded, SpeechGiven, TurnFailed
from ...core.stages import closed_stage, run_stage
from ...core.state import State
from ...core.stopping import Stop, budget_exhausted, stop_requested
from ...core.values import Verdict
from .. import endings
from . import records, statement, tasks
from .minutes import take_minutes
from .order_check import check_order
from .sitting import ANSWER, CLERK, CRITIQUE, FIRST_ROUND, LAST_ROUND, MINIMUM, Sitting
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
            or check_order(sitting)
            or self._minutes(sitting)
            or self._critique(sitting)
            or self._statement(sitting)
            or self._conclude(sitting)
        )

    def _answers(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        if not endings.may_open(sitting.state, ANSWER, 1):
            return self._too_few(sitting)
        plans = [tasks.answer(sitting, p) for p in state.participants]
        stage = run_stage(state, plans, closing=lambda _, missing: _missing(state, missing))
        needed = 1 if budget_exhausted(state) else MINIMUM
        if stage.over and len(stage.speeches) < needed:
            return self._too_few(sitting)
        return stage.effects

    def _options(self, sitting: Sitting) -> tuple[Effect, ...]:
        """Where the question names no options, the host lists the positions in the answers."""
        if not (sitting.needs_clerk and sitting.host_writes) or sitting.ballots(FIRST_ROUND):
            return ()
        if not endings.may_open(sitting.state, CLERK, 0):
            return ()
        return run_stage(sitting.state, [tasks.clerk(sitting)]).effects

    def _control_group(self, sitting: Sitting) -> tuple[Effect, ...]:
        if sitting.ballots(FIRST_ROUND):
            return ()
        events = [*records.first_ballots(sitting), *records.raised_points(sitting)]
        if sitting.needs_clerk and sitting.host_writes and not sitting.reading.by_clerk:
            events.append(ROUGH_OPTIONS_NOTE)
        return (Record(tuple(events)),)

    def _minutes(self, sitting: Sitting) -> tuple[Effect, ...]:
        """Points and stances that a round's speeches did not declare in the form. Round 1 needs
        them only where its points are talked over."""
        if sitting.critiques and closed_stage(sitting.state, CRITIQUE, LAST_ROUND) is not None:
            return take_minutes(sitting, LAST_ROUND)
        wanted = sitting.state.start.options.get("critique") and len(sitting.answers) >= MINIMUM
        opened = (CRITIQUE, LAST_ROUND) in sitting.state.stages
        if not wanted or opened or self._stops_early(sitting):
            return ()
        return take_minutes(sitting, FIRST_ROUND)

    def _critique(self, sitting: Sitting) -> tuple[Effect, ...]:
        state = sitting.state
        wanted = state.start.options.get("critique") and len(sitting.answers) >= MINIMUM
        if not wanted or not endings.may_open(sitting.state, CRITIQUE, 2):
            return ()
        if self._stops_early(sitting):
            known = any(note.code == EARLY_STOP for note in state.notes)
            return () if known else (Record((_early_stop_note(sitting),)),)
        here = {speech.participant for speech in sitting.answers}
        plans = [tasks.critique(sitting, p) for p in state.participants if p.id in here]

        def closing(
            speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
        ) -> tuple[Event, ...]:
            return (*records.final_ballots(sitting, speeches), *_missing(state, failures))

        return run_stage(state, plans, closing=closing).effects

    def _stops_early(self, sitting: Sitting) -> bool:
        return bool(sitting.state.start.options.get("early_stop")) and sitting.unanimous

    def _statement(self, sitting: Sitting) -> tuple[Effect, ...]:
        """For value questions: candidates by the host, ranked by everybody."""
        state = sitting.state
        if not statement.wanted(sitting) or not endings.may_open(sitting.state, statement.DRAFT, 0):
            return ()
        drafting = run_stage(state, [statement.draft(sitting)])
        if not drafting.over:
            return drafting.effects
        ranking = (statement.RANKING, statement.RANKING_ROUND)
        plans = statement.rankings(sitting) if statement.candidates(sitting) else []
        if not plans or not endings.may_open(sitting.state, *ranking):
            return ()

        def closing(
            speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
        ) -> tuple[Event, ...]:
            return (*statement.ballots(sitting, speeches), *_missing(state, failures))

        return run_stage(state, plans, closing=closing).effects

    def _conclude(self, sitting: Sitting) -> tuple[Effect, ...]:
        if not sitting.host_writes:
            return self._close(sitting, extracted(sitting))
        won = statement.winner(sitting) if statement.wanted(sitting) else None
        if statement.wanted(sitting) and not (won or budget_exhausted(sitting.state)):
            return self._close(sitting, statement.without_a_statement(sitting), NO_STATEMENT_NOTE)
        plan = statement.revision(sitting) if won else tasks.synthesis(sitting, outcome(sitting))
        stage = run_stage(sitting.state, [plan])
        if not stage.over:
            return stage.effects
        last_word = next(iter(stage.speeches), None)
        if won:
            return self._close(sitting, statement.verdict(sitting, last_word))
        if last_word is None:
            return self._close(sitting, extracted(sitting), EXTRACTED_NOTE)
        return self._close(sitting, written(sitting, last_word))

    def _close(self, sitting: Sitting, verdict: Verdict, *notes: NoteAdded) -> tuple[Effect, ...]:
        return endings.with_verdict(sitting.state, verdict, *notes, finish="the table")

    def _end_early(self, sitting: Sitting, stop: Stop) -> tuple[Effect, ...]:
        """End now, with what exists and without another call. Whoever has spoken has voted."""
        voted = {ballot.participant for ballot in sitting.ballots(LAST_ROUND)}
        unread = [speech for speech in sitting.critiques if speech.participant not in voted]
        if sitting.answers and not sitting.ballots(FIRST_ROUND):
            return self._control_group(sitting)
        if unread:
            return (Record(records.final_ballots(sitting, unread)),)
        return endings.with_what_exists(extracted(sitting) if sitting.last_words else None, stop)

    def _too_few(self, sitting: Sitting) -> tuple[Effect, ...]:
        return endings.without_verdict(
            sitting.state,
            detail=f"{len(sitting.answers)} of {len(sitting.state.participants)} experts answered, "
            "and a deliberation needs at least two.",
            remedy="Try again, or with other models: --models=A,B,C.",
            before="it before enough had answered",
        )


def _missing(state: State, failures: Sequence[TurnFailed]) -> tuple[NoteAdded, ...]:
    names = {p.id: p for p in state.participants}
    return tuple(
        NoteAdded(
            code="timed_out" if failure.cause == "timeout" else "missing",
            text=f"{names[failure.participant].name} did not answer in round {failure.round}: "
            f"{failure.message} {_FOLLOWS[failure.round]}",
            remedy=failure.remedy,
        )
        for failure in failures
    )


_FOLLOWS = {
    FIRST_ROUND: "So its view is missing.",
    LAST_ROUND: "So its view of round 1 stands.",
    statement.RANKING_ROUND: "So the statements are ranked without it.",
}
EARLY_STOP = "early_stop"


def _early_stop_note(sitting: Sitting) -> NoteAdded:
    """What the unanimity of independent answers saved."""
    answers = len(sitting.answers)
    saved = answers * (2 if sitting.state.start.options.get("dual_order") else 1)
    usage = sitting.state.usage
    cost = usage.cost_usd
    money = f", about ${cost / max(1, usage.calls) * saved:.4f}" if cost else ""
    return NoteAdded(
        code=EARLY_STOP,
        text=f"All {answers} independent answers came to the same, so the critique was left out: "
        f"{saved} calls saved{money}.",
        remedy="--always-critique holds it all the same.",
    )


ROUGH_OPTIONS_NOTE = NoteAdded(
    code="rough_options",
    text="The host did not list the positions in the answers, so only positions in the same words "
    "count as the same.",
    remedy="Name the options with --choices=A,B,C.",
)
EXTRACTED_NOTE = NoteAdded(
    code="extracted_verdict",
    text="The host could not write the verdict, so it is an extract of what the experts said, made "
    "without a model. The vote is counted all the same.",
    remedy="Ask again to get a written one.",
)
NO_STATEMENT_NOTE = NoteAdded(
    code="no_statement",
    text="No statement was drafted and ranked, so the position that the vote ranks best stands in "
    "its place, in the words in which it was put to the vote.",
    remedy="Ask again, or with another host: --model=NAME.",
)
