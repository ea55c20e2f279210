"""Maximal marginal relevance: the next one is relevant, and unlike those already chosen.

`score = λ × relevance − (1 − λ) × similarity to the most similar one already chosen`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nlargest
from typing import NamedTuple

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
    relevance: Sequence[float],
    similarity: Callable[[Sequence[int], Sequence[int]], Sequence[Sequence[float]]],
    count: int,
    *,
    lam: float = LAMBDA,
    first: Sequence[int] = (),
    among: Sequence[bool] | None = None,
    barred: Callable[[Sequence[int]], Sequence[bool] | None] = lambda _: None,
) -> list[Pick]:
    """The places chosen, in order, at most `count` of them unless `first` are more. Of equal
    scores the more relevant wins, then the earlier place.

    `similarity` gives a row of similarities for each of some places, a column for each of some
    others; below zero is taken for zero, since unlike is unlike. `first` are seated before anybody
    is chosen; of the rest only those `among` may be, so that there can be fewer than `count`.
    `barred` may rule places out, given those already chosen; when nobody else is left anywhere it
    rules out nobody.
    """
    free = set(range(len(relevance)))
    nearest = [0.0] * len(relevance)
    compared = [0] * len(relevance)
    """With how many of the chosen each one's `nearest` reckons."""
    chosen: list[int] = []
    picks: list[Pick] = []

    def compare(places: Sequence[int]) -> None:
        if chosen:
            for place, row in zip(places, similarity(places, chosen), strict=True):
                nearest[place] = max(0.0, *(float(each) for each in row))
        for place in places:
            compared[place] = len(chosen)

    def rank(place: int) -> tuple[float, float, int]:
        score = lam * relevance[place] - (1.0 - lam) * nearest[place]
        return (score, relevance[place], -place)

    def best() -> int | None:
        out = barred(chosen)
        allowed = [p for p in free if out is None or not out[p]] or list(free)
        if among is not None:
            allowed = [place for place in allowed if among[place]]
        if not allowed:
            return None
        look = FIRST_LOOK
        while True:
            promising = nlargest(look, allowed, key=rank)
            if compared[promising[0]] == len(chosen):
                return promising[0]
            # What was not compared with everybody yet can only get worse, so that it is enough to
            # compare the most promising until one of them leads.
            compare(promising)
            look *= 2

    waiting = list(first)
    while waiting or len(picks) < min(count, len(relevance)):
        place = waiting.pop(0) if waiting else best()
        if place is None:
            break
        compare([place])
        picks.append(Pick(place, nearest[place]))
        chosen.append(place)
        free.discard(place)
    return picks
