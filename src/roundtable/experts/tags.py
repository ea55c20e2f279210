"""Finding experts by what a topic names: their tags, in four languages.

A tag counts for more the rarer its words are among the experts, and for less the less of it the
topic names: a team is no red team. A tag is found by words of its own language only, because stems
of two languages meet by accident: Rust is no Rüstung. Each word of the topic counts once for an
expert, however many tags bear it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from .expert import Expert
from .words import CHINESE, content_words, languages_of, parts, stem, terms

PART_SHARE = 0.6
"""How surely a part of a longer word means the same as the word alone."""

Word = tuple[str, str]
"""A word in the form in which it is compared, and its language."""


class TagIndex:
    """The tags of a library, ready to be looked up. Those of a language are prepared when a topic
    of that language comes: most of them are of others."""

    def __init__(self, experts: Sequence[Expert]) -> None:
        self._experts = len(experts)
        self._labels = [labels(expert) for expert in experts]
        self._places = [place for place, tags in enumerate(self._labels) for _ in tags]
        self._contents: list[list[tuple[str, tuple[Word, ...]] | None]] = [
            [None] * len(tags) for tags in self._labels
        ]
        self._words: dict[int, tuple[Word, ...]] = {}
        self._bearers: dict[Word, list[int]] = {}
        self._rare: dict[Word, float] = {}
        self._all = {language for tags in self._labels for language, _ in tags}
        self._prepared: set[str] = set()
        others = (tag for tags in self._labels for language, tag in tags if language != "zh")
        self._mixed = CHINESE.search("\n".join(others)) is not None

    def _prepare(self, languages: Iterable[str]) -> None:
        """Chinese words count as Chinese wherever they stand: where tags of other languages have
        some, all are prepared together, so that no count depends on who was asked for before."""
        wanted = self._all if self._mixed else {*languages} & self._all
        new = wanted - self._prepared
        if not new:
            return
        self._prepared |= new
        bearers: dict[Word, list[int]] = defaultdict(list)
        number = 0
        for tags, contents in zip(self._labels, self._contents, strict=True):
            for at, (language, tag) in enumerate(tags):
                if language in new:
                    words = tuple(dict.fromkeys(_words(tag, language)))
                    contents[at] = (tag, words)
                    for word in words:
                        bearers[word].append(number)
                    self._words[number] = words
                number += 1
        self._bearers.update(bearers)

    def words_in(self, topic: str, english: str) -> dict[Word, float]:
        """The words of a topic that some tag bears, with how surely the topic names them."""
        languages = languages_of(topic)
        chinese = CHINESE.search(topic + english)
        self._prepare([*languages, "en", *(["zh"] if chinese else ())])
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
                found[tag] += self._rarity(word) * sure
        total = [0.0] * len(self._contents)
        whole = {tag: self._weight(self._words[tag]) or 1.0 for tag in found}
        for word, sure in named.items():
            best: dict[int, float] = {}
            for tag in self._bearers[word]:
                share = found[tag] / whole[tag]
                place = self._places[tag]
                best[place] = max(best.get(place, 0.0), share * math.sqrt(share))
            for place, each in best.items():
                total[place] += each * self._rarity(word) * sure
        return total

    def named(
        self, named: Mapping[Word, float], place: int, languages: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """The tags of one expert of which a topic names at least half, the rarest first; those of
        the topic's own `languages` alone, where there are any."""
        found: dict[str, float] = {}
        own: set[str] = set()
        for tag, words in filter(None, self._contents[place]):
            part = sum(self._rarity(word) * named[word] for word in words if word in named)
            if part and part >= self._weight(words) / 2:
                found[tag] = part
                if any(language in languages for _, language in words):
                    own.add(tag)
        # Of equally rare ones the expert's own order counts; a set has another in every process.
        told = [tag for tag in found if not own or tag in own]
        return tuple(sorted(told, key=lambda tag: -found[tag]))

    def _weight(self, words: Sequence[Word]) -> float:
        return sum(self._rarity(word) for word in words)

    def _rarity(self, word: Word) -> float:
        """More the fewer experts have it among their tags. Counted when a topic comes to it."""
        found = self._rare.get(word)
        if found is None:
            bearing = len({self._places[tag] for tag in self._bearers[word]})
            found = self._rare[word] = math.log(1 + self._experts / bearing)
        return found


def _words(text: str, language: str) -> list[Word]:
    """Chinese characters are of one language wherever they stand."""
    if text.isascii():
        return [(stem(word), language) for word in content_words(text, language)]
    return [(term, "zh" if CHINESE.match(term) else language) for term in terms(text, language)]


def labels(expert: Expert) -> list[tuple[str, str]]:
    """What an expert is found by, each with its language: its tags and its name."""
    tags = [(language, tag) for language, tags in expert.tags.items() for tag in tags]
    return [*tags, ("en", expert.name)]
