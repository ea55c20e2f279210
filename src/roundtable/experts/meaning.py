"""What texts mean, as an embedder sees it: how near a topic is to experts and to their fields.

The embedder and what it counts with are an extra, so this is the only part of choosing experts that
needs numpy; whoever has no embedder chooses by words alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ports import Embedder
from .words import content_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CORE_SHARE = 0.6
"""How much of a topic's vector comes from its telling words alone."""


class Meaning:
    """The vectors of a library, and of its groups."""

    def __init__(
        self,
        texts: Sequence[str],
        groups: Sequence[Sequence[int]],
        embedder: Embedder,
        vectors: Sequence[Sequence[float]] | NDArray[np.float32] | None = None,
    ) -> None:
        """`groups` are places in `texts`; `vectors`, if they were kept from before, are the
        embedder's for the texts."""
        import numpy as np

        self._embedder = embedder
        made = embedder.embed(list(texts)) if vectors is None else vectors
        self._vectors = _unit(made, len(texts))
        middles = [self._vectors[list(places)].mean(axis=0) for places in groups]
        self._middles = _unit(np.array(middles, np.float32), len(groups))

    def near(self, said: str) -> tuple[list[float], list[float]]:
        """How near a topic in English is to each text, and to each group: from 0 to 1."""
        vector = self._vector(said)
        own, fields = (_products(rows, vector)[:, 0] for rows in (self._vectors, self._middles))
        return [max(0.0, each) for each in own.tolist()], [max(0.0, e) for e in fields.tolist()]

    def likeness(self, places: Sequence[int], others: Sequence[int]) -> list[list[float]]:
        """A row for each of some places, a column for each of some others."""
        rows: list[list[float]] = _products(
            self._vectors[list(places)], self._vectors[list(others)]
        ).tolist()
        return rows

    def _vector(self, said: str) -> NDArray[np.float32]:
        """What a topic means: the whole of it, and, for more, its words without the small ones,
        which in a short question outnumber the others and mean nothing."""
        bare = " ".join(content_words(said, "en")) or said
        if bare == said:
            return _unit(self._embedder.embed([said]), 1)
        both = _unit(self._embedder.embed([said, bare]), 2)
        return _unit((1 - CORE_SHARE) * both[:1] + CORE_SHARE * both[1:], 1)


def _products(rows: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Everybody with everybody. Not by `@`, which sets threads to work that wait for each other
    longer than these few numbers take."""
    import numpy as np

    products: NDArray[np.float32] = np.einsum("ij,kj->ik", rows, others)
    return products


def _unit(rows: Sequence[Sequence[float]] | NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Vectors of length one; a vector of nothing stays nothing."""
    import numpy as np

    matrix = np.asarray(rows, dtype=np.float32).reshape(count, -1)
    length = np.linalg.norm(matrix, axis=1, keepdims=True).astype(np.float32)
    length[length == 0] = 1
    unit: NDArray[np.float32] = matrix / length
    return unit
