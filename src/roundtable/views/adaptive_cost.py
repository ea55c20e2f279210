"""What an adaptive run will cost: by the prices of its models, and by the table of those who pay
for Opus and Codex by subscription."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

QUICK_SHARE = 0.5
TOKENS_IN = (800, 6_000)
TOKENS_OUT = (400, 1_500)


def subscription_cost(
    families: Sequence[str], costs: Mapping[str, tuple[float, float]], *, quick: bool = False
) -> tuple[float, float] | None:
    """US dollars for a run with seats of these families, at least and at most, by the table of
    panels.json; None if a family is not in it."""
    if any(family not in costs for family in families):
        return None
    share = QUICK_SHARE if quick else 1.0
    low = sum(costs[family][0] for family in families) * share
    high = sum(costs[family][1] for family in families) * share
    return round(low, 4), round(high, 4)
