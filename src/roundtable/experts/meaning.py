"""What texts mean, as an embedder sees it: how near a topic is to experts and to their fields.

Plain numbers: a library has some hundred vectors and a choice looks at each once, which takes less
than loading something that would be quicker at it. Whoever has no embedder chooses by words alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import dist, hypot

from ..ports import Embedder
from .words import content_words

CORE_SHARE = 0.6
"""How much of a topic's vector comes from its telling words alone."""
Vector = tuple[float, ...]
"""Of length one, or of nothing but zeros."""


class Meaning:
    """The vectors of a library, and of its groups."""

    def __init__(
        self,
        texts: Sequence[str],
        groups: Sequence[Sequence[int]],
        embedder: Embedder,
        vectors: Sequence[Sequence[float]] | None = None,
    ) -> None:
        """`groups` are places in `texts`; `vectors`, if they were kept from before, are the
        embedder's for the texts."""
        self._embedder = embedder
        made = embedder.embed(list(texts)) if vectors is None else vectors
        self._vectors = [_unit(each) for each in made]
        self._middles = [
            _unit([sum(each) for each in zip(*map(self._vectors.__getitem__, places), strict=True)])
            for places in groups
        ]

    def near(self, said: str) -> tuple[list[float], list[float]]:
        """How near a topic in English is to each text, and to each group: from 0 to 1."""
        vector = self._vector(said)
        own, fields = (
            [max(0.0, _cosine(each, vector)) for each in rows]
            for rows in (self._vectors, self._middles)
        )
        return own, fields

    def likeness(self, places: Sequence[int], others: Sequence[int]) -> list[list[float]]:
        """A row for each of some places, a column for each of some others."""
        theirs = [self._vectors[other] for other in others]
        return [[_cosine(self._vectors[place], each) for each in theirs] for place in places]

    def _vector(self, said: str) -> Vector:
        """What a topic means: the whole of it, and, for more, its words without the small ones,
        which in a short question outnumber the others and mean nothing."""
        bare = " ".join(content_words(said, "en")) or said
        if bare == said:
            return _unit(self._embedder.embed([said])[0])
        whole, core = map(_unit, self._embedder.embed([said, bare]))
        return _unit(
            [(1 - CORE_SHARE) * w + CORE_SHARE * c for w, c in zip(whole, core, strict=True)]
        )


def _unit(numbers: Sequence[float]) -> Vector:
    """A vector of length one; a vector of nothing stays nothing."""
    length = hypot(*numbers) or 1.0
    return tuple([number / length for number in numbers])


def _cosine(one: Vector, other: Vector) -> float:
    """By the distance of the two, which is found many times quicker than their product is."""
    if not any(one) or not any(other):
        return 0.0
    return 1.0 - dist(one, other) ** 2 / 2
