"""An endpoint: where a provider is served now, and what it says it has there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.model_trouble import ModelTrouble
from .listing import ListedModel


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One provider's address in use."""

    address: str
    foreign: bool
    """It is not the vendor's own: the vendor's names and prices mean nothing here."""
    listed: Mapping[str, ListedModel] = field(default_factory=dict)
    """By name, in the endpoint's order; empty if it does not say."""
    unusable: Mapping[str, ModelTrouble] = field(default_factory=dict)
    """Names that turned out to be of no use there, and why."""
