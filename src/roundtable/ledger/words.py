"""Words that are looked for in all that was said: no index, but one look through the speeches.

An index would be a second copy of every word, to be kept in step with each append, and would know
words only as one database cuts them. Looking through the speeches finds what any language writes,
in every database alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.pattern import pattern
from .append import folded

SAYING = ("SpeechGiven", "VerdictReached")
"""The events that are looked through."""
ROWS_AT_ONCE = 500
_WANTED = pattern(r'["“”„«]([^"“”„«»]+)["“”»]|([^\s"“”„«»]+)')


class Words:
    """What is looked for, words and quoted phrases, and which of it was found where."""

    def __init__(self, search: str) -> None:
        found = _WANTED.findall(folded(search))
        self.wanted = frozenset(" ".join((phrase or word).split()) for phrase, word in found) - {""}
        self._found: dict[str, set[str]] = {}

    def look(self, rows: Iterable[tuple[str, str]]) -> None:
        """Look through events: of which discussion, and their data."""
        for discussion_id, data in rows:
            missing = self.wanted - self._found.get(discussion_id, frozenset())
            if missing and (text := said_in(data)):
                held = {word for word in missing if word in text}
                if held:
                    self._found.setdefault(discussion_id, set()).update(held)

    def in_discussion(self, discussion_id: str, topic: str) -> bool:
        """Whether each of the words is in its topic or was said in it."""
        missing = self.wanted - self._found.get(discussion_id, set())
        if not missing:
            return True
        asked = " ".join(folded(topic).split())
        return all(word in asked for word in missing)


def said_in(data: str) -> str:
    """What a stored event says, as it is searched; empty where it cannot be read."""
    try:
        event: dict[str, Any] = json.loads(data)
        return " ".join(folded("\n".join(_texts(event))).split())
    except (ValueError, LookupError, TypeError):
        return ""


def _texts(event: dict[str, Any]) -> Sequence[str]:
    if event["type"] == "SpeechGiven":
        works = event.get("deliverables") or ()
        return [event["text"], *(str(each.get("text", "")) for each in works)]
    verdict = event["verdict"]
    return [verdict["answer"], verdict.get("brief") or ""]
