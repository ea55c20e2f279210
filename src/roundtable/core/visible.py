"""Nothing hidden in a text: what nobody sees, or what turns the order of letters around, is shown.

Writing needs some characters that cannot be seen: joiners in emoji and in Persian, marks of
direction in Hebrew and Arabic, selectors of a letter's form. They stay where writing has them.
Everything else of that kind only serves to deceive whoever reads, or to command a terminal.

A mark of direction stands for a letter that is not there. Beside letters that are, it settles
where a full stop or a number belongs. Alone it turns "3 : 0" into "0 : 3", and a whole paragraph
where the first letter decides which way that is read: there it is left out.
"""

from __future__ import annotations

import re
import unicodedata

from .pattern import pattern
from .text import readable, redact

_JOINING = "\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e\u00ad"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_MOST_JOINING = 3
"""Characters without width that writing may have in a row; more are a message to machines."""
_HIDDEN = pattern(
    # A flag of a region is a black flag and letters that nobody sees: these are kept.
    "(?P<flag>\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f)"
    "|[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]"
    "|[\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]"
    f"|(?<=[{_JOINING}]{{{_MOST_JOINING}}})[{_JOINING}]+"
    f"|(?<=[{_SELECTORS}])[{_SELECTORS}]+"
)
_LEFT_TO_RIGHT = "\u200e"
_MARKS = pattern(f"[{_LEFT_TO_RIGHT}\u200f\u061c]")
_LINE = pattern(r"[^\n]+")
_DIRECTIONS = {"L": "L", "R": "R", "AL": "R"}
"""Of letters, by the names that Unicode has for them; digits and signs go with their neighbours."""
_SELECTED = pattern(f"[{_SELECTORS}]")
_LINE_END = pattern(r"\r\n?")
_SEEN_ASCII = bytes([*range(0x20, 0x7F), *b"\t\n"])
_PICTURES = 0x2400
"""Where Unicode has a picture of each control code."""


def visible(text: str) -> str:
    """The text with control codes, overrides of direction and hidden messages written out: codes as
    their pictures (␛), the others as their numbers (`\\u202e`); without marks of direction where no
    letters call for one. Line ends become plain ones."""
    if "\r" in text:
        text = _LINE_END.sub("\n", text)
    # Every text that leaves comes here, and most of all letters need no second look.
    rest = text.encode("utf-8", "surrogatepass").translate(None, _SEEN_ASCII)
    if rest:
        unusual = rest.decode("utf-8", "surrogatepass")
        # Selectors aside, what hides anything is not printable. What stands side by side in the
        # text does so here.
        if not unusual.isprintable() or _SELECTED.search(unusual):
            if _HIDDEN.search(unusual):
                text = _HIDDEN.sub(_written, text)
            if _MARKS.search(unusual):
                text = _LINE.sub(_well_marked, text)
    return text


def shown(text: str) -> str:
    """A text as it may leave where nobody takes it for Markdown: readable, without secrets,
    nothing hidden."""
    return visible(redact(readable(text)))


def written(text: str) -> str:
    """The text with all that cannot be seen written out, where it must not hide anything at all:
    joiners too, except for the line ends and tabs of writing."""
    return "".join(_number(char) if _unseen(char) else char for char in text)


def _well_marked(match: re.Match[str]) -> str:
    """A line with those marks alone that its letters call for: one at a time, where the line begins
    with a letter that is read from the right, or the next one on either side is. Which way a line
    begins is never for a mark to say."""
    line = match[0]
    if not _MARKS.search(line):
        return line
    directions = [_direction(char) for char in line]
    nexts, after = [""] * len(line), ""
    for place in range(len(line) - 1, -1, -1):
        nexts[place] = after
        after = directions[place] or after
    first, before, marked = after, "", False
    kept: list[str] = []
    for char, direction, after in zip(line, directions, nexts, strict=True):
        if _MARKS.match(char):
            called_for = "R" in (first, before, after) and (before or char != _LEFT_TO_RIGHT)
            if marked or not called_for:
                continue
            marked = True
        else:
            before, marked = direction or before, marked and not char.isprintable()
        kept.append(char)
    return "".join(kept)


def _direction(char: str) -> str:
    """Of a letter that can be seen: L or R."""
    if not char.isalpha():
        return ""
    return _DIRECTIONS.get(unicodedata.bidirectional(char), "")


def _unseen(char: str) -> bool:
    return char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Co", "Zl", "Zp")


def _written(match: re.Match[str]) -> str:
    return match["flag"] or "".join(_shown(char) for char in match[0])


def _shown(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(_PICTURES + code)
    return "\u2421" if code == 0x7F else _number(char)


def _number(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
