"""Ballots and stances as participants write them, read without guessing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...core.contracts import says_nothing
from ...core.text import clip

_LINE = re.compile(r"^[\s\-*•]*\**(?P<key>[A-Za-z]+)\**\s*[:：]\s*\**\s*(?P<value>.+?)\s*\**\s*$")
_NUMBER = re.compile(r"(?<![\d.])(\d{1,3})(?:[.,]\d+)?\s*%?")
_WORDS = {"high": 0.9, "medium": 0.7, "low": 0.5}
_STANCE = re.compile(
    r"^[\s\-*•]*\**(?P<point>p\d+)\**\s*[:：]?\s*[-–—]?\s*\**(?P<position>agree|disagree|unsure)\b",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(r"\banswer\s+([A-Z])\b", re.IGNORECASE)
MOST_POINTS = 3
"""Reasons of one answer that join the list of points."""


@dataclass(frozen=True, slots=True)
class WrittenBallot:
    """What a ballot section says. `ranking` holds ids of options."""

    ranking: tuple[str, ...] = ()
    position: str = ""
    certainty: float | None = None
    because: str = ""
    """The label of the answer that changed the voter's mind, as it saw it."""


def read_ballot(section: str, options: Mapping[str, str]) -> WrittenBallot:
    """Read `Choice:` or `Ranking:`, `Confidence:` and `Because:`. Options nobody put up are left
    out; a ballot that names none has no ranking."""
    values: dict[str, str] = {}
    for line in section.splitlines():
        match = _LINE.match(line)
        if match:
            values.setdefault(match["key"].casefold(), match["value"])
    stated = values.get("ranking") or values.get("choice") or values.get("position") or ""
    because = _LABEL.search(values.get("because", ""))
    return WrittenBallot(
        ranking=_ranking(stated, options),
        position="" if says_nothing(stated) and not options else clip(stated, 300),
        certainty=_certainty(values.get("confidence", "")),
        because=because[1].upper() if because else "",
    )


def _ranking(stated: str, options: Mapping[str, str]) -> tuple[str, ...]:
    found: list[str] = []
    for part in re.split(r"\s*[>›≻]\s*", stated):
        option = _option(part, options)
        if option is not None and option not in found:
            found.append(option)
    return tuple(found)


def _option(text: str, options: Mapping[str, str]) -> str | None:
    """The option that a piece of text names: by id, by its whole text, or by its first word."""
    bare = text.strip(" .,:;\"'“”*()[]").casefold()
    for option_id, words in options.items():
        if bare in (option_id.casefold(), words.casefold()):
            return option_id
    named = [
        option_id
        for option_id, words in options.items()
        if re.match(rf"(?:{re.escape(option_id)}|{re.escape(words)})\b", bare, re.IGNORECASE)
    ]
    return named[0] if len(named) == 1 else None


def _certainty(text: str) -> float | None:
    number = _NUMBER.search(text)
    if number is not None and int(number[1]) <= 100:
        return int(number[1]) / 100
    word = next((word for word in _WORDS if word in text.casefold()), None)
    return _WORDS[word] if word else None


Position = Literal["agree", "disagree", "unsure"]


def read_stances(section: str, known: Sequence[str]) -> dict[str, Position]:
    """The declared stance on each point. Contradictory ones on a point make it unsure."""
    found: dict[str, Position] = {}
    for match in _STANCE.finditer(section):
        point, word = match["point"].casefold(), match["position"].casefold()
        if point not in known:
            continue
        position: Position = (
            "agree" if word == "agree" else "disagree" if word == "disagree" else "unsure"
        )
        found[point] = position if found.get(point, position) == position else "unsure"
    return found


def read_reasons(section: str) -> list[str]:
    """The claims of an answer: its list items, or its paragraphs."""
    items = re.findall(
        r"(?m)^\s*(?:[-*•]|\d+[.)])\s+(.+(?:\n(?!\s*(?:[-*•]|\d+[.)])\s).+)*)", section
    )
    parts = items or [part for part in section.split("\n\n") if part.strip()]
    return [clip(" ".join(part.split()), 300) for part in parts[:MOST_POINTS]]
