"""The assignment problem: who gets what, so that all together are served best."""

from __future__ import annotations

from collections.abc import Sequence

_NOT_SERVED = 1e6
"""What it costs to leave a row without a column: more than any value can make good."""
_UNFIT = 1e9


def assign(values: Sequence[Sequence[float | None]]) -> list[int | None]:
    """For each row the number of a column of its own, or None where there is none left for it.

    `values[row][column]` is what the pair is worth, None if they do not fit. As many rows as
    possible are served; among all ways to do that, the sum of values is the highest. Deterministic.
    """
    rows = len(values)
    columns = len(values[0]) if values else 0
    costs = [
        [_UNFIT if value is None else -value for value in row] + [_NOT_SERVED] * rows
        for row in values
    ]
    owner = _cheapest(costs, columns + rows)
    given: list[int | None] = [None] * rows
    for column, row in enumerate(owner[:columns]):
        if row is not None:
            given[row] = column
    return given


def _cheapest(costs: Sequence[Sequence[float]], width: int) -> list[int | None]:
    """The row of each column in the cheapest assignment: the Hungarian method, row by row along
    shortest augmenting paths, with potentials that keep all reduced costs from going below zero."""
    owner: list[int | None] = [None] * width
    of_row = [0.0] * len(costs)
    of_column = [0.0] * width
    for start in range(len(costs)):
        distance = [float("inf")] * width
        before: list[int | None] = [None] * width
        done = [False] * width
        row: int | None = start
        last: int | None = None
        while row is not None:
            step, nearest = float("inf"), 0
            for column in range(width):
                if done[column]:
                    continue
                reduced = costs[row][column] - of_row[row] - of_column[column]
                if reduced < distance[column]:
                    distance[column], before[column] = reduced, last
                if distance[column] < step:
                    step, nearest = distance[column], column
            of_row[start] += step
            for column in range(width):
                if done[column]:
                    of_column[column] -= step
                    held = owner[column]
                    assert held is not None, "only columns with an owner are passed through"
                    of_row[held] += step
                else:
                    distance[column] -= step
            done[nearest] = True
            last, row = nearest, owner[nearest]
        while last is not None:
            previous = before[last]
            owner[last] = start if previous is None else owner[previous]
            last = previous
    return owner
