"""How sure a table's answer is: from the standing and the voters behind it to one confidence."""

from __future__ import annotations

from collections.abc import Mapping

from .confidence import NO_OUTCOMES, AgreementFacts, Assessment, Outcomes, QuestionType, assess
from .framing import YES_NO
from .standing import DecisionStanding, standing_of
from .state import State
from .values import Options
from .voter_groups import groups_of
from .voters import Effective, effective_voters

OUTCOMES = "outcomes"
"""The option under which a discussion keeps what its user's earlier outcomes came to."""


def assessment_of(state: State) -> Assessment:
    """The confidence in the table's answer. Computed once for each state."""
    return state.derived("assessment", _assessment)


def unadjusted_probability(state: State) -> float | None:
    """The probability of the table's answer before any outcomes moved it: what outcomes are
    learned from, so that what was learned once is not learned again from its own effect."""
    question = standing_of(state).question
    if question is None or question.delivered is None:
        return None
    return assess(facts_of(state, question)).probability


def effective_voters_of(state: State) -> Effective:
    """How many independent voters the votes on the question come to."""
    question = standing_of(state).question
    voting = [seat.participant for seat in question.seats if seat.final] if question else []
    return effective_voters(groups_of(state), voting)


def _assessment(state: State) -> Assessment:
    question = standing_of(state).question
    if question is None:
        return Assessment(None, None, None, "none", "Nothing was put to the vote.")
    if question.delivered is None:
        return Assessment(None, None, None, "none", question.reason)
    return assess(facts_of(state, question), _outcomes(state))


def facts_of(state: State, question: DecisionStanding) -> AgreementFacts:
    """What of a standing bears on its confidence."""
    holders = set(question.holders)
    held = [seat for seat in question.seats if seat.participant in holders]
    sure = [standing_of(state).record.confidence(seat) for seat in holders]
    declared = [each for each in sure if each is not None]
    silent = {s.participant for s in question.seats if not s.final} - set(question.absent)
    abstaining = silent & set(question.abstained)
    as_cast = standing_of(state).record.as_cast
    return AgreementFacts(
        seated=question.seated,
        holding=len(holders),
        independent=len(question.independent),
        moved=sum(seat.argument is not None for seat in held),
        gave_in=sum(seat.gave_in for seat in held),
        absent=len(question.absent),
        abstaining=len(abstaining),
        indifferent=len(question.indifferent),
        rejecting=len(question.rejecting),
        undeclared=len(silent - abstaining),
        conditional=len(question.conditional),
        fell_back=sum(seat.fell_back for seat in held) if as_cast else 0,
        effective=effective_voters_of(state).number,
        unsettled=bool(question.own),
        question=_type(question),
        declared=sum(declared) / len(declared) / 100 if declared else None,
    )


def _type(question: DecisionStanding) -> QuestionType:
    options = question.decision.options
    if tuple(option.text.casefold() for option in options) == YES_NO:
        return "yes_no"
    return "choice" if all(option.origin == "given" for option in options) else "open"


def kept_outcomes(outcomes: Outcomes) -> Options:
    """The option that keeps them; none if they move nothing."""
    return {OUTCOMES: {"shift": outcomes.shift, "count": outcomes.count}} if outcomes.shift else {}


def _outcomes(state: State) -> Outcomes:
    kept = state.start.options.get(OUTCOMES)
    if not isinstance(kept, Mapping):
        return NO_OUTCOMES
    shift, count = kept.get("shift"), kept.get("count")
    if not isinstance(shift, int | float) or not isinstance(count, int):
        return NO_OUTCOMES
    return Outcomes(float(shift), count, f"{count} outcomes are counted in.")
