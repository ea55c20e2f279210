"""Limits of several origins: the lowest counts, and it keeps its name."""

from __future__ import annotations

import pytest

from roundtable.core.limits import Limits, joined, told
from roundtable.core.values import Budget


@pytest.mark.requirement("Z-35")
def test_the_lowest_limit_counts_and_is_named() -> None:
    wanted = Limits.of(Budget(max_cost_usd=5, max_calls=10), "--max-cost")
    user = Limits.of(Budget(max_cost_usd=1, max_tokens=9000), "[caps] in config.toml")
    project = Limits.of(Budget(max_cost_usd=1000, max_seconds=60), "the project's roundtable.toml")
    found, lowered = joined(wanted, [project, user])
    assert found.budget == Budget(max_cost_usd=1, max_calls=10, max_tokens=9000, max_seconds=60)
    assert found.origins == {
        "max_cost_usd": "[caps] in config.toml",
        "max_calls": "--max-cost",
        "max_tokens": "[caps] in config.toml",
        "max_seconds": "the project's roundtable.toml",
    }
    assert lowered == ("max_cost_usd",)


@pytest.mark.requirement("Z-35")
def test_without_any_limit_nothing_is_limited_and_zero_is_a_limit() -> None:
    assert joined(Limits(Budget()), [Limits(Budget())]) == (Limits(Budget()), ())
    found, _ = joined(Limits(Budget()), [Limits.of(Budget(max_cost_usd=0), "a cap")])
    assert found.budget.max_cost_usd == 0


def test_limits_are_told_in_words() -> None:
    assert told("max_cost_usd", 0.5) == "$0.5"
    assert told("max_calls", 1200) == "1,200 calls"
    assert told("max_seconds", 90) == "90 seconds"
