"""Declarations: the closing block of a speech, in which its speaker tells code where it stands.

::

    ## Points
    - AGREE p2: why
    - DISAGREE p1: why, and what instead
    - UNSURE p3: what is missing
    - NEW: a claim, in one sentence
    - ACTION: something to be done - Owner: a name
    - END: yes

The host may add `- SAME p1 p4` for points that are one. What does not keep to this form is left
unread, never guessed at, and never breaks anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .contracts import says_nothing
from .text import clip, count_words
from .values import ActionItem

Position = Literal["agree", "disagree", "unsure"]
MAX_NEW = 5
"""Points that one speech can raise: a list that anybody can flood is nobody's list."""
MAX_STANCES = 60
MAX_ACTIONS = 10
MAX_CLAIM = 300
"""Characters of a claim, a reason or an action."""

_POSITIONS: dict[str, Position] = {"AGREE": "agree", "DISAGREE": "disagree", "UNSURE": "unsure"}
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s*|\*\*)(?P<title>[^#*\n]+?)\s*(?:#*|:?\*\*:?)\s*$")
_LINE = re.compile(
    r"^\s*(?P<mark>[-*•+]|\d{1,2}[.)])?\s*[*_`]*"
    r"(?P<word>AGREE|DISAGREE|UNSURE|NEW|ACTION|END|SAME)\b(?P<rest>[^\n]*)$",
    re.IGNORECASE,
)
_ID = r"[\[(*`]*\bp\s?(?P<{}>\d{{1,4}})\b[\])*`]*"
_FIRST_ID = re.compile(rf"[\s:*_`]*(?:with\s+|on\s+|to\s+|point\s+)?{_ID.format('id')}", re.I)
_NEXT_ID = re.compile(rf"\s*(?:,|;|&|/|=|and\b)?\s*{_ID.format('id')}", re.I)
_LEAD = re.compile(r"^[\s:;,.*_`)\]–—-]+")
_BECAUSE = re.compile(r"^because\s+", re.I)
_YES = re.compile(r"^(?:yes|true|in favou?r|ja|sí|si|是)\b", re.I)
_NO = re.compile(r"^(?:no|false|against|not|nein|否)\b", re.I)
_OWNER = re.compile(
    r"[\s,;.(\[–—-]*\bowners?\b[*_]*\s*[:=][*_]*\s*(?P<owner>[^()\[\]\n]+(?:\([^()\n]*\))?)[)\].\s*_]*$",
    re.I,
)
_LIST_MARK = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)])?\s*(?:\[[ xX]?\]\s*)?")


@dataclass(frozen=True, slots=True)
class DeclaredStance:
    """A position on a point of the list, with the reason that was given."""

    point_id: str
    position: Position
    reason: str


@dataclass(frozen=True, slots=True)
class Declarations:
    """What a speech's closing block says."""

    stances: tuple[DeclaredStance, ...] = ()
    new: tuple[str, ...] = ()
    """Claims for the list of points."""
    actions: tuple[ActionItem, ...] = ()
    end: bool | None = None
    """A vote on ending the discussion, if there was one."""
    same: tuple[tuple[str, ...], ...] = ()
    """Points that are one, the one that stays first."""

    @property
    def takes_positions(self) -> bool:
        return bool(self.stances or self.new)


@dataclass(frozen=True, slots=True)
class _Block:
    prose: str
    lines: tuple[str, ...]


def declarations(text: str) -> Declarations:
    """The closing block, read line by line."""
    stances: list[DeclaredStance] = []
    new: list[str] = []
    actions: list[ActionItem] = []
    same: list[tuple[str, ...]] = []
    end: bool | None = None
    for line in _parted(text).lines:
        match = _LINE.match(line)
        if match is None:
            continue
        word, rest = match["word"].upper(), match["rest"]
        if word in _POSITIONS:
            ids, reason = _ids(rest)
            stances += [DeclaredStance(each, _POSITIONS[word], reason) for each in ids]
        elif word == "SAME":
            ids, _ = _ids(rest)
            if len(ids) > 1:
                same.append(ids)
        elif word == "END":
            end = _vote(_bare(rest), end)
        elif told := _told(rest):
            if word == "NEW":
                new.append(told)
            else:
                actions.append(action_item(told))
    return Declarations(
        tuple(stances[:MAX_STANCES]),
        tuple(dict.fromkeys(new))[:MAX_NEW],
        tuple(actions[:MAX_ACTIONS]),
        end,
        tuple(same),
    )


def prose(text: str) -> str:
    """The speech without its closing block and without the heading above its words."""
    return _parted(text).prose


def action_item(line: str) -> ActionItem:
    """`1. [ ] Measure it - Owner: Ann` as an action with its owner, in whatever dress it comes."""
    bare = _LIST_MARK.sub("", line.strip(), count=1)
    match = _OWNER.search(bare)
    text = bare[: match.start()] if match else bare
    owner = match["owner"].strip(" *_.") if match else ""
    return ActionItem(text=clip(text.strip(" *_–—-"), MAX_CLAIM), owner=clip(owner, 100))


def action_items(section: str) -> tuple[ActionItem, ...]:
    """The actions of a section with one a line; headings, rules and "none" are no actions."""
    lines = (line for line in section.splitlines() if any(char.isalnum() for char in line))
    items = (action_item(line) for line in lines if not _HEADING.match(line))
    return tuple(item for item in items if item.text and not says_nothing(item.text))


def _parted(text: str) -> _Block:
    """The block stands under its heading, or, where that was forgotten, in the last lines."""
    lines = text.splitlines()
    titles = [_title(line) for line in lines]
    headed = [number for number, title in enumerate(titles) if title == "points"]
    if headed:
        start = headed[-1]
        after = range(start + 1, len(lines))
        end = next((number for number in after if titles[number]), len(lines))
        block, rest = lines[start + 1 : end], [*lines[:start], *lines[end:]]
        return _Block(_spoken(rest), tuple(block))
    start = _trailing(lines)
    return _Block(_spoken(lines[:start]), tuple(lines[start:]))


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


def _ids(rest: str) -> tuple[tuple[str, ...], str]:
    """The points that a line names at its beginning, and what it says about them."""
    match = _FIRST_ID.match(rest)
    ids: list[str] = []
    while match is not None:
        ids.append(f"p{int(match['id'])}")
        rest = rest[match.end() :]
        match = _NEXT_ID.match(rest)
    reason = _BECAUSE.sub("", _LEAD.sub("", rest).strip())
    return tuple(dict.fromkeys(ids)), clip(reason, MAX_CLAIM)


def _told(rest: str) -> str:
    """What stands after a word; empty if it is only there to say that there is nothing."""
    told = _bare(rest)
    return "" if says_nothing(told) or count_words(told) < 2 else clip(told, MAX_CLAIM)


def _bare(rest: str) -> str:
    return _LEAD.sub("", rest).strip(" *_`")


def _vote(told: str, before: bool | None) -> bool | None:
    if _YES.match(told):
        return True
    return False if _NO.match(told) else before
