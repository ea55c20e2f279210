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
FIRST_LOOK = 64
"""How many of the most promising are compared at once, before more are."""


class Pick(NamedTuple):
    """One that was chosen."""

    place: int
    similarity: float
    """To the most similar one chosen before it; 0 for the first."""


def mmr(
    relevance: NDArray[np.float32],
    similarity: Callable[[NDArray[np.intp], Sequence[int]], NDArray[np.float32]],
    count: int,
    *,
    lam: float = LAMBDA,
    first: Sequence[int] = (),
    among: NDArray[np.bool_] | None = None,
    barred: Callable[[Sequence[int]], NDArray[np.bool_] | None] = lambda _: None,
) -> list[Pick]:
    """The places chosen, in order, at most `count` of them unless `first` are more. Of equal
    scores the more relevant wins, then the earlier place.

    `similarity` gives a row of similarities for each of some places, a column for each of some
    others; below zero is taken for zero, since unlike is unlike. `first` are seated before anybody
    is chosen; of the rest only those `among` may be, so that there can be fewer than `count`.
    `barred` may rule places out, given those already chosen; when nobody else is left anywhere it
    rules out nobody.
    """
    import numpy as np

    free = np.ones(len(relevance), dtype=bool)
    nearest = np.zeros(len(relevance), dtype=np.float32)
    compared = np.zeros(len(relevance), dtype=np.intp)
    """With how many of the chosen each one's `nearest` reckons."""
    chosen: list[int] = []
    picks: list[Pick] = []

    def compare(places: NDArray[np.intp]) -> None:
        if chosen:
            nearest[places] = np.maximum(similarity(places, chosen).max(axis=1), 0.0)
        compared[places] = len(chosen)

    def best() -> int | None:
        out = barred(chosen)
        allowed = free if out is None or not (free & ~out).any() else free & ~out
        if among is not None:
            allowed = allowed & among
        if not allowed.any():
            return None
        look = FIRST_LOOK
        while True:
            score = np.where(allowed, lam * relevance - (1.0 - lam) * nearest, -np.inf)
            place = int(np.argmax(np.where(score == score.max(), relevance, -np.inf)))
            if compared[place] == len(chosen):
                return place
            # What was not compared with everybody yet can only get worse, so that it is enough to
            # compare the most promising until one of them leads.
            compare(
                np.argpartition(-score, look)[:look] if look < len(score) else np.arange(len(score))
            )
            look *= 2

    waiting = list(first)
    while waiting or len(picks) < min(count, len(relevance)):
        place = waiting.pop(0) if waiting else best()
        if place is None:
            break
        compare(np.array([place]))
        picks.append(Pick(place, float(nearest[place])))
        chosen.append(place)
        free[place] = False
    return picks
