"""The roles of the shipped panels, and what each of them is there for."""

from __future__ import annotations

import re
from collections.abc import Collection

from ...core.text import slug

ORCHESTRATOR_ID, ORCHESTRATOR_NAME = "orchestrator", "Orchestrator"
SYNTHESISER_ID, SYNTHESISER_NAME = "synthesiser", "Synthesiser"
ANALYST_IDS = tuple(f"meta-{letter}" for letter in "abcdefgh")
_RESERVED = frozenset([ORCHESTRATOR_ID, SYNTHESISER_ID, "coordinator", *ANALYST_IDS])

BRIEFS: dict[str, str] = {
    "Advocate": "Make the strongest honest case for the proposal.",
    "Devil's Advocate": "Make the strongest honest case against the proposal.",
    "Analyst": "Weigh the evidence and the figures without taking a side beforehand.",
    "Contrarian": "Question the framing, and look for the answer that nobody expects.",
    "Architect": "Design the whole: parts, borders, data, and what each choice costs.",
    "Reviewer": "Examine the plan as a critical reviewer: errors, gaps, what is hard to maintain.",
    "Engineer": "Work out how it is done in practice, step by step, and what breaks first.",
    "Implementer": "Show the implementation itself: interfaces, code, tests, order of work.",
    "Defender": "Show how the thing can be protected, and which defences hold.",
    "Attacker": "Attack it: find the ways in which it can be broken, from outside and from within.",
    "Red Teamer": "Play whole attack scenarios through, with their cost and their damage.",
    "Voter A": "Choose by evidence and long-term consequences.",
    "Voter B": "Choose by what serves the people concerned best.",
    "Voter C": "Choose by risk: what can go wrong, and can it be undone.",
    "Voter D": "Choose by cost, effort and feasibility.",
    "Generalist": "Give the best overall answer, with its reasons.",
    "Sceptic": "Look for what does not hold, in the question and in the obvious answer.",
    "Pragmatist": "Say what to do tomorrow, and what it takes.",
}

OPENINGS: dict[str, str] = {
    "Advocate": "The best reason for it is that",
    "Devil's Advocate": "The best reason against it is that",
    "Analyst": "The evidence suggests that",
    "Contrarian": "Another way to see it is that",
    "Architect": "The main parts of it are",
    "Reviewer": "The weak point of it is that",
    "Engineer": "In practice this means that",
    "Implementer": "The first step is",
    "Defender": "The best protection is",
    "Attacker": "The easiest way to break it is",
    "Red Teamer": "The worst case is that",
    "Sceptic": "What does not hold is that",
    "Pragmatist": "The practical answer is",
}
"""How a demonstration model's answer begins in each role."""
DEFAULT_OPENING = "My answer is that"

_NOT_A_NAME = re.compile(r"[^\w '’/&-]+")
MAX_ROLE_WORDS = 4
MAX_ROLE = 40


def plain_role(text: str) -> str:
    """A role's name as it may stand in prompts: a model wrote it, so it is kept to a few words."""
    words = _NOT_A_NAME.sub(" ", text).replace("_", " ").replace("’", "'").split()
    return " ".join(words[:MAX_ROLE_WORDS])[:MAX_ROLE].strip()


def distinct_role(role: str, taken: Collection[str]) -> str:
    """The name, with a number if somebody has it already."""
    names = {name.casefold() for name in taken}
    if role.casefold() not in names:
        return role
    return next(f"{role} {n}" for n in range(2, 99) if f"{role} {n}".casefold() not in names)


def role_id(role: str, taken: Collection[str]) -> str:
    """The id of the participant in this role: `devils-advocate`."""
    base = slug(role.replace("'", "").replace("’", ""), default="panelist")
    used = {*taken, *_RESERVED}
    if base not in used:
        return base
    return next(f"{base}-{n}" for n in range(2, 99) if f"{base}-{n}" not in used)
