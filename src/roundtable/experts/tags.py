"""Finding experts by what a topic names: their tags, in four languages.

A tag counts for more the rarer its words are among the experts, and for less the less of it the
topic names: a team is no red team. A tag is found by words of its own language only, because stems
of two languages meet by accident: Rust is no Rüstung. Each word of the topic counts once for an
expert, however many tags bear it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from .expert import Expert
from .words import CHINESE, content_words, languages_of, parts, terms

PART_SHARE = 0.6
"""How surely a part of a longer word means the same as the word alone."""

Word = tuple[str, str]
"""A word in the form in which it is compared, and its language."""


class TagIndex:
    """The tags of a library, ready to be looked up."""

    def __init__(self, experts: Sequence[Expert]) -> None:
        bearers: dict[Word, list[int]] = defaultdict(list)
        places: list[int] = []
        self._contents: list[list[tuple[str, tuple[Word, ...]]]] = []
        for place, expert in enumerate(experts):
            contents = [
                (tag, tuple(dict.fromkeys(_words(tag, language))))
                for language, tag in labels(expert)
            ]
            for _, words in contents:
                for word in words:
                    bearers[word].append(len(places))
                places.append(place)
            self._contents.append(contents)
        self._places = places
        self._bearers = dict(bearers)
        self._rarity = {
            word: math.log(1 + len(experts) / len({places[tag] for tag in tags}))
            for word, tags in bearers.items()
        }
        self._whole = [self._weight(words) or 1.0 for tags in self._contents for _, words in tags]

    def words_in(self, topic: str, english: str) -> dict[Word, float]:
        """The words of a topic that some tag bears, with how surely the topic names them."""
        languages = languages_of(topic)
        said = [*((topic, language) for language in languages), (english, "en")]
        named = {
            word: 1.0
            for text, language in said
            for word in _words(text, language)
            if word in self._bearers
        }
        for language in languages:
            for word in content_words(topic, language):
                for part in parts(word):
                    if (part, language) in self._bearers:
                        named.setdefault((part, language), PART_SHARE)
        return named

    def scores(self, named: Mapping[Word, float]) -> list[float]:
        """For each expert: how much its tags say about these words of a topic."""
        found: dict[int, float] = defaultdict(float)
        for word, sure in named.items():
            for tag in self._bearers[word]:
                found[tag] += self._rarity[word] * sure
        total = [0.0] * len(self._contents)
        for word, sure in named.items():
            best: dict[int, float] = {}
            for tag in self._bearers[word]:
                share = found[tag] / self._whole[tag]
                place = self._places[tag]
                best[place] = max(best.get(place, 0.0), share * math.sqrt(share))
            for place, each in best.items():
                total[place] += each * self._rarity[word] * sure
        return total

    def named(
        self, named: Mapping[Word, float], place: int, languages: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """The tags of one expert of which a topic names at least half, the rarest first; those of
        the topic's own `languages` alone, where there are any."""
        found: dict[str, float] = {}
        own: set[str] = set()
        for tag, words in self._contents[place]:
            part = sum(self._rarity[word] * named[word] for word in words if word in named)
            if part and part >= self._weight(words) / 2:
                found[tag] = part
                if any(language in languages for _, language in words):
                    own.add(tag)
        return tuple(sorted(own or found, key=lambda tag: -found[tag]))

    def _weight(self, words: Sequence[Word]) -> float:
        return sum(self._rarity[word] for word in words)


def _words(text: str, language: str) -> Iterator[Word]:
    """Chinese characters are of one language wherever they stand."""
    return ((term, "zh" if CHINESE.match(term) else language) for term in terms(text, language))


def labels(expert: Expert) -> list[tuple[str, str]]:
    """What an expert is found by, each with its language: its tags and its name."""
    tags = [(language, tag) for language, tags in expert.tags.items() for tag in tags]
    return [*tags, ("en", expert.name)]
