"""When a run suggests to its reader to have the synthesis checked next time."""

from __future__ import annotations

import re

from ...core.events import NoteAdded
from .notes import VALIDATE_HINT
from .sitting import Sitting

LOW_CONSENSUS = 40
MANY_REVIEWERS = 3
_STAKES = re.compile(r"\b(?:high[\s-]stakes|final decision|publish(?:ing)? this)\b", re.IGNORECASE)
_SPEED = re.compile(
    r"\b(?:asap|urgent(?:ly)?|quick(?:ly)?|right now|in a hurry|fast answer)\b", re.IGNORECASE
)
_TASTE = re.compile(
    r"\b(?:opinions?|taste|favou?rite|prefer|beautiful|feel about|like better)\b", re.IGNORECASE
)


def validate_hint(sitting: Sitting) -> tuple[NoteAdded, ...]:
    """The hint, if something speaks for a check and nothing against it."""
    terms, topic = sitting.terms, sitting.state.start.topic
    subjective = terms.task_mode == "debate" and _TASTE.search(topic)
    if terms.check_synthesis or terms.quick or subjective or _SPEED.search(topic):
        return ()
    why = _reason(sitting)
    if not why:
        return ()
    text = VALIDATE_HINT.text.format(why=why)
    return (VALIDATE_HINT.model_copy(update={"text": text}),)


def _reason(sitting: Sitting) -> str:
    terms = sitting.terms
    score = sitting.consensus.value
    if score is not None and score < LOW_CONSENSUS:
        return f"the consensus is only {score:.0f} %"
    if terms.task_mode == "redteam":
        return "it is a red-team result"
    second = [seat for seat in sitting.design.seats if seat.stage == 2]
    if terms.task_mode == "build" and len(second) >= MANY_REVIEWERS:
        return f"{len(second)} models worked on it in stage 2"
    if _STAKES.search(sitting.state.start.topic):
        return "the question says that much depends on it"
    return ""
