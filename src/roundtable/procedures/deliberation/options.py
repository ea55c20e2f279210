"""What a deliberation is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...core.errors import BadSetting
from ..checking import checked, checked_choices
from ..options import ProcedureOptions, option
from ..vocabulary import (
    ModelWishes,
    choices_option,
    experts_option,
    host_option,
    models_option,
    quick_option,
    rounds_option,
    seat_count,
    seats_option,
)

LEAST_SEATS, MOST_SEATS = 2, 7
ROUNDS = 2
WHERE = "deliberation options"


class DeliberationFlags(ProcedureOptions):
    """The options of one run."""

    experts: tuple[str, ...] = experts_option(
        more="The library fills the remaining seats.", tells=True
    )
    models: tuple[str, ...] = models_option()
    host: str | None = host_option()
    seats: int = seats_option(3, LEAST_SEATS, MOST_SEATS, tells=True)
    rounds: int = rounds_option(
        ROUNDS, 1, ROUNDS, more="1: independent answers and a vote; 2: with a critique before it."
    )
    quick: bool = quick_option("No critique: independent answers and a vote.")
    choices: tuple[str, ...] = choices_option()
    always_critique: bool = option(False, "Critique even if all agree at once.")
    dual_order: bool = option(False, "All experts review the others twice, in both orders.")
    statement: bool = option(
        False,
        "End with a group statement: drafted, ranked by all, revised. For value questions.",
    )
    no_record: bool = option(
        False, "Ignore the models' track record from earlier discussions.", advanced=True
    )

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> DeliberationFlags:
        flags = checked(cls, options, WHERE)
        flags.check()
        if len(flags.experts) > MOST_SEATS:
            raise BadSetting(WHERE, "experts", f"at most {MOST_SEATS} of them")
        if len(flags.wishes.in_order) > MOST_SEATS:
            raise BadSetting(WHERE, "models", f"at most {MOST_SEATS} of them")
        return flags.model_copy(update={"choices": checked_choices(flags.choices, WHERE)})

    def contradictions(self) -> Iterator[tuple[str, str, str]]:
        short = "--quick" if self.quick else "--rounds 1"
        why = "without a critique nobody reviews the others"
        if self.always_critique and not self.critique:
            yield short, "--always-critique", why
        if self.dual_order and not self.critique:
            yield short, "--dual-order", why

    @property
    def wishes(self) -> ModelWishes:
        return ModelWishes.of(self.models, WHERE)

    @property
    def said_seats(self) -> int | None:
        return self.seats if "seats" in self.model_fields_set else None

    @property
    def count(self) -> int:
        """How many sit at the table."""
        return seat_count(self.said_seats, self.seats, len(self.experts), len(self.wishes.in_order))

    @property
    def critique(self) -> bool:
        return self.rounds > 1 and not self.quick
