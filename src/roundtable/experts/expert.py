"""An expert: a reusable persona, as the library's files describe it."""

from __future__ import annotations

from pydantic import Field

from ..core.values import Value

LANGUAGES = ("en", "de", "es", "zh")


class Expert(Value):
    """Who argues from where. The library holds many; a discussion seats a few."""

    id: str = Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$")
    name: str = Field(min_length=1)
    domain: str = Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$")
    perspective: str = Field(min_length=1)
    """The point of view from which it judges anything."""
    asks: tuple[str, ...] = Field(min_length=1)
    """What it always asks."""
    blind_spot: str = Field(min_length=1)
    """What it tends to overlook."""
    needs: tuple[str, ...] = ()
    """Capabilities of the model that should speak for it."""
    guidance: str = Field(min_length=1)
    """Role-specific guidance for its prompt."""
    tags: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """By language: the words by which a topic finds it."""

    @property
    def meaning(self) -> str:
        """What is embedded: the expert in English words. Its perspective would make all alike."""
        return f"{self.name}. {', '.join(self.tags.get('en', ()))}."
