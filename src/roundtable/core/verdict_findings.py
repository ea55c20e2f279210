"""What is wrong with a verdict, computed in one place for every surface and for whoever verifies.

What was found when it was written is kept with it. What it says against the count is looked for
again whenever somebody asks, so that a verdict of an earlier version, which kept less, is told by
the same measure.
"""

from __future__ import annotations

from .against_count import answer_against, claim_against, claims_beside
from .record import LEGACY
from .standing import standing_of
from .state import State
from .values import AGAINST_THE_COUNT, Finding, FindingCode, Verdict
from .vote_told import VoteTold, vote_told

MORE_AGREEMENT = "The written answer claims more agreement than was counted."
_WARNINGS: tuple[tuple[FindingCode, str], ...] = (
    ("contradiction", "The written answer contradicts the count."),
    ("false_agreement", MORE_AGREEMENT),
    ("false_count", "The written answer tells the vote otherwise than it was counted."),
    ("false_holder", "The written answer tells the vote otherwise than it was counted."),
)
"""What is said before the first line, the weightiest first: to claim more agreement for the answer
that won is another fault than to deliver one that did not."""


def findings_of(state: State) -> tuple[Finding, ...]:
    """All that is wrong with the verdict; what it says against the count comes first."""
    return state.derived("verdict findings", _findings_of)


def contradicts(state: State) -> bool:
    """Whether the written answer says something else than was counted, or claims more agreement."""
    return any(finding.code in AGAINST_THE_COUNT for finding in findings_of(state))


def warning(state: State) -> str:
    """What the written answer does against the count, in a sentence; empty if it does nothing."""
    found = {each.code for each in findings_of(state)}
    return next((told for code, told in _WARNINGS if code in found), "")


def unkept(state: State, *, in_answer: bool = False) -> tuple[Finding, ...]:
    """What the verdict, or its answer alone, says against the count, and nobody found when it was
    written."""
    verdict, told = state.verdict, vote_told(state)
    question = standing_of(state).question
    if verdict is None or verdict.method != "written" or told is None or question is None:
        return ()
    if question.end is None or question.decision.id == LEGACY:
        return ()
    kept = {each.code for each in verdict.findings}
    found = answer_against(verdict.answer, told)
    if not in_answer:
        found += _beside(verdict, told)
    return tuple(each for each in dict.fromkeys(found) if each.code not in kept)


def _beside(verdict: Verdict, told: VoteTold) -> list[Finding]:
    """What the writer's other words say against the count. Agreement and changed minds are told
    by the program, with the writer's words behind its own, which were checked when it wrote."""
    wants = (*verdict.would_change, *(each.text for each in verdict.next_steps))
    found = claims_beside(told, says=(*verdict.why, verdict.gaps), wants=wants)
    return [*found, *claim_against(verdict.on_dissent, told)]


def _findings_of(state: State) -> tuple[Finding, ...]:
    return (*unkept(state), *(state.verdict.findings if state.verdict else ()))
