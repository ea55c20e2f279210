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
        "rounds": "The file of this procedure sets its stages and how often they run. Change them "
        "there, or use a built-in procedure.",
        "quick": "The file of this procedure sets its stages, and none can be left out. Change "
        "them there, or use a built-in procedure.",
    }
    models: tuple[str, ...] = models_option(more="Overrides the models in the file.")
    host: str | None = host_option()
    experts: tuple[str, ...] = experts_option(
        more="Only if the file has a panel.",
        part=None,
        closed={"page": "the file says who sits here"},
    )
    seats: int | None = seats_option(
        None, 1, MOST_SEATS, more="Only if the file has a panel.", part=None
    )
    choices: tuple[str, ...] = choices_option()
