"""The same point in other words: a match within a topic, with "unknown" as the usual answer.

Everything at one table is about one topic, so what two texts share with the topic proves nothing.
It is taken out first: its direction from the vectors, its words from the texts. And because
opposites are worded more alike than paraphrases, closeness never counts when the sides differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from operator import mul
from typing import Literal

from ..points import wording
from .lexicon import lexicon, stem, stems, words

Relation = Literal["same", "opposite", "different", "unknown"]
Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Texts to vectors of one length, in their order."""

SAME = 0.55
DIFFERENT = 0.08
"""Cosines without the topic, tuned on training halves: between them, nobody knows."""
SAME_WORDS = 0.4
"""Without vectors: the share of words that two texts must have in common."""


class Matcher:
    """Matches texts about one topic. Keeps what it worked out about each text."""

    def __init__(self, topic: str, embed: Embed | None = None) -> None:
        self._embed = embed
        self._topic = topic
        self._topic_words = set(stems(topic)) | lexicon("en").common
        self._topic_vector: list[float] = []
        self._vectors: dict[str, list[float]] = {}
        self._words: dict[str, frozenset[str]] = {}

    def prepare(self, texts: Iterable[str]) -> None:
        """Work out many texts at once, which an embedder does faster than one by one."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if self._embed is None or not new:
            return
        if not self._topic_vector:
            self._topic_vector = _unit(self._embed([self._topic])[0])
        whole = self._embed(new)
        bare = self._embed([self._without_topic(text) for text in new])
        for text, one, two in zip(new, whole, bare, strict=True):
            parts = _unit(_residue(_unit(one), self._topic_vector)) + _unit(two)
            self._vectors[text] = [value / sqrt(2) for value in parts]

    def relation(self, one: str, two: str) -> Relation:
        """How two texts relate. Symmetric."""
        (key_one, denied_one), (key_two, denied_two) = wording(one), wording(two)
        if key_one and key_one == key_two:
            return "same" if denied_one == denied_two else "opposite"
        ours, theirs = self.content(one), self.content(two)
        if not ours or not theirs:
            return "unknown"
        if self._embed is None:
            shared = 2 * len(ours & theirs) / (len(ours) + len(theirs))
            close, far = shared > SAME_WORDS, False
        else:
            cosine = self.closeness(one, two)
            close, far = cosine > SAME, cosine < DIFFERENT
        if close:
            return "unknown" if _sides_differ(one, two) else "same"
        return "different" if far else "unknown"

    def closeness(self, one: str, two: str) -> float:
        """The cosine of two texts, without what both owe to the topic."""
        self.prepare((one, two))
        return _dot(self._vectors[one], self._vectors[two])

    def content(self, text: str) -> frozenset[str]:
        """The words that are the text's own: neither common nor the topic's."""
        known = self._words.get(text)
        if known is None:
            known = self._words[text] = frozenset(stems(text)) - self._topic_words
        return known

    def _without_topic(self, text: str) -> str:
        own = [word for word in words(text) if stem(word) not in self._topic_words]
        return " ".join(own) or text


def _sides_differ(one: str, two: str) -> bool:
    """Whether one text denies what the other does not, or praises what the other blames."""
    lists = lexicon("en")
    ours, theirs = stems(one), stems(two)
    if _denials(ours) != _denials(theirs):
        return True
    moods = [
        (bool(lists.good.intersection(said)), bool(lists.bad.intersection(said)))
        for said in (set(ours) - set(theirs), set(theirs) - set(ours))
    ]
    return moods in ([(True, False), (False, True)], [(False, True), (True, False)])


def _denials(said: Sequence[str]) -> int:
    negation = lexicon("en").negation
    return sum(word in negation for word in said) % 2


def _unit(vector: Sequence[float]) -> list[float]:
    length = sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else [0.0] * len(vector)


def _dot(one: Sequence[float], two: Sequence[float]) -> float:
    total: float = sum(map(mul, one, two))
    return total


def _residue(vector: Sequence[float], direction: Sequence[float]) -> list[float]:
    along = _dot(vector, direction)
    return [value - along * part for value, part in zip(vector, direction, strict=True)]
