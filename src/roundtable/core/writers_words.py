"""The writer's words: what a verdict says stays apart from what the program says beside it.

Labels with a figure, marks and signs of the program's own mean that it counted or checked
something. Where a writer uses them, they are told to be the writer's, at the place where its words
become a verdict, so that no surface can show them as the program's. A heading over prose, a sign
that warns of a price, and code stay as they are.
"""

from __future__ import annotations

import re

from .pattern import pattern
from .text import clip
from .values import Finding
from .verdict_check import undeceiving

AS_WRITTEN = "as the writer has it"
TITLES = (
    "Confidence",
    "Agreement",
    "Votes",
    "Vote",
    "Votes to end",
    "Counted",
    "Who could live with what",
    "Common ground",
    "Who holds what",
    "Who disagrees",
    "Other questions",
    "Dissent",
    "What talk changed",
    "Round by round",
    "Points",
    "Consensus Points",
    "Disagreement Points",
    "Voters",
    "Flags",
    "Last positions",
    "For the record",
)
"""The titles under which the program tells what it counted."""
_TITLE = "|".join(re.escape(each) for each in sorted(TITLES, key=len, reverse=True))
_VALUE = (
    r"(?:(?:(?:very|quite|fairly)\s+)?(?:high|medium|moderate|low)|\d{1,3}(?:\s?[–-]\s?\d{1,3})?\s?%"
    r"|\d{1,2}\s?(?:of|out of|/|:|to|[–-])\s?\d{1,2}|none|nobody|no one|unanim(?:ous|ously|ity))"
    r"(?=[*_]{0,3}[ \t]*(?:[.,;!(（)|–—]|$)|[ \t]{2,})"
)
"""What the program prints behind a label: a confidence, a count, that there is nobody."""
_LABEL = pattern(
    rf"(?P<lead>^[ \t>#*_\-•|]*(?:\d+[.)][ \t]+[*_]*)?|[*_]{{2}}|(?<=[.!?。])[ \t]+)"
    rf"(?:(?P<title>{_TITLE})"
    rf"(?=[*_]{{0,3}}[ \t]*(?:[:：|]|[–—-][ \t])[*_ \t]*{_VALUE}|[*_]{{2,3}}[ \t]+{_VALUE}"
    rf"|[ \t]{{2,}}{_VALUE})"
    # A heading with nothing but its value below it is a label with it.
    r"|(?P<above>Confidence|Agreement|Votes?|Dissent)"
    rf"(?=[*_]{{0,3}}[:：]?[*_]{{0,3}}[ \t]*#*[ \t]*\n(?:[ \t]*\n)?[ \t>*_\-•]*{_VALUE}))",
    re.IGNORECASE | re.MULTILINE,
)
_OURS = (
    "quotation not found|said by somebody else|not in this turn|not the speaker's own words"
    "|cut at a negation|translation, not verified|turn not found|contradicts the count|no citations"
    "|pasted answer|voting rules disagree|counted by the program|statement not revised"
    "|words and declaration differ|refusal beside a declaration|before and record differ|not found"
    "|wrong speaker|wrong turn|second hand|false (?:agreement|count|holder|confidence)|forged mark"
)
_SEEN = r"(?:quotations?|quotes?|citations?|votes?|count|verdict|answer|figures?|claims?)"
_VERIFIED = r"(?:verified|checked|confirmed|counted)"
_BY = r"(?:\s+by (?:the program|roundtable))"
_MARK = pattern(
    rf"\[\s*[✓✔✅☑⚠!]?\s*(?P<mark>(?P<ours>{_OURS}|{_SEEN}\s+{_VERIFIED}{_BY}?|{_VERIFIED}{_BY})"
    rf"|{_VERIFIED})(?P<more>\s*[:,;–—][^\[\]\n]{{0,40}})?"
    r"\s*(?:[✓✔✅☑]\ufe0f?\s*)?\](?!\()",
    re.IGNORECASE,
)
_TICK = pattern(
    rf"[✓✔✅☑]\ufe0f?\s*(?:(?:{_SEEN}\s+)?{_VERIFIED}{_BY}?(?=\s*(?:[.,;:!)\]—–“”]|$))"
    r"|(?:chain|events|decisions|speeches|declarations|prompts|tally|citations|quotations|answer"
    r"|signature)(?=\s*:))",
    re.IGNORECASE | re.MULTILINE,
)
_WARNING = pattern(
    r"^(?P<lead>[ \t>*_\-•]*)(?P<sign>(?:⚠\ufe0f?|🏁|⚖\ufe0f?)(?=[ \t*_]*(?:(?:the|this) (?:written"
    r" answer|check|verdict|count)|roundtable|conclusion|verdict|host summary)\b))",
    re.IGNORECASE | re.MULTILINE,
)
"""A sign before what the program says with it; before anything else it is the writer's to use."""
_COLUMNS = pattern(r"(?<=\S)[ \t\u00a0\u2000-\u200a\u202f\u3000]{2,}(?=\S)")
_FIGURE = pattern(
    r"\b\d{1,2}\s+of\s+\d{1,2}\b|^\s*(?:high|medium|low)\s{2,}confidence\b", re.IGNORECASE
)
_JOINER = pattern("(?<=[A-Za-z])[\u00ad\u180e\u200c\u200d]+(?=[A-Za-z])")
"""What nobody sees within a word of Latin letters: it only hides the word from whoever reads."""
_FENCE = pattern(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


def told_apart(text: str) -> tuple[str, tuple[Finding, ...]]:
    """A writer's text with the program's labels and marks told to be the writer's, and what was
    found of marks that only the program gives."""
    forged: list[str] = []
    text = _JOINER.sub("", undeceiving(text))
    pieces = [_plain(piece, forged) if not code else piece for piece, code in _pieces(text)]
    findings = tuple(
        Finding(
            code="forged_mark",
            message="The writer put a mark of the program's own into its text; nobody checked it.",
            excerpt=clip(" ".join(each.split()), 160),
        )
        for each in dict.fromkeys(forged)
    )
    return "".join(pieces), findings


def _pieces(text: str) -> list[tuple[str, bool]]:
    """The text in stretches, each with whether it is code in its fence."""
    found: list[tuple[str, bool]] = []
    at, fence = 0, ""
    for match in _FENCE.finditer(text):
        if not fence:
            found.append((text[at : match.start()], False))
            at, fence = match.start(), match[1]
        elif match[1].startswith(fence):
            end = text.find("\n", match.end())
            end = len(text) if end < 0 else end
            found.append((text[at:end], True))
            at, fence = end, ""
    found.append((text[at:], bool(fence)))
    return found


def _plain(text: str, forged: list[str]) -> str:
    def mark(match: re.Match[str]) -> str:
        if match["ours"]:  # “verified” alone may be an expert's own mark
            forged.append(match[0])
        return f"[{match['mark']}{match['more'] or ''}, {AS_WRITTEN}]"

    def tick(match: re.Match[str]) -> str:
        forged.append(match[0])
        return f"{match[0]} ({AS_WRITTEN})"

    text = _TICK.sub(tick, _MARK.sub(mark, text))
    text = _WARNING.sub(lambda m: f"{m['lead']}{m['sign']} ({AS_WRITTEN})", text)
    text = _LABEL.sub(lambda m: f"{m[0]}, {AS_WRITTEN}", text)
    lines = (_COLUMNS.sub(" ", each) if _FIGURE.search(each) else each for each in text.split("\n"))
    return "\n".join(lines)
