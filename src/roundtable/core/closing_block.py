"""The closing block of earlier versions, which a speech from outside may still end with.

::

    ## Points
    - AGREE p2: why
    - NEW: a claim, in one sentence

Nothing in it counts: what a seat holds is in its declaration. It is known so that whoever writes it
can be told, and so that it is not taken for words of the speech.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .contracts import says_nothing
from .pattern import pattern
from .text import count_words

_HEADING = pattern(r"^\s{0,3}(?:#{1,6}\s*|\*\*)(?P<title>[^#*\n]+?)\s*(?:#*|:?\*\*:?)\s*$")
_LINE = pattern(
    r"^\s*(?P<mark>[-*•+]|\d{1,2}[.)])?\s*[*_`]*"
    r"(?P<word>AGREE|DISAGREE|UNSURE|NEW|ACTION|END|SAME)\b(?P<rest>[^\n]*)$",
    re.IGNORECASE,
)
_STANCES = ("AGREE", "DISAGREE", "UNSURE")
_NAMES_A_POINT = pattern(
    r"[\s:*_`]*(?:with\s+|on\s+|to\s+|point\s+)?[\[(*`]*\bp\s?\d{1,4}\b", re.IGNORECASE
)
_LEAD = pattern(r"^[\s:;,.*_`)\]–—-]+")


@dataclass(frozen=True, slots=True)
class _Parted:
    prose: str
    lines: tuple[str, ...]


def prose(text: str) -> str:
    """The speech without its closing block and without the heading above its words."""
    return _parted(text).prose


def takes_positions(text: str) -> bool:
    """Whether the block says what its speaker holds: a stance on a point, or a new one."""
    return any(map(_takes_position, _parted(text).lines))


def _takes_position(line: str) -> bool:
    match = _LINE.match(line)
    if match is None:
        return False
    word, rest = match["word"].upper(), match["rest"]
    if word in _STANCES:
        return _NAMES_A_POINT.match(rest) is not None
    claim = _LEAD.sub("", rest).strip(" *_`")
    return word == "NEW" and count_words(claim) > 1 and not says_nothing(claim)


def _parted(text: str) -> _Parted:
    """The block stands under its heading, or, where that was forgotten, in the last lines."""
    lines = text.splitlines()
    titles = [_title(line) for line in lines]
    headed = [number for number, title in enumerate(titles) if title == "points"]
    if headed:
        start = headed[-1]
        after = range(start + 1, len(lines))
        end = next((number for number in after if titles[number]), len(lines))
        block, rest = lines[start + 1 : end], [*lines[:start], *lines[end:]]
        return _Parted(_spoken(rest), tuple(block))
    start = _trailing(lines)
    return _Parted(_spoken(lines[:start]), tuple(lines[start:]))


def _trailing(lines: Sequence[str]) -> int:
    """Where the last lines that keep to the form begin: in capitals, as they were asked for."""
    start = number = len(lines)
    while number > 0:
        number -= 1
        bare = lines[number].strip()
        match = _LINE.match(lines[number])
        if match is not None and match["word"].isupper() and match["mark"]:
            start = number
        elif bare.strip("`~"):
            break
    return start


def _spoken(lines: Sequence[str]) -> str:
    return "\n".join(line for line in lines if _title(line) != "speech").strip()


def _title(line: str) -> str:
    match = _HEADING.match(line)
    return match["title"].strip(" :").casefold() if match else ""
