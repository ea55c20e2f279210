"""The trust fence: untrusted text stands between markers that carry a nonce.

The words of the markers are known to everybody, the nonce only to the one prompt it was drawn for,
so nothing inside the fence can end it.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from .effects import Untrusted
from .lookalikes import replace_alike

MARKERS = {
    "question": "USER QUERY",
    "context": "CONTEXT",
    "web": "WEB RESULT",
    "speech": "SPEECH",
    "findings": "JOINT FINDINGS",
    "task": "SUB-TASK",
    "remark": "REMARK",
    "options": "OPTIONS",
    "summary": "ROUND SUMMARY",
    "points": "LIST OF POINTS",
    "challenges": "CHALLENGES",
    "disputes": "DISPUTES",
    "results": "GROUP RESULTS",
    "deliverable": "DELIVERABLE",
    "seat": "SEAT DESCRIPTION",
}
"""The kinds of untrusted text and the words of their markers."""

_WORDS = "|".join(marker.replace(" ", r"\s+") for marker in MARKERS.values())
_DASHES = r"(?<!-)-{2,}+\s*+"
_FORGED = re.compile(
    rf"{_DASHES}END\s+(?:{_WORDS})\b(?:\s*-+)?"
    # An opening marker has dashes on both sides: the option `--context FILE` has not.
    rf"|{_DASHES}(?:{_WORDS})\s*(?:\(\s*untrusted\s*\)(?:\s*-+)?|-{{2,}})"
    r"|\[/?\s*fence\b[^\]\n]*\]?",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"^(?P<mark>[ \t>]*(?:`{3,}|~{3,})[ \t]*)(?P<label>declaration|decisions|deliverable)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A block of code that bears a label of ours: whoever copies it must not declare by it."""
AS_IT_IS = frozenset({"deliverable"})
"""Kinds that keep such labels: a work is revised from what is shown of it. A declaration that was
copied from one is found where the speech is read (`copied`)."""
REMOVED = "[marker removed]"
REMEMBERED = 32_000
"""Characters of a text that is kept when it is cleaned; larger ones would fill the memory."""


def discussion_nonce(discussion_id: str, seed: int) -> str:
    """The nonce of all prompts of a discussion that begin alike. Only prompts show it, and what
    stands in a fence never holds it, so a speaker who read it cannot use it either."""
    return hashlib.sha256(f"fence/{discussion_id}/{seed}".encode()).hexdigest()[:12]


def fence(untrusted: Untrusted, nonce: str) -> str:
    """The text inside its fence, with everything that looks like a fence taken out of it."""
    marker = MARKERS[untrusted.kind]
    source = f"from {untrusted.source}\n" if untrusted.source else ""
    # In one piece: half a marker in the source and half in the text must not meet.
    labels = untrusted.kind not in AS_IT_IS
    clean = neutralise(source + untrusted.text, nonce, labels=labels)
    opening, ending = f"---{marker} (untrusted)---", f"---END {marker}---"
    return f"{opening}\n[fence {nonce}]\n{clean}\n[/fence {nonce}]\n{ending}"


def labels_in(text: str) -> tuple[str, ...]:
    """The labels of ours that blocks in a text bear, each once, in their order."""
    found = (match["label"].casefold() for match in _LABELLED.finditer(text))
    return tuple(dict.fromkeys(found))


def neutralise(text: str, nonce: str, *, labels: bool = True) -> str:
    """The text without forged markers and without the nonce; with `labels` blocks that bear a label
    of ours are called quoted."""
    # What was said is put into every later prompt of its discussion: it is cleaned once.
    clean = _remembered if len(text) <= REMEMBERED else _cleaned
    return clean(text, nonce, labels)


def _cleaned(text: str, nonce: str, labels: bool) -> str:
    """A marker is known by its looks: dashes, letters and blanks of other alphabets count as ours,
    and what has no width does not count."""
    for pattern in (re.compile(re.escape(nonce), re.IGNORECASE), _FORGED):
        text = replace_alike(pattern, lambda _: REMOVED, text)
    if not labels:
        return text
    return replace_alike(_LABELLED, lambda found: f"{found['mark']}quoted", text)


_remembered = lru_cache(maxsize=256)(_cleaned)
