"""Minutes: what a clerk model read from speeches that declared nothing, as far as it can show it.

The second source of points and stances, after what participants declare and before the rules. The
form is one line each; a line counts only with a quotation that stands in that very speech, word
for word. What does not keep to the form is left unread, and never breaks anything.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..points import Position
from ..quotes import find_quote
from ..text import clip, count_words

SHORTEST_QUOTATION = 3
"""Words. Fewer stand in every speech and show nothing."""
MOST_NEW = 3
"""Points that the clerk may find in one speech."""
LONGEST = 300

_START = r"^[\s>*_`#•+\-]*(?:\d{1,2}[.)]\s*)?[*_`]*"
_SPEECH = re.compile(
    _START + r"SPEECH[\s*_`]+(?P<label>[A-Z])(?![A-Za-z])[\s*_`:：.–—-]*$", re.IGNORECASE
)
_STANCE = re.compile(
    _START + r"(?P<word>AGREE|DISAGREE|UNSURE)[\s*_`:：]+(?:with\s+|on\s+)?"
    r"[\[(*`]*p\s?(?P<id>\d{1,4})\b[\])*`]*[\s*_`:：.,–—-]*(?P<quote>.+)$",
    re.IGNORECASE,
)
_NEW = re.compile(_START + r"NEW[\s*_`]*[:：]\s*(?P<rest>.+)$", re.IGNORECASE)
_QUOTED = re.compile(r"^(?P<claim>.*?)[\s:：–—(-]*[\"“„«「](?P<quote>.+?)[\"”“»」][\s).*_`]*$")
_MARKS = '"“”„«»「」'
_POSITIONS: dict[str, Position] = {"AGREE": "agree", "DISAGREE": "disagree", "UNSURE": "unsure"}


@dataclass(frozen=True, slots=True)
class Minute:
    """One line that holds: a stance on a point of the list, or a claim that is new to it."""

    position: Position
    quote: str
    """The speaker's own words, as the speech has them but for case and punctuation."""
    point: str = ""
    """The id of the point; empty for a new claim."""
    claim: str = ""


def read_minutes(
    text: str, speeches: Mapping[str, str], known: Collection[str]
) -> dict[str, tuple[Minute, ...]]:
    """What the clerk shows of each speech, by its letter; speeches of which it shows nothing are
    left out. `known` are the points that may be named."""
    found: dict[str, list[Minute]] = {}
    label = ""
    for line in text.splitlines():
        if heading := _SPEECH.match(line):
            label = heading["label"].upper()
        elif label in speeches and (minute := _minute(line, speeches[label], known)):
            here = found.setdefault(label, [])
            if minute.point or sum(not each.point for each in here) < MOST_NEW:
                here.append(minute)
    return {label: tuple(dict.fromkeys(minutes)) for label, minutes in found.items()}


def _minute(line: str, speech: str, known: Collection[str]) -> Minute | None:
    if stance := _STANCE.match(line):
        point = f"p{int(stance['id'])}"
        quote = _shown(stance["quote"], speech)
        if point not in known or not quote:
            return None
        return Minute(_POSITIONS[stance["word"].upper()], quote, point=point)
    if (new := _NEW.match(line)) and (parted := _QUOTED.match(new["rest"])):
        claim = clip(parted["claim"].strip(" *_`"), LONGEST)
        quote = _shown(parted["quote"], speech)
        if quote and count_words(claim) > 1:
            return Minute("agree", quote, claim=claim)
    return None


def _shown(quoted: str, speech: str) -> str:
    """The longest piece of a quotation that stands in the speech; empty if none does."""
    pieces = [quoted, *re.split(f"[{_MARKS}]", quoted)]
    true = [
        piece.strip(f"{_MARKS} *_`.")
        for piece in pieces
        if count_words(piece) >= SHORTEST_QUOTATION and find_quote(piece, {"speech": speech})
    ]
    return clip(max(true, key=len, default=""), LONGEST)
