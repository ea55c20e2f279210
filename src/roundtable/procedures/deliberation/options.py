"""What a deliberation is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from ...core.errors import BadSetting
from ...core.values import Value
from ..checking import checked

MOST_SEATS = 7
MOST_CHOICES = 9
LONGEST_CHOICE = 200
WHERE = "deliberation options"


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
    dual_order: bool = False
    """Let everybody review the others twice, in one order and in the other, and say whose ballot
    follows the order."""
    no_record: bool = False
    """Count without what earlier discussions tell of the models."""
    statement: bool = False
    """End in a statement of the group: drafted, ranked by all, revised. For value questions."""

    @field_validator("experts", "models", "choices", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part for each in value.split(",") if (part := " ".join(each.split())))
        return value

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> DeliberationFlags:
        flags = checked(cls, options, WHERE)
        if len(flags.experts) > MOST_SEATS:
            raise BadSetting(WHERE, "experts", f"at most {MOST_SEATS} of them")
        choices = tuple(" ".join(choice.split()) for choice in flags.choices)
        if choices and (problem := _wrong_with(choices)):
            raise BadSetting(WHERE, "choices", problem)
        return flags.model_copy(update={"choices": choices})


def _wrong_with(choices: tuple[str, ...]) -> str:
    """What is expected instead; empty if these can be voted on."""
    if not 2 <= len(choices) <= MOST_CHOICES:
        return f"2 to {MOST_CHOICES} options"
    if len({choice.casefold() for choice in choices}) < len(choices):
        return "options that differ"
    if any(not 1 <= len(choice) <= LONGEST_CHOICE for choice in choices):
        return f"options of 1 to {LONGEST_CHOICE} characters"
    if any(re.fullmatch(r"o\d{1,2}", choice, re.IGNORECASE) for choice in choices):
        return "words: o1, o2 … are the ids of the options"
    return ""
