"""Finding a discussion by what somebody calls it: its id, the beginning of it, `last`, or the name
of an example."""

from __future__ import annotations

import re

from ..core.errors import AmbiguousDiscussion, UnknownDiscussion
from ..core.text import clip
from ..core.values import EXAMPLE
from ..ports import Ledger

LAST = "last"
"""In place of an id: the discussion that was changed last."""
WHOLE = re.compile(r"rt_[0-9a-f]{8}")
_BEGINNING = re.compile(r"rt_[0-9a-f]{1,8}|[0-9a-f]{4,8}")
"""Without `rt_` a letter or three may be a word: `roundtable delete a` names nothing."""
_TOLD = 5


def means_discussion(word: str) -> bool:
    """Whether a word that could be something else is meant as a discussion: `last`, `example:NAME`,
    or what begins like an id."""
    return word == LAST or word.startswith(("rt_", EXAMPLE))


async def find_discussion(ledger: Ledger, called: str) -> str:
    """The id of the discussion that is meant: `last`, a whole id, or the beginning of one, with or
    without its `rt_`. UnknownDiscussion if there is none, AmbiguousDiscussion if several begin
    so. A whole id, and the name of an example, is taken as it is: whoever reads it finds out."""
    name = called.strip()
    if WHOLE.fullmatch(name) or name.startswith(EXAMPLE):
        return name
    if name == LAST:
        newest = await ledger.summaries(limit=1)
        if not newest:
            raise UnknownDiscussion(LAST)
        return newest[0].discussion_id
    if not _BEGINNING.fullmatch(name.casefold()):
        return name
    begins = f"rt_{name.casefold().removeprefix('rt_')}"
    found = [row for row in await ledger.summaries() if row.discussion_id.startswith(begins)]
    if len(found) > 1:
        told = [f"{row.discussion_id} ({clip(row.topic, 40)})" for row in found]
        raise AmbiguousDiscussion(name, told[:_TOLD], len(found))
    return found[0].discussion_id if found else name
