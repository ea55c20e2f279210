"""What a deliberation is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from ...core.values import Value
from ..checking import checked

MOST_SEATS = 7


class DeliberationFlags(Value):
    """The flags of one run. Lists may be given as `a,b,c`."""

    experts: tuple[str, ...] = ()
    """Experts who sit in any case, by id or name."""
    models: tuple[str, ...] = ()
    """Models for the seats in their order, beginning anew when they are used up."""
    seats: int = Field(default=3, ge=2, le=MOST_SEATS)
    choices: tuple[str, ...] = ()
    """The options of the vote, where the question itself does not say them."""
    quick: bool = False
    """No critique: independent answers and a vote."""
    always_critique: bool = False
    """Also where the independent answers agree."""

    @field_validator("experts", "models", "choices", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part for each in value.split(",") if (part := each.strip()))
        return value

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> DeliberationFlags:
        return checked(cls, options, "deliberation options")
