"""What was said for people: the words of a speech without the lines that only the program reads.

A declaration stands apart from the words it ends (`core.declaration_block`). Where one was broken,
or where an earlier version of the program asked for its points, stances and ballots in lines, they
are still among the words; what they say is shown as what was declared.
"""

from __future__ import annotations

import re

from ..core.declaration_block import LABEL, split_blocks
from ..core.naming import line
from ..core.pattern import pattern
from ..core.text import clip, sentences
from .emphasis import without_emphasis

BLOCKS = (LABEL, "decisions", "casting")
"""What is written for the program alone: what a seat declares, and what the host lists or asks."""
LONGEST_LINE = 200
SHORTEST_LINE = 25
"""A sentence below this says too little alone: `Welcome.`"""
_HEADING = pattern(r"^ {0,3}#{1,6}[ \t]+\S.*$|^\*\*[^*]{1,60}\*\*:?$")
_WORD = r"(?:agree|partly|disagree|unsure|amend|withdraw)"
_PROTOCOL = pattern(
    rf"""^[-*•\s]*(?:
      \**[pc]\d{{1,6}}\**\s*[:–—-]\s*\**{_WORD}\b.*      # p1: agree, because …
    | {_WORD}\s+[pc]\d{{1,6}}\b.*                        # AGREE p1: …
    | NEW(?:\s+POINT)?\s*:.*
    | (?:RANKING|VOTE|CHOICE)\s*:\s*\**o\d.*
    | (?:APPROVE[SD]?|ACCEPTABLE|REJECTS?)\s*:\s*(?:o\d.*|none\.?)
    | CONFIDENCE\s*:\s*\d{{1,3}}\s*%?
    | BECAUSE\s*:\s*(?:[pco]\d.*|none\.?|\d+/\S+)
    | SCORES?\s*:?
    | [^:]{{1,80}}:\s*[1-5]\s*/\s*5\.?
    )$""",
    re.VERBOSE | re.IGNORECASE,
)
_FENCE = pattern(r"^ {0,3}(?:`{3}|~{3})")
_LEFT_OUT = pattern(r"^\s*(?:[|>]|[-*_]{3,}\s*$)")
_LINK = pattern(r"!?\[([^\]]*)\]\([^)]*\)")
_CITED = pattern(r"\s?[\[【](?:\d+/[\w-]+/[^\s\[\]【】]+|\s?@[^\[\]【】\n]{1,120})[\]】]")
"""Whom a sentence cites is said where it stands, by name: a line of its own has no room for it."""


def spoken(text: str) -> str:
    """The words, without blocks and without lines of protocol at the end."""
    words = text
    for label in BLOCKS:
        words, _ = split_blocks(words, label)
    lines = words.split("\n")
    end = len(lines)
    for at in range(len(lines) - 1, -1, -1):
        bare = lines[at].strip()
        if not bare:
            continue
        if (
            _PROTOCOL.match(bare)
            or _reason(lines, at)
            or (end < len(lines) and _heads(lines, at, end))
        ):
            end = at
            continue
        break
    return "\n".join(lines[:end]).rstrip()


def _reason(lines: list[str], at: int) -> bool:
    """Whether this says why, right below a line of protocol."""
    above = lines[at - 1].strip() if at else ""
    return lines[at].strip().startswith("Because:") and bool(_PROTOCOL.match(above))


def _heads(lines: list[str], at: int, end: int) -> bool:
    """Whether this is the heading of what was left out right behind it."""
    return _HEADING.match(lines[at]) is not None and not any(
        each.strip() for each in lines[at + 1 : end]
    )


def first_line(words: str) -> str:
    """The first sentence that is no heading, table or quotation; for a speech that declares no
    position."""
    fenced = False
    for each in words.split("\n"):
        if _FENCE.match(each):
            fenced = not fenced
        elif not fenced and each.strip() and not _HEADING.match(each) and not _LEFT_OUT.match(each):
            linked = _LINK.sub(lambda match: match[1], _CITED.sub("", each))
            plain = without_emphasis(linked, light=True)
            if found := sentences(plain, 2):
                some = found[:2] if len(found[0]) < SHORTEST_LINE else found[:1]
                return clip(line(" ".join(some)), LONGEST_LINE)
    return ""
