"""Which of many combinations a test tries. What goes wrong hangs on one value, or on two that meet:
a third one that has to be there as well is rare, and all of them together take minutes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, cycle, islice, product
from typing import Any

Case = tuple[Any, ...]


def every_pair(*axes: Iterable[Any]) -> list[Case]:
    """So few combinations that each value of every axis meets each value of every other."""
    values = [tuple(axis) for axis in axes]
    ways = list(product(*(range(len(each)) for each in values)))
    open_: set[Case] = {pair for way in ways for pair in _pairs(way)}
    chosen = []
    while open_:
        # The first of the best, so that the cases are the same in every process.
        best = max(ways, key=lambda way: sum(pair in open_ for pair in _pairs(way)))
        open_.difference_update(_pairs(best))
        chosen.append(best)
    chosen.sort()
    return [tuple(each[at] for each, at in zip(values, way, strict=True)) for way in chosen]


def _pairs(way: Sequence[int]) -> list[Case]:
    return [(*one, *other) for one, other in combinations(enumerate(way), 2)]


def every_value(*axes: Iterable[Any]) -> list[Case]:
    """So few combinations that each value of every axis is there."""
    values = [tuple(axis) for axis in axes]
    longest = max(map(len, values))
    return list(zip(*(islice(cycle(each), longest) for each in values), strict=True))
