"""Whose words are these: how much of a text was copied from another."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")


def copied_share(text: str, source: str, run: int = 6) -> float:
    """The share of `text`'s word runs of length `run` that stand in `source` too, 0 to 1."""
    ours = _runs(text, run)
    if not ours:
        return 0.0
    theirs = set(_runs(source, run))
    return sum(1 for each in ours if each in theirs) / len(ours)


def _runs(text: str, length: int) -> list[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return [tuple(words[i : i + length]) for i in range(len(words) - length + 1)]
