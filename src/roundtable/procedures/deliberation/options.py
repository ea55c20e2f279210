"""What a deliberation is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from ...core.errors import BadSetting
from ...core.values import Value
from ..checking import checked, checked_choices, split_list

MOST_SEATS = 7
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

    _lists = field_validator("experts", "models", "choices", mode="before")(split_list)

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> DeliberationFlags:
        flags = checked(cls, options, WHERE)
        if len(flags.experts) > MOST_SEATS:
            raise BadSetting(WHERE, "experts", f"at most {MOST_SEATS} of them")
        return flags.model_copy(update={"choices": checked_choices(flags.choices, WHERE)})
