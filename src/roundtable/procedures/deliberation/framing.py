"""Framing: which options a question offers, as far as its form alone tells.

A wrong guess would put words into everybody's mouth, so only plain yes-or-no questions are read.
For all others the answers come first, and the host, as a clerk, lists the positions in them.
"""

from __future__ import annotations

import re

YES_NO = ("yes", "no")
_ENGLISH = re.compile(
    r"^\s*(?:should|shall|is|are|was|were|can|could|do|does|did|will|would|has|have|must|may)\b",
    re.IGNORECASE,
)
_GERMAN = re.compile(
    r"^\s*(?:soll(?:en|te|ten)?|ist|sind|kann|können|könnte|darf|dürfen|muss|müssen|wird|werden"
    r"|haben|hat|lohnt|gibt)\b",
    re.IGNORECASE,
)
_SPANISH = re.compile(
    r"^\s*¿\s*(?:deber[ií]a(?:mos|n)?|debe(?:mos|n)?|es|son|puede[ns]?|podemos|conviene|hay|vale"
    r"|tiene sentido)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"是否|应不应该|要不要|能不能|吗\s*[?？]?\s*$")
_ALTERNATIVE = re.compile(r"\b(?:or|oder|o|versus|vs)\b|还是|或者", re.IGNORECASE)


def choices_of(question: str) -> tuple[str, ...]:
    """`yes` and `no` for a plain yes-or-no question, nothing for any other."""
    last = question.strip().splitlines()[-1]
    asked = any(form.search(last) for form in (_ENGLISH, _GERMAN, _SPANISH, _CHINESE))
    return YES_NO if asked and not _ALTERNATIVE.search(last) else ()
