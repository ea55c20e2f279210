"""Framing: which options a question offers, as far as its form alone tells.

A wrong guess would put words into everybody's mouth, so only plain yes-or-no questions are read.
For all others the answers come first, and the host, as a clerk, lists the positions in them.
"""

from __future__ import annotations

import re

from .pattern import pattern

YES_NO = ("yes", "no")
_ENGLISH = pattern(
    r"^(?:should|shall|is|are|were|do|does|did|has|have|must"
    r"|(?:can|could|will|would|may)(?!\s+(?:you|anyone|someone|somebody)\b)"
    r"|was(?=\s+(?:it|this|that|there|the|a|an|he|she|our|my|your|their)\b))\b",
    re.IGNORECASE,
)
_GERMAN = pattern(
    r"^(?:soll(?:en|te|ten)?|ist|sind|kann|können|könnte|darf|dürfen|muss|müssen|wird|werden"
    r"|haben|hat|lohnt|gibt)\b",
    re.IGNORECASE,
)
_SPANISH = pattern(
    r"^¿?\s*(?:deber[ií]a(?:mos|n)?|debe(?:mos|n)?|es|son|puede[ns]?|podemos|conviene|hay|vale"
    r"|tiene sentido)\b",
    re.IGNORECASE,
)
_CHINESE = pattern(r"是否|应不应该|该不该|要不要|能不能|会不会|吗[?？]?$")
_UNMARKED = pattern(r"^(?:(?:should|shall)\s|soll(?:en|te|ten)?\s)|吗$|是否", re.IGNORECASE)
"""What is a question without a question mark too."""
_MORE_THAN_THAT = pattern(
    r"\b(?:or|oder|o|u|versus|vs|how|which|what|why|when|where|who|wie|was|welche[mnrs]?|warum"
    r"|wieso|wann|wo|wer|cómo|qué|cuál(?:es)?|cuándo|dónde|quién(?:es)?)\b"
    r"|\w/\w|还是|或者|如何|怎么|怎样|什么|为何|哪",
    re.IGNORECASE,
)
"""Signs that yes or no is not the whole answer."""
_TURNED_ROUND = pattern(
    r"\bnot\b|n['’]t\b|\bnever\b|\bno longer\b|\bnicht\b|\bkeine?[nmrs]?\b|\bnie\b|\bno\b|\bnunca\b"
    r"|(?<![应该要能会是])不|(?<![特区个级类分])别|没",
    re.IGNORECASE,
)
"""A question that denies something: yes and no mean different things to different people."""
_LAST_SENTENCE = pattern(r"(?:^|[.!;:。！；：]\s*|\n\s*)([^.!;:。！；：\n]*(?:\.\w[^.!;:\n]*)*)$")


def choices_of(question: str) -> tuple[str, ...]:
    """`yes` and `no` for a plain yes-or-no question, nothing for any other."""
    text = question.strip()
    marks = re.findall(r"[?？]", text)
    if len(marks) > 1 or (marks and text[-1] not in "?？"):
        return ()
    found = _LAST_SENTENCE.search(text)
    asked = found[1].strip() if found else ""
    if not (marks or _UNMARKED.search(asked)):
        return ()
    if _TURNED_ROUND.search(asked) or re.search(r"[,，、;]", asked):
        return ()
    plain = any(form.search(asked) for form in (_ENGLISH, _GERMAN, _SPANISH, _CHINESE))
    rest = asked.partition(" ")[2] or asked  # the first word of "Was it …?" is no question word
    return YES_NO if plain and not _MORE_THAN_THAT.search(rest) else ()
