"""Ballots, stances and reasons as participants write them, read without guessing.

Models put their lines in bold, in bullets, in a sentence; all of that is read. What names no
option, or more than one where one was asked for, stays unread: a vote is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from ...core.contracts import says_nothing
from ...core.text import clip

_KEY = re.compile(
    r"^[\s>|*_`#•+\-]*(?:\d{1,2}[.)]\s*)?(?:(?:my|your|final)\s+){0,2}"
    r"(?P<key>choice|position|ranking|confidence|because)\b[\s*_`]*[:：=|](?P<value>.*)$",
    re.IGNORECASE,
)
_DECORATION = " \t*_`|"
_NEGATED = re.compile(r"\b(?:not|never|against|nicht)\s+(?:option\s+)?$", re.IGNORECASE)
_BETTER = re.compile(r"\s*(?:[>›≻→]|->|\n)\s*")
_NUMBER = re.compile(
    r"(?<![\d.,\-−])(?P<number>\d{1,3}(?:[.,]\d{1,2})?)(?![.,]?\d)"
    r"\s*(?:(?P<percent>%)|(?:/|out of)\s*(?P<base>\d{1,3})\b)?"
)
_LEVEL = re.compile(r"\b(high|medium|low)\b", re.IGNORECASE)
_LEVELS = {"high": 0.9, "medium": 0.7, "low": 0.5}
_ALIKE = {
    "yes": ("yes", "ja", "sí", "si", "oui", "是", "应该"),
    "no": ("no", "nein", "non", "否", "不", "不应该"),
}
"""What a voter who answers in another language may write for the two options of a yes-no vote."""
_LABEL = re.compile(
    r"(?:(?i:\b(?:answer|antwort|respuesta)\s+)|答案\s*|回答\s*)[*_\"“]*(?P<named>[A-Z])(?![A-Za-z])"
    r"|^[\s*_\"“(]*(?P<bare>[A-Z])(?=[\s*_\"”)]*(?:$|[:：,;.–—-]))"
)
_STANCE = re.compile(
    r"(?P<ids>\bp\d{1,3}\b(?:[\s,;&/+]+(?:and\s+)?p\d{1,3}\b)*)"
    r"[\s*_`\])|:：.,–—=-]{1,8}(?:\(\s*)?"
    r"(?P<how>(?:(?:i|we|strongly|fully|mostly|largely|partly|partially|do\s+not|don[’']t|not)"
    r"\s+){0,3})(?P<word>agree|disagree|unsure)[sd]?\b",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"(?m)^\s*(?:[-*•]|\**\d+[.)]\**)\s+(.+(?:\n(?!\s*(?:[-*•]|\**\d+[.)]\**)\s)[ \t]*\S.*)*)"
)
MOST_POINTS = 3
"""Reasons of one answer that join the list of points."""


@dataclass(frozen=True, slots=True)
class WrittenBallot:
    """What a ballot section says. `ranking` holds ids of options."""

    ranking: tuple[str, ...] = ()
    position: str = ""
    certainty: float | None = None
    because: str = ""
    """The letter of the answer that changed the voter's mind, as it saw it."""
    argument: str = ""
    """That argument in the voter's words."""


def read_ballot(section: str, options: Mapping[str, str]) -> WrittenBallot:
    """Read `Choice:`, `Ranking:` or `Position:`, `Confidence:` and `Because:`. Options nobody put
    up are left out; a ballot that names none has no ranking."""
    values = _values(section)
    stated = values.get("ranking") or values.get("choice") or values.get("position") or ""
    because = values.get("because", "")
    label = _LABEL.search(because)
    letter = (label["named"] or label["bare"]) if label else ""
    words = because[label.end() :].strip(f'{_DECORATION}"“”:：,;.–—-') if label else ""
    return WrittenBallot(
        ranking=_ranking(stated, options),
        position="" if says_nothing(stated) and not options else clip(_one_line(stated), 300),
        certainty=_certainty(values.get("confidence", "")),
        because=letter,
        argument="" if says_nothing(words) else clip(_one_line(words), 200),
    )


def _values(section: str) -> dict[str, str]:
    """The value of each key: what follows it on its line and, up to a blank line, below it."""
    values: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in section.splitlines():
        if match := _KEY.match(line):
            key = match["key"].casefold()
            current = None if key in values else values.setdefault(key, [])
            line = match["value"]
        bare = line.strip(_DECORATION)
        if current is not None and bare:
            current.append(bare)
        elif current:
            current = None
    return {key: "\n".join(lines) for key, lines in values.items()}


def _ranking(stated: str, options: Mapping[str, str]) -> tuple[str, ...]:
    """The options in the order in which the text names them: by their ids, or by their words."""
    ids = {option.casefold(): option for option in options}
    named = [
        ids[match[0].casefold()]
        for match in re.finditer(r"(?<![\w-])[a-z]\d{1,2}(?![\w-])", stated, re.IGNORECASE)
        if match[0].casefold() in ids and not _NEGATED.search(stated[: match.start()])
    ]
    if not named:
        parts = [stated, *_BETTER.split(stated)]
        named = [option for part in parts if (option := _option(part, options))]
    return tuple(dict.fromkeys(named))


def _option(text: str, options: Mapping[str, str]) -> str | None:
    """The option that a piece of text begins with; of two, the one with the longer words."""
    bare = re.sub(
        r"^\W*(?:\d{1,2}[.)]\s*)?(?:option\s*[:：]?\s*)?\W*", "", text, flags=re.IGNORECASE
    )
    found: dict[str, int] = {}
    for option, words in options.items():
        for form in _ALIKE.get(words.casefold(), (words,)):
            if re.match(
                rf"{re.escape(form)}(?=\W*$|\s*[\"”)\]*,.;:!(，。；：！（–—-])", bare, re.I
            ):
                found[option] = max(found.get(option, 0), len(form))
    return max(found, key=lambda option: found[option]) if found else None


def _certainty(text: str) -> float | None:
    """A share of 100, a fraction, or one of the three words."""
    number = _NUMBER.search(text)
    if number is None:
        level = _LEVEL.search(text)
        return _LEVELS[level[1].lower()] if level else None
    value = float(number["number"].replace(",", "."))
    if number["base"]:
        value /= max(1, int(number["base"]))
    elif number["percent"] or value > 1 or number["number"].isdigit():
        value /= 100
    return value if value <= 1 else None


Position = Literal["agree", "disagree", "unsure"]


def read_stances(section: str, known: Collection[str]) -> dict[str, Position]:
    """The declared stance on each known point. Contradictory ones on a point make it unsure."""
    found: dict[str, Position] = {}
    for match in _STANCE.finditer(section):
        position = _position(match["word"].lower(), match["how"].casefold())
        for point in re.findall(r"p\d+", match["ids"].casefold()):
            if point in known:
                found[point] = position if found.get(point, position) == position else "unsure"
    return found


def _position(word: str, how: str) -> Position:
    if word == "unsure" or "part" in how:
        return "unsure"
    denied = "not" in how or "don" in how
    return "agree" if (word == "agree") is not denied else "disagree"


def read_reasons(section: str) -> list[str]:
    """The claims of an answer: its list items, or its paragraphs."""
    parts = _ITEM.findall(section) or re.split(r"\n\s*\n", section)
    claims = [_one_line(part) for part in parts if not says_nothing(part)]
    return [clip(claim, 300) for claim in claims[:MOST_POINTS]]


def _one_line(text: str) -> str:
    return " ".join(text.split()).strip(_DECORATION)
