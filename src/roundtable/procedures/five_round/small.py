"""The tasks scaled to a demonstration model: single sentences, each begun for it."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.contracts import Contract
from ...core.effects import PromptPlan, SectionShape, Task, Untrusted
from ...core.events import SpeechGiven
from ...core.text import first_sentences
from ...core.values import Participant
from ...views.five_round.rounds import CRITIQUE, CROSS_REFERENCE, DEFECTS, PROPOSAL, REVISION, RISKS
from ..table import Table

TOKENS_PER_SENTENCE = 60
_ASKED = {
    CROSS_REFERENCE: "What do you think of what the others said?",
    CRITIQUE: "What could go wrong with these plans, and what is missing in them?",
    REVISION: "What would you change in your plan now?",
}
_RISKS = (
    "One risk is that",
    "It may cost more because",
    "People may not use it because",
    "It may take longer because",
    "It may fail when",
)
_DEFECTS = ("The plan does not say", "Nobody checked whether", "It is not clear who")


def demo_task(
    table: Table, stage: str, participant: Participant, plans: Sequence[SpeechGiven]
) -> Task:
    """The round's task for a demonstration model, which hears the others' newest `plans`. Its
    words carry no marker and declare nothing, so nothing counts them."""
    others = [speech for speech in plans if speech.participant != participant.id]
    peer = table.name(others[0].participant) if others else "next expert"
    shape = _shape(stage, peer)
    question = Untrusted("question", table.state.start.topic)
    if stage == PROPOSAL:
        prompt = PromptPlan(
            "five_round/small-proposal", {"question": question, "name": table.own_name(participant)}
        )
    else:
        prompt = PromptPlan(
            "five_round/small-reply",
            {
                "question": question,
                "name": table.own_name(participant),
                "others": tuple(
                    Untrusted("speech", _gist(s.text), table.name(s.participant)) for s in others
                ),
                "asked": _ASKED[stage],
            },
        )
    sentences = sum(section.sentences for section in shape)
    return Task(
        prompt,
        Contract(sections=tuple(section.heading for section in shape)),
        max_tokens=40 + TOKENS_PER_SENTENCE * sentences,
        shape=shape,
    )


def _shape(stage: str, peer: str) -> tuple[SectionShape, ...]:
    if stage == PROPOSAL:
        return (
            SectionShape("Proposal", 2, "I propose that"),
            SectionShape("Metrics", 1, "It depends on whether"),
        )
    if stage == CROSS_REFERENCE:
        return (
            SectionShape("Cross-Reference", 1, f"The {peer} is right that"),
            SectionShape("Blind Spots", 1, "Nobody has said that"),
        )
    if stage == CRITIQUE:
        risks = [SectionShape(f"Risk {n}", 1, _RISKS[n - 1]) for n in range(1, RISKS + 1)]
        defects = [SectionShape(f"Defect {n}", 1, _DEFECTS[n - 1]) for n in range(1, DEFECTS + 1)]
        return (*risks, *defects)
    return (
        SectionShape("Answers", 1, "To the others I say that"),
        SectionShape("Revised Proposal", 2, "I would now change that"),
    )


def _gist(text: str) -> str:
    prose = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return first_sentences(prose, 1, 300)
