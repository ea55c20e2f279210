"""Finding experts by words: their tags in four languages against a topic in any of them.

Embedders are weak outside English, tags are not. A tag counts for more the fewer experts bear it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence

from .expert import Expert

_CJK = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_ENDINGS = ("ungen", "ciones", "ments", "ungs", "ción", "ning", "ing", "ung", "ies", "ern", "es")
_SHORT_ENDINGS = ("en", "er", "n", "s", "e", "o", "a", "y")
LONGEST_PHRASE = 4
SHORTEST_PART = 5
"""Letters of a tag that may be found inside a longer word, such as a German compound."""
LONGEST_CJK = 8


class WordIndex:
    """The tags of a library, ready to be looked up."""

    def __init__(self, experts: Sequence[Expert]) -> None:
        bearers: dict[str, dict[int, str]] = defaultdict(dict)
        for place, expert in enumerate(experts):
            for tag in (*(t for tags in expert.tags.values() for t in tags), expert.name):
                bearers[_key(tag)].setdefault(place, tag)
        self._bearers = {key: tuple(places.items()) for key, places in bearers.items() if key}
        self._rarity = {
            key: math.log(1 + len(experts) / len(places)) for key, places in self._bearers.items()
        }

    def matches(self, topic: str) -> dict[int, dict[str, float]]:
        """For each expert that the topic names, by its place: the tags found and their weight."""
        found: dict[int, dict[str, float]] = defaultdict(dict)
        for key, share in _keys(topic):
            for place, tag in self._bearers.get(key, ()):
                weight = self._rarity[key] * share
                found[place][tag] = max(weight, found[place].get(tag, 0.0))
        return found


def _keys(topic: str) -> Iterator[tuple[str, float]]:
    """Everything in a topic that may be a tag, with how surely it is one."""
    for run in _CJK.findall(topic):
        for start in range(len(run)):
            for end in range(start + 2, min(len(run), start + LONGEST_CJK) + 1):
                yield run[start:end], 1.0
    words = [_stem(word) for word in _WORD.findall(_fold(topic))]
    for start in range(len(words)):
        for length in range(1, LONGEST_PHRASE + 1):
            if start + length <= len(words):
                # A phrase that matches as a whole says more than its words.
                yield " ".join(words[start : start + length]), 1.0 + 0.5 * (length - 1)
    for word in {word for word in words if len(word) > SHORTEST_PART}:
        for cut in range(SHORTEST_PART, len(word)):
            yield word[:cut], 0.6
            yield word[-cut:], 0.6


def _key(tag: str) -> str:
    if _CJK.search(tag):
        return "".join(_CJK.findall(tag))
    return " ".join(_stem(word) for word in _WORD.findall(_fold(tag)))


def _fold(text: str) -> str:
    """Lower case without accents: people leave them out."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _stem(word: str) -> str:
    """A rough stem: enough to match singular and plural in three languages."""
    for endings, least in ((_ENDINGS, 5), (_SHORT_ENDINGS, 4)):
        for ending in endings:
            if word.endswith(ending) and len(word) - len(ending) >= least:
                return word[: -len(ending)]
    return word
