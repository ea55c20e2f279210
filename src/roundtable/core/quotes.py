"""Whose words are these: how much of a text was copied, and whether a quotation is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from .pattern import pattern
from .text import count_words

SHORTEST_QUOTATION = 4
"""Words. Fewer between quotation marks are a name or a term, not a quotation."""

QUOTED = "(?:{})".format(
    "|".join(
        rf"{opening}(?:[^{inside}\n]|\n(?!\n))*{closing}"
        for opening, inside, closing in (
            (r'(?<!\w)"', '"', '"'),  # not the inches of a 7" pipe
            ("“", "”", "”"),
            ("„", "“”", "[“”]"),
            ("«", "»", "»"),
            ("»", "«", "«"),
            ("「", "」", "」"),
            ("『", "』", "』"),
        )
    )
)
"""The pattern of words between quotation marks, without groups: the marks are its first and last
character."""
_WORD = pattern(r"\w+")
_CJK = pattern(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_CUT = pattern(r"\[?(?:…|\.\.\.)\]?")


@lru_cache(maxsize=64)  # the same few texts are held against each other at every decision
def copied_share(text: str, source: str, run: int = 6) -> float:
    """The share of `text`'s word runs of length `run` that stand in `source` too, 0 to 1."""
    ours = _runs(text, run)
    if not ours:
        return 0.0
    theirs = set(_runs(source, run))
    return sum(1 for each in ours if each in theirs) / len(ours)


def find_quote(quote: str, sources: Mapping[str, str]) -> str | None:
    """The key of the first source that holds the quotation word for word; None if none does.

    Case, white space and punctuation may differ, words may not. An ellipsis stands for words left
    out, so the parts around it must come in their order. An empty quotation stands nowhere.
    """
    parts = _parts(quote)
    if not parts:
        return None
    return next((key for key, text in sources.items() if _holds(_plain(text), parts)), None)


class Sources:
    """Texts in which many quotations are looked for: each text is read once, and a quotation looked
    for only where its rarest word stands."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._read: tuple[tuple[str, str], ...] = ()
        self._with: dict[str, list[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._texts)

    def find(self, quote: str, but: Callable[[str], bool] = lambda _: False) -> str | None:
        """As `find_quote` does, in all texts `but` some."""
        if not self._read:
            self._look_through()
        parts = _parts(quote)
        words = {word for part in parts for word in part.split()}
        if not words or not words <= self._with.keys():
            return None
        for place in min((self._with[word] for word in words), key=len):
            key, text = self._read[place]
            if not but(key) and _holds(text, parts):
                return key
        return None

    def _look_through(self) -> None:
        self._read = tuple((key, _plain(text)) for key, text in self._texts.items())
        for place, (_, text) in enumerate(self._read):
            for word in set(text.split()):
                self._with.setdefault(word, []).append(place)


def is_quotation(words: str) -> bool:
    """Whether words between quotation marks are enough to be somebody's."""
    return count_words(words) >= SHORTEST_QUOTATION


def _parts(quote: str) -> list[str]:
    """What stands between the ellipses of a quotation, as plain words."""
    return [words for part in _CUT.split(quote) if (words := _plain(part))]


def _holds(text: str, parts: Sequence[str]) -> bool:
    start = 0
    for part in parts:
        found = text.find(part, start)
        if found < 0:
            return False
        start = found + len(part) - 1
    return True


@lru_cache(maxsize=512)
def _plain(text: str) -> str:
    """The words with one space around each, so that none is found within another."""
    folded = text.casefold()
    words = _WORD.findall(folded if folded.isascii() else _CJK.sub(r" \1 ", folded))
    return f" {' '.join(words)} " if words else ""


def _runs(text: str, length: int) -> list[tuple[str, ...]]:
    words = _plain(text).split()
    return [tuple(words[i : i + length]) for i in range(len(words) - length + 1)]
