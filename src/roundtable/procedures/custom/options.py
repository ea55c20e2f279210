"""What one run of a custom procedure may be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..options import ProcedureOptions
from ..vocabulary import (
    choices_option,
    experts_option,
    host_option,
    models_option,
    seats_option,
)

MOST_SEATS = 20


class CustomFlags(ProcedureOptions):
    """The options of one run."""

    cannot: ClassVar[Mapping[str, str]] = {
        "rounds": "The file of this procedure says its stages and how often they are held. Change "
        "them there, or take one of the procedures that come with the program.",
        "quick": "The file of this procedure says its stages, and none of them can be left out. "
        "Change them there, or take one of the procedures that come with the program.",
    }
    models: tuple[str, ...] = models_option(more="Stronger than those of the definition.")
    host: str | None = host_option()
    experts: tuple[str, ...] = experts_option(
        more="Where the file has a panel.",
        part=None,
        closed={"page": "the file says who sits here"},
    )
    seats: int | None = seats_option(
        None, 1, MOST_SEATS, more="Where the file has a panel.", part=None
    )
    choices: tuple[str, ...] = choices_option()
