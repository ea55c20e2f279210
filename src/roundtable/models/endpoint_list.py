"""What an endpoint said when it was asked for its models: one statement, which everybody reads.

When it was asked, what came of it, which names turned out to mean nothing since, and what to do.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..core.model_trouble import ModelTrouble
from ..core.values import Value
from .listing import Listing

VERSION = 3

Heard = Literal[
    "listed",
    "no list",
    "no models",
    "no key",
    "wrong key",
    "expired key",
    "other vendor",
    "no address",
    "forbidden",
    "no credit",
    "failing",
    "silent",
    "moved",
    "no model server",
]
"""What came of it. Everything but `listed` leaves the models unknown."""
REFUSED: frozenset[Heard] = frozenset(
    ["no key", "wrong key", "expired key", "other vendor", "no address", "forbidden", "no credit"]
)
"""Where the door stayed shut. A list may be shut off while calls are let in."""

UNFIT: frozenset[Heard] = frozenset(["other vendor", "no address"])
"""Where nothing is ever sent as things are set, and nobody was asked."""


class Unusable(Value):
    """A name that the endpoint listed, or that was asked for, and that cannot be used there."""

    trouble: ModelTrouble
    at: float


class EndpointList(Value):
    """What an endpoint said when it was asked for its models."""

    heard: Heard
    provider: str = ""
    """Under whose name its models are called here."""
    listing: Listing = Listing()
    at: float = 0.0
    """When, in seconds since 1970."""
    told: str = ""
    """A sentence for people about what went wrong."""
    remedy: str = ""
    unusable: dict[str, Unusable] = Field(default_factory=dict)
    """By name; the first to be found out first."""
    tried: float = 0.0
    """When it was last asked in vain, if it was after `at`."""
    version: int = VERSION

    @property
    def newest(self) -> float:
        """When something was last learnt of it."""
        return max(self.at, self.tried, self._found_out)

    @property
    def in_doubt(self) -> bool:
        """Whether a name was found to mean nothing since it was last asked: it may serve other
        models by now."""
        return self._found_out > max(self.at, self.tried)

    @property
    def _found_out(self) -> float:
        return max((each.at for each in self.unusable.values()), default=0.0)
