"""What a deliberation is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import BadSetting
from ..checking import checked, checked_choices
from ..options import ProcedureOptions, choices_option, option

MOST_SEATS = 7
WHERE = "deliberation options"


class DeliberationFlags(ProcedureOptions):
    """The options of one run."""

    experts: tuple[str, ...] = option(
        (),
        "Experts who sit here, by name or id; the library fills the seats that are left.",
        part="experts",
    )
    models: tuple[str, ...] = option(
        (),
        "Models for the seats in their order, beginning anew when they are used up.",
        part="models",
    )
    seats: int = option(3, "How many experts.", ge=2, le=MOST_SEATS, part="count")
    choices: tuple[str, ...] = choices_option(tells=True)
    always_critique: bool = option(False, "Hold the critique after unanimity too.")
    dual_order: bool = option(
        False, "Everybody reviews the others twice, in one order and in the other."
    )
    statement: bool = option(
        False,
        "End in a statement of the group: drafted, ranked by all, revised. For value questions.",
    )
    no_record: bool = option(
        False, "Count without what earlier discussions tell of the models.", advanced=True
    )
    quick: bool = option(False, "No critique: independent answers and a vote.")

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> DeliberationFlags:
        flags = checked(cls, options, WHERE)
        if len(flags.experts) > MOST_SEATS:
            raise BadSetting(WHERE, "experts", f"at most {MOST_SEATS} of them")
        return flags.model_copy(update={"choices": checked_choices(flags.choices, WHERE)})
