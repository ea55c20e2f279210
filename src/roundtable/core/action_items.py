"""Action items as people write them: one a line, with or without an owner."""

from __future__ import annotations

import re

from .contracts import says_nothing
from .text import clip
from .values import ActionItem

LONGEST = 1_000
"""Characters of an action."""
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s*|\*\*)[^#*\n]+?\s*(?:#*|:?\*\*:?)\s*$")
_OWNER = re.compile(
    r"[\s,;.(\[–—-]*\bowners?\b[*_]*\s*[:=][*_]*\s*(?P<owner>[^()\[\]\n]+(?:\([^()\n]*\))?)[)\].\s*_]*$",
    re.I,
)
_LIST_MARK = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)])?\s*(?:\[[ xX]?\]\s*)?")


def action_item(line: str) -> ActionItem:
    """`1. [ ] Measure it - Owner: Ann` as an action with its owner, in whatever dress it comes."""
    bare = _LIST_MARK.sub("", line.strip(), count=1)
    match = _OWNER.search(bare)
    text = bare[: match.start()] if match else bare
    owner = match["owner"].strip(" *_.") if match else ""
    return ActionItem(text=clip(text.strip(" *_–—-"), LONGEST), owner=clip(owner, 100))


def action_items(section: str) -> tuple[ActionItem, ...]:
    """The actions of a section with one a line; headings, rules and "none" are no actions."""
    lines = (line for line in section.splitlines() if any(char.isalnum() for char in line))
    items = (action_item(line) for line in lines if not _HEADING.match(line))
    return tuple(item for item in items if item.text and not says_nothing(item.text))
