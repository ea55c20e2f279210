"""Prices: what the public price lists say a model costs at an address.

The lists are those of genai-prices. They lie under everything
that is said elsewhere: a user's `models.toml` first, then the endpoint's own list, then the
registry. A price belongs to an address: the same name on somebody's own server has another one,
which nobody told us. Unknown is unknown, and never zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from ..core.addresses import address_parts, is_this_machine

USUAL_PROMPT = 64_000
"""Tokens: where a vendor's price rises with the length of the prompt, that of such a one is shown
and estimated with. A call costs what its own length costs."""


class Price(NamedTuple):
    """US dollars per million tokens."""

    usd_per_million_in: float
    usd_per_million_out: float


DEAREST = Price(10.0, 50.0)
"""What to assume where nobody knows: what the dearest of the usual models cost."""


@dataclass(frozen=True, slots=True)
class MarketPrice:
    """What a vendor's public list says of one model."""

    per_million_in: float
    per_million_out: float
    per_million_cached: float | None
    context_window: int | None


@lru_cache(maxsize=8192)
def market_price(address: str, name: str, prompt: int = USUAL_PROMPT) -> MarketPrice | None:
    """The public price of a model at an address, for a prompt of so many tokens; None if no list
    has it there.

    Where the price depends on the hour, the dearest of the day: an estimate must not be below the
    bill.
    """
    if is_this_machine(address_parts(address).hostname or ""):
        return None  # no list knows it, and reading them takes a moment
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, model = get_snapshot().find_provider_model(name, None, None, address)
        today = datetime.now(UTC).replace(minute=30, second=0, microsecond=0)
        prices = [model.get_prices(today.replace(hour=hour)) for hour in range(24)]
    except (LookupError, ValueError):
        return None
    found = {
        kind: [
            value
            for price in prices
            if (value := _at(getattr(price, kind, None), prompt)) is not None
        ]
        for kind in ("input_mtok", "output_mtok", "cache_read_mtok")
    }
    if not found["input_mtok"] or not found["output_mtok"]:
        return None
    return MarketPrice(
        max(found["input_mtok"]),
        max(found["output_mtok"]),
        max(found["cache_read_mtok"], default=None),
        model.context_window,
    )


def _at(price: object, prompt: int) -> float | None:
    """A price, by length of prompt if it has steps."""
    if price is None:
        return None
    tiers = getattr(price, "tiers", None)
    if tiers is None:
        return float(str(price))
    reached = [tier.price for tier in tiers if tier.start < prompt]
    return float(reached[-1] if reached else getattr(price, "base"))  # noqa: B009
