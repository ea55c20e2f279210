"""The procedures that can be opened, by name."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.errors import UnknownName
from ..views import council as council_views
from ..views.estimate import council_estimate
from . import council
from .kit import Kit

PROCEDURES: Mapping[str, Kit] = {
    kit.name: kit
    for kit in (
        Kit(
            council.Council(),
            "Scholar, Engineer and Muse answer, cross-examine each other, and a Captain concludes",
            ("all", "scholar", "engineer", "muse", "preset", "budget", "template", "quick"),
            council.seat,
            council_estimate,
            council_views.delivery,
            council_views.outputs,
        ),
    )
}


def procedure_kit(name: str) -> Kit:
    """The procedure of this name, or UnknownName with a suggestion."""
    if name not in PROCEDURES:
        raise UnknownName("procedure", name, PROCEDURES)
    return PROCEDURES[name]
