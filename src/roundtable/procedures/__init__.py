"""The procedures that can be opened, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..core.errors import UnknownName
from ..views import adaptive as adaptive_views
from ..views import council as council_views
from ..views import deliberation as deliberation_views
from ..views import meeting as meeting_views
from ..views.adaptive_cost import adaptive_estimate
from ..views.estimate import council_estimate
from ..views.five_round import estimate as five_round_estimate
from ..views.meeting_status import progress as meeting_progress
from . import adaptive, council, custom, deliberation, five_round, meeting
from .kit import Kit

PROCEDURES: Mapping[str, Kit] = {
    kit.name: kit
    for kit in (
        Kit(
            adaptive.Adaptive(),
            "A meta-panel designs the workflow, a panel debates, a neutral synthesiser concludes",
            adaptive.FLAGS,
            adaptive.seat,
            adaptive_estimate,
            adaptive_views.delivery,
            adaptive_views.outputs,
            extends=True,
        ),
        Kit(
            council.Council(),
            "Scholar, Engineer and Muse answer, cross-examine each other, and a Captain concludes",
            ("all", "scholar", "engineer", "muse", "preset", "budget", "template", "quick"),
            council.seat,
            council_estimate,
            council_views.delivery,
            council_views.outputs,
        ),
        Kit(
            deliberation.Deliberation(),
            "Experts answer alone, review each other without names, and vote; a host concludes",
            (
                "experts", "models", "seats", "choices", "always_critique", "statement",
                "no_record", "quick",
            ),  # fmt: skip
            deliberation.seat,
            deliberation_views.deliberation_estimate,
            deliberation_views.delivery,
            deliberation_views.outputs,
            wish=deliberation.wish,
        ),
        Kit(
            five_round.FiveRound(),
            "Experts propose, cite, criticise and revise; a host rules and plans eight weeks",
            ("agents", "depth", "strict_rounds", "output_dir", "quick"),
            five_round.seat,
            five_round_estimate,
            five_round.deliver,
            five_round.outputs,
            wish=five_round.wish,
        ),
        Kit(
            meeting.Meeting(),
            "Participants with roles speak in turn, hearing each other; a coordinator concludes",
            (
                "roster",
                "max_rounds",
                "speech_order",
                "summaries",
                "format",
                "output_path",
                "quick",
                "join",
            ),
            meeting.seat,
            meeting_views.meeting_estimate,
            meeting_views.delivery,
            meeting_views.outputs,
            wish=meeting.wish,
            by_hand=True,
            extends=True,
            progress=meeting_progress,
        ),
    )
}


def procedure_kit(name: str, own: custom.Shelf | None = None) -> Kit:
    """The procedure of this name, or UnknownName with a suggestion.

    To open a discussion give the user's `own` ones: they are looked for first, so that one that
    bears the name of a built-in one is an error and no surprise. A discussion that is open needs
    no shelf: it carries its definition with it.
    """
    bare = name.removeprefix(custom.PREFIX)
    definition = own.find(bare) if own is not None else None
    if definition is not None:
        return custom.kit(definition)
    if name in PROCEDURES:
        return PROCEDURES[name]
    if own is None and bare != name:
        return custom.stored_kit(name)
    raise UnknownName("procedure", bare, [*PROCEDURES, *(own.names() if own else ())])


def meant_kit(given: Collection[str], default: str, own: custom.Shelf | None = None) -> Kit:
    """The default procedure, or, where it does not know all options that were given, the first
    that does: `preset` can only mean the council."""
    usual = procedure_kit(default, own)
    of_procedures = {flag for kit in PROCEDURES.values() for flag in kit.flags}
    wanted = {name for name in given if name in of_procedures}
    fitting = (kit for kit in (usual, *PROCEDURES.values()) if wanted <= set(kit.flags))
    return next(fitting, usual)
