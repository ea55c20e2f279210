"""Every value, or every pair of values, is really among the combinations that are tried."""

from __future__ import annotations

from itertools import combinations, product

from .covering import every_pair, every_value

AXES = (("a", "b"), range(5), ("x", "y", "z"), (None, 0.5))


def test_each_value_of_every_axis_meets_each_value_of_every_other() -> None:
    cases = every_pair(*AXES)
    for one, other in combinations(range(len(AXES)), 2):
        assert {(case[one], case[other]) for case in cases} == set(product(AXES[one], AXES[other]))
    assert len(cases) == len(set(cases)) <= 20
    assert set(cases) <= set(product(*AXES))


def test_each_value_is_there() -> None:
    cases = every_value(*AXES)
    assert len(cases) == 5
    for axis, found in zip(AXES, zip(*cases, strict=True), strict=True):
        assert set(found) == set(axis)
