"""An expert: a reusable persona, as the library's files describe it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from ..core.values import Value

LANGUAGES = ("en", "de", "es", "zh")
"""The languages in which every shipped expert can be found."""

_NAME = r"^[a-z0-9]+(?:-[a-z0-9]+)*$"
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Expert(Value):
    """Who argues from where. The library holds many; a discussion seats a few."""

    id: str = Field(pattern=_NAME, description="lower-case words joined by hyphens")
    name: _Text = Field(description="a text: what it is called")
    domain: str = Field(pattern=_NAME, description="lower-case words joined by hyphens")
    perspective: _Text = Field(description="a text: the point of view from which it judges")
    asks: tuple[_Text, ...] = Field(min_length=1, description="a list of what it always asks")
    blind_spot: _Text = Field(description="a text: what it tends to overlook")
    needs: tuple[_Text, ...] = Field(
        default=(), description="a list of abilities of the model that should speak for it"
    )
    guidance: _Text = Field(description="a text: guidance for its part of the prompt")
    tags: dict[str, tuple[_Text, ...]] = Field(
        default_factory=dict,
        description="a table of lists by language: the words by which a topic finds it",
    )

    @property
    def meaning(self) -> str:
        """What is embedded: the expert in English words. Its perspective would make all alike."""
        words = self.tags.get("en") or (self.domain, self.perspective)
        return f"{self.name}. {', '.join(words)}."
