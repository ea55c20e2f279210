"""What was said of documents when they were read here, before there was a discussion to say it.

Nothing of a document is kept in between. The page gets what was said as a receipt, signed by this
installation, and brings it with the question: so the discussion says of a document what was found
out here, and nothing that a browser made up.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import StringConstraints

from ...core.errors import UsageError
from ...core.events import NoteAdded
from ...core.naming import line
from ...documents.gathered import Gathered
from .links import Links

Receipt = Annotated[str, StringConstraints(max_length=16_000)]
_PURPOSE = b"document"


def receipt(links: Links, name: str, lines: Sequence[str], *, missed: bool = False) -> str:
    """Of one document: what was said of it; `missed` if nothing of it could be read."""
    told = [[f"{name} {each}" for each in lines], missed]
    return links.signed(_PURPOSE, json.dumps(told, ensure_ascii=False).encode())


def notes_of(
    links: Links, receipts: Iterable[str], left_out: Iterable[str]
) -> tuple[NoteAdded, ...]:
    """What a discussion says of the documents that were to come with its question: by their
    receipts, and of those that were left out by their names. UsageError for a receipt
    that was not given out here."""
    lines: list[str] = []
    missed: list[str] = []
    for each in receipts:
        payload = links.unsigned(_PURPOSE, each)
        if payload is None:
            raise UsageError(
                "The receipt of a document is not of this server.", "Add the document again."
            )
        told, unread = json.loads(payload)
        lines += told
        missed += told if unread else []
    for name in filter(None, map(line, left_out)):
        missed.append(f"{name} did not come with the question: it did not fit, or was not sent")
        lines.append(missed[-1])
    return Gathered(lines=tuple(lines), missed=frozenset(missed)).notes
