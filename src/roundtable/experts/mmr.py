"""Maximal marginal relevance: the next one is relevant, and unlike those already chosen.

`score = λ × relevance − (1 − λ) × similarity to the most similar one already chosen`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAMBDA = 0.7
"""Of each score, the share of relevance; the rest is difference."""


class Pick(NamedTuple):
    """One that was chosen."""

    place: int
    similarity: float
    """To the most similar one chosen before it; 0 for the first."""
    score: float


def mmr(
    relevance: NDArray[np.float32],
    similar_to: Callable[[int], NDArray[np.float32]],
    count: int,
    *,
    lam: float = LAMBDA,
    first: Sequence[int] = (),
    barred: Callable[[Sequence[int]], NDArray[np.bool_] | None] = lambda _: None,
) -> list[Pick]:
    """The places chosen, in order, at most `count` of them unless `first` are more. Of equal ones
    the earlier place wins.

    `similar_to` gives everybody's similarity to one place. `first` are seated before anybody is
    chosen. `barred` may rule places out, given those already chosen; when nobody else is left it
    rules out nobody.
    """
    import numpy as np

    free = np.ones(len(relevance), dtype=bool)
    nearest = np.zeros(len(relevance), dtype=np.float32)
    picks: list[Pick] = []
    waiting = list(first)
    while waiting or len(picks) < min(count, len(relevance)):
        score = lam * relevance - (1.0 - lam) * nearest
        if waiting:
            place = waiting.pop(0)
        else:
            out = barred([pick.place for pick in picks])
            allowed = free if out is None or not (free & ~out).any() else free & ~out
            place = int(np.argmax(np.where(allowed, score, -np.inf)))
        picks.append(Pick(place, float(nearest[place]), float(score[place])))
        free[place] = False
        similarity = similar_to(place)
        # The first one's similarities count as they are: unlike may mean less than nothing shared.
        nearest = similarity if len(picks) == 1 else np.maximum(nearest, similarity)
    return picks
