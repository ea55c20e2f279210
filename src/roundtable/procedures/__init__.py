"""The procedures that can be opened, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.decide import Procedure
from ..core.errors import UnknownName
from ..ports import Models
from . import council
from .opening import OpenRequest, Seating


@dataclass(frozen=True, slots=True)
class Kit:
    """A procedure and how a request is seated for it."""

    procedure: Procedure
    summary: str
    seat: Callable[[OpenRequest, Models, Mapping[str, Any]], Seating]

    @property
    def name(self) -> str:
        return self.procedure.name


PROCEDURES: Mapping[str, Kit] = {
    kit.name: kit
    for kit in (
        Kit(
            council.Council(),
            "Scholar, Engineer and Muse answer, cross-examine each other, and a Captain concludes",
            council.seat,
        ),
    )
}


def procedure_kit(name: str) -> Kit:
    """The procedure of this name, or UnknownName with a suggestion."""
    if name not in PROCEDURES:
        raise UnknownName("procedure", name, PROCEDURES)
    return PROCEDURES[name]
