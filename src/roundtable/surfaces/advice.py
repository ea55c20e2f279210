"""Advice before anything is spent: not every question needs a table."""

from __future__ import annotations

import re

from ..core.text import count_words

_ARITHMETIC = re.compile(r"^[\s+\-(]*\d[\s\d+\-*/×÷^().,=?]*$")
_LOOK_UP = re.compile(
    r"^\s*(?:what(?:'|’)?s|what is|who is|who was|when (?:is|was|did)|where is|how (?:old|tall|far)"
    r"|define|translate|spell|capital of)\b",
    re.IGNORECASE,
)
_CHIT_CHAT = re.compile(
    r"^\s*(?:hi|hello|hey|thanks|thank you|good (?:morning|evening)|how are you)\b", re.IGNORECASE
)
_WEIGHING = re.compile(
    r"\b(?:should|better|versus|vs|or|trade-?offs?|risks?|strategy|architecture|design|why"
    r"|best|compare|pros|cons)\b",
    re.IGNORECASE,
)
SHORT = 10


def simple_question_hint(question: str) -> str | None:
    """A hint for questions that a single answer serves as well; None for those worth a table."""
    short = count_words(question) <= SHORT
    simple = (
        _ARITHMETIC.match(question)
        or _CHIT_CHAT.match(question)
        or (short and _LOOK_UP.match(question) and not _WEIGHING.search(question))
    )
    if not simple:
        return None
    return (
        "Hint: this looks like a simple question. A table is for questions with several sides; "
        "a single model answers this faster and for less. Continuing anyway."
    )
