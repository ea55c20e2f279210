"""The rules: independent answers, anonymised critique, final votes, a checked verdict.

Independent agreement that every seat confirms ends it after the first round. What the seats held
before talk is kept as the control group, so the verdict can say what talk changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.contracts import Contract
from ...core.declaration_form import LAST, OPENING, Key
from ...core.effects import (
    Effect,
    PromptPlan,
    Record,
    SectionShape,
    Task,
    TurnPlan,
    TurnPolicy,
    Untrusted,
)
from ...core.events import Event, NoteAdded, SpeechGiven, TurnFailed
from ...core.stages import closed_stage, run_stage
from ...core.state import State
from ...core.stopping import Stop, budget_exhausted, stop_requested
from ...core.text import all_of, dollars, first_sentences
from ...core.values import Participant, Verdict
from .. import endings, verdicts
from ..clerk import given_choices, given_options, listed_options
from ..closing import closing_ballot
from ..table import Table
from ..work import declaring_work, wants_work, works_to_judge
from . import statement
from .order_check import OTHER_ORDER, check_order

ANSWER, CONFIRM, CRITIQUE, SYNTHESIS = "answer", "confirm", "critique", "synthesis"
FIRST_ROUND, LAST_ROUND = 1, 2
MINIMUM = 2
EXPERT = TurnPolicy(timeout=120, deadline=150, retries=1, repairs=1)
CONFIRMING = TurnPolicy(timeout=90, deadline=100, retries=1)
CONCLUDING = TurnPolicy(timeout=180, deadline=200, retries=1, repairs=1)
SMALL_TOKENS = 220
VERDICT = ("Answer", "Agreement", "Gaps and Risks")
EARLY_STOP = "early_stop"
CONFIRMATION: tuple[Key, ...] = ("votes", "abstain")
"""Nothing of what the others said stands in such a call: each confirms what it held alone."""


class Deliberation:
    """Experts answer alone, review each other without names, and vote."""

    name = "deliberation"

    def advance(self, state: State) -> tuple[Effect, ...]:
        table = Table(state, self.name)
        if stop := stop_requested(state):
            return _end_early(table, stop)
        return (
            given_options(table)
            or _answers(table)
            or listed_options(table, answers(table))
            or _confirmation(table)
            or _critique(table)
            or check_order(table, lambda seat: critique_turn(table, seat, reverse=True))
            or _closing(table)
            or _statement(table)
            or _conclude(table)
        )


# --- stages ------------------------------------------------------------------------------------


def answers(table: Table) -> list[SpeechGiven]:
    return table.state.spoken_in(ANSWER, FIRST_ROUND)


def critiques(table: Table) -> list[SpeechGiven]:
    return table.state.spoken_in(CRITIQUE, LAST_ROUND)


def last_words(table: Table) -> list[SpeechGiven]:
    return table.last_words((ANSWER, FIRST_ROUND), (CRITIQUE, LAST_ROUND))


def _answers(table: Table) -> tuple[Effect, ...]:
    state = table.state
    stage = closed_stage(state, ANSWER, FIRST_ROUND)
    if stage is None:
        if not endings.may_open(state, ANSWER, FIRST_ROUND):
            return _too_few(table)
        plans = [answer_turn(table, seat) for seat in table.seats]
        stage = run_stage(state, plans, closing=lambda _, failed: _missing(table, failed))
    needed = 1 if budget_exhausted(state) else MINIMUM
    if stage.over and len(stage.speeches) < needed:
        return _too_few(table)
    return stage.effects


def _confirmation(table: Table) -> tuple[Effect, ...]:
    """Where the clerk sees independent unanimity, each seat is asked to confirm it in one short
    call: nothing ends on agreement that only a clerk saw. Not where somebody demands something:
    nobody has granted it yet, so the critique is held anyway. Where no critique is held it is the
    vote: whoever answered chooses among what the answers came to."""
    state = table.state
    alone = not table.option("critique")
    if given_choices(table) or not (alone or _may_stop_early(table)):
        return ()
    if closed_stage(state, CONFIRM, FIRST_ROUND) or not endings.may_open(
        state, CONFIRM, FIRST_ROUND
    ):
        return ()
    seated = {seat.id for seat in table.seats}
    decisions = table.record.decisions
    # Where they part on one of them, the critique is held anyway.
    united = bool(decisions) and all(
        any(set(option.holders) == seated for option in decision.options) for decision in decisions
    )
    demanded = any(condition.demand for condition in table.record.conditions)
    wanted = bool(decisions) if alone else united and not demanded
    if (CONFIRM, FIRST_ROUND) not in state.stages and not wanted:
        return ()
    answered = {speech.participant for speech in answers(table)}
    plans = [
        table.ballot_turn(
            seat,
            CONFIRM,
            FIRST_ROUND,
            table.form(seat, CONFIRMATION, alone=True),
            CONFIRMING,
            unheard=True,
        )
        for seat in table.seats
        if seat.id in answered
    ]
    return run_stage(state, plans).effects


def _critique(table: Table) -> tuple[Effect, ...]:
    state = table.state
    wanted = table.option("critique") and len(answers(table)) >= MINIMUM
    if not wanted or closed_stage(state, CRITIQUE, LAST_ROUND):
        return ()
    if not endings.may_open(state, CRITIQUE, LAST_ROUND):
        return ()
    if _stops_early(table):
        known = any(note.code == EARLY_STOP for note in state.notes)
        return () if known else (Record((_early_stop_note(table),)),)
    here = {speech.participant for speech in answers(table)}
    plans = [critique_turn(table, seat) for seat in table.seats if seat.id in here]
    return run_stage(state, plans, closing=lambda _, failed: _missing(table, failed)).effects


def _closing(table: Table) -> tuple[Effect, ...]:
    if not critiques(table):
        return ()
    return closing_ballot(table, LAST_ROUND)


def _may_stop_early(table: Table) -> bool:
    opened = (CRITIQUE, LAST_ROUND) in table.state.stages
    wanted = table.option("early_stop") and table.option("critique")
    return bool(wanted) and not opened and len(answers(table)) == len(table.seats)


def _stops_early(table: Table) -> bool:
    return _may_stop_early(table) and table.standing.unanimous


def _statement(table: Table) -> tuple[Effect, ...]:
    """For value questions: candidates by the host, ranked by everybody."""
    state = table.state
    if not statement.wanted(table) or not endings.may_open(state, statement.DRAFT, 0):
        return ()
    drafting = run_stage(state, [statement.draft(table)])
    if not drafting.over:
        return drafting.effects
    ranking = (statement.RANKING, statement.RANKING_ROUND)
    plans = statement.rankings(table) if statement.candidates(table) else []
    if not plans or not endings.may_open(state, *ranking):
        return ()
    return run_stage(state, plans, closing=lambda _, failed: _missing(table, failed)).effects


def _conclude(table: Table) -> tuple[Effect, ...]:
    if not table.host_writes:
        return _close(table, verdicts.extracted(table, last_words(table)))
    won = statement.winner(table) if statement.wanted(table) else None
    if statement.wanted(table) and not (won or budget_exhausted(table.state)):
        return _close(table, statement.without_a_statement(table), NO_STATEMENT_NOTE)
    plan = statement.revision(table) if won else synthesis_turn(table)
    stage = run_stage(table.state, [plan])
    if not stage.over:
        return stage.effects
    last_word = next(iter(stage.speeches), None)
    if won:
        return _close(table, statement.verdict(table, last_word))
    why = verdicts.unusable(last_word, VERDICT, last_words(table))
    if last_word is None or why:
        extract = verdicts.extracted(table, last_words(table))
        return _close(table, extract, verdicts.extracted_note(table, why))
    return _close(table, written(table, last_word))


def written(table: Table, last_word: SpeechGiven) -> Verdict:
    return verdicts.written(
        table,
        last_word,
        agreement=last_word.sections.get("Agreement", ""),
        gaps=last_word.sections.get("Gaps and Risks", ""),
        among=last_words(table),
    )


def _close(table: Table, verdict: Verdict, *notes: NoteAdded) -> tuple[Effect, ...]:
    return endings.with_verdict(table.state, verdict, *notes, finish="the table")


def _end_early(table: Table, stop: Stop) -> tuple[Effect, ...]:
    """End now, with what exists and without another call."""
    words = last_words(table)
    return endings.with_what_exists(verdicts.extracted(table, words) if words else None, stop)


def _too_few(table: Table) -> tuple[Effect, ...]:
    return endings.without_verdict(
        table.state,
        needs=2,
        detail=f"{len(answers(table))} of {len(table.seats)} experts answered, and a "
        f"deliberation needs at least two.{endings.reasons(table.state)}",
        remedy="Try again, or with other models: --models=A,B,C.",
        before="it before enough had answered",
    )


# --- turns -------------------------------------------------------------------------------------


def answer_turn(table: Table, seat: Participant) -> TurnPlan:
    keys: tuple[Key, ...] = ("votes", *OPENING) if table.record.decisions else OPENING
    form = table.form(seat, keys)
    task = declaring_work(
        table,
        seat,
        FIRST_ROUND,
        "deliberation/answer",
        {**table.common(), **table.persona(seat)},
        form,
        Contract(sections=("Answer", "Reasons")),
        wanted=wants_work(table),
    )
    small = Task(
        PromptPlan(
            "deliberation/small-answer",
            {
                "question": Untrusted("question", table.state.start.topic),
                "name": table.own_name(seat),
                "perspective": table.view(seat),
            },
        ),
        Contract(sections=("Answer",)),
        max_tokens=SMALL_TOKENS,
        shape=(
            SectionShape("Answer", 2, "In my view,"),
            SectionShape("Reasons", 1, "The main reason is that"),
        ),
    )
    return table.seat_turn(seat, ANSWER, FIRST_ROUND, task, EXPERT, demo=small, independent=True)


def critique_turn(table: Table, seat: Participant, *, reverse: bool = False) -> TurnPlan:
    """Reading the others; with `reverse`, the same answers from the last to the first."""
    peers = table.anonymous(seat.id, answers(table), reverse=reverse)
    form = table.form(seat, LAST, reverse=reverse, round_=LAST_ROUND)
    task = declaring_work(
        table,
        seat,
        LAST_ROUND,
        "deliberation/critique",
        {
            **table.common(),
            **table.persona(seat),
            "own": table.own_words(seat.id, form),
            "peers": peers,
        },
        form,
        Contract(sections=("Critique", "Answer")),
        # The same answers in the other order are a check of the vote, and no further round.
        wanted=wants_work(table) and not reverse,
    )
    small = Task(
        PromptPlan(
            "deliberation/small-critique",
            {
                "question": Untrusted("question", table.state.start.topic),
                "name": table.own_name(seat),
                "perspective": table.view(seat),
                "peers": tuple(
                    Untrusted("speech", first_sentences(peer.text, 1, 300), peer.source)
                    for peer in peers
                ),
            },
        ),
        Contract(sections=("Critique", "Answer")),
        max_tokens=SMALL_TOKENS,
        shape=(
            SectionShape("Critique", 1, "What these answers overlook is that"),
            SectionShape("Answer", 1, "After hearing the others, my view is that"),
        ),
    )
    stage = OTHER_ORDER if reverse else CRITIQUE
    return table.seat_turn(seat, stage, LAST_ROUND, task, EXPERT, demo=small)


def synthesis_turn(table: Table) -> TurnPlan:
    variables = {
        **table.common(),
        "answers": table.by_name(
            answers(table), later=critiques(table), listed=table.condition_texts
        ),
        "critiques": table.by_name(critiques(table), listed=table.condition_texts),
        "deliverables": works_to_judge(table),
    }
    task = verdicts.verdict_task(table, "deliberation/synthesis", variables, VERDICT)
    return table.host_turn(SYNTHESIS, task, CONCLUDING)


# --- notes -------------------------------------------------------------------------------------


def _missing(table: Table, failures: Sequence[TurnFailed]) -> tuple[Event, ...]:
    return tuple(
        NoteAdded(
            code="timed_out" if failure.cause == "timeout" else "missing",
            text=f"{table.name(failure.participant)} did not answer in round {failure.round}: "
            f"{failure.message} {_follows(table, failure)}",
            remedy=failure.remedy,
        )
        for failure in failures
    )


_FOLLOWS = {
    FIRST_ROUND: "So its view is missing.",
    LAST_ROUND: "So its view of round 1 stands.",
    statement.RANKING_ROUND: "So the statements are ranked without it.",
}


def _follows(table: Table, failure: TurnFailed) -> str:
    """What the missing answer means for the count: only a vote can stand."""
    question = table.record.question
    if failure.round == LAST_ROUND and (
        question is None or not table.record.vote(question, failure.participant).choice
    ):
        return "It has cast no vote, so its view of round 1 is told but not counted."
    return _FOLLOWS[failure.round]


def _early_stop_note(table: Table) -> NoteAdded:
    """What the unanimity of independent answers saved."""
    count = len(answers(table))
    confirmed = len(table.state.spoken_in(CONFIRM, FIRST_ROUND))
    saved = count * (2 if table.option("dual_order") else 1) - confirmed
    usage = table.state.usage
    cost = usage.cost_usd
    money = f", about {dollars(cost / max(1, usage.calls) * saved)}" if cost else ""
    told = f"{saved} calls saved{money}" if saved > 0 else "a short call to each confirmed it"
    return NoteAdded(
        code=EARLY_STOP,
        text=f"{all_of(count)} independent answers came to the same conclusion, so the critique "
        "was left out: "
        f"{told}.",
        remedy="--always-critique holds it anyway.",
    )


NO_STATEMENT_NOTE = NoteAdded(
    code="no_statement",
    text="No statement was drafted and ranked, so the position that the vote ranks best stands in "
    "its place, in the words in which it was put to the vote.",
    remedy="Ask again, or with another host: --host NAME.",
)
