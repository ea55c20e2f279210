"""Ready rosters as participants of a meeting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.values import HOST_WIRE_NAME
from ...experts.library_files import read_library
from ...experts.methods import method_or_named
from ...experts.roster import roster as ready_roster
from ...ports import CastingRequest, ChosenExperts
from ..opening import OpenRequest
from ..seats import HOST_ID
from .options import MeetingOptions, Place

DEFAULT_ROSTER = "tech-design-review"


def casting_request(request: OpenRequest, defaults: Mapping[str, Any]) -> CastingRequest | None:
    """The experts of the roster, from the user's library and with models routed for them; nobody
    where the caller names the participants. UnknownName if there is no such roster."""
    options = MeetingOptions.parse({**defaults, **request.options})
    if options.participants:
        return None
    wanted = ready_roster(options.roster or DEFAULT_ROSTER).experts
    seated = options.wishes.for_seats(HOST_WIRE_NAME, HOST_ID)
    if options.experts or options.seats:
        named = bool(options.experts) or options.join is not None or seated
        count = options.count(len(wanted))
        return CastingRequest(count, options.experts, open=not named and not options.quick)
    named = options.roster is not None or options.join is not None or seated
    return CastingRequest(len(wanted), wanted, open=not named and not options.quick)


def roster(
    name: str, chosen_experts: ChosenExperts | None, experts: tuple[str, ...] = ()
) -> tuple[Place, ...]:
    """The participants of a roster, in the order in which they sit: those who were cast for it,
    or else the experts that were named, or the shipped ones. UnknownName if there is no such
    roster."""
    personas = chosen_experts.experts if chosen_experts is not None else ()
    if personas or experts:
        return tuple(
            Place(
                profile=persona.id,
                role=persona.name,
                perspective=persona.perspective,
                display_name=persona.name,
                model=persona.model,
            )
            for persona in personas or [method_or_named(each) for each in experts]
        )
    return tuple(
        Place(
            profile=expert.id,
            role=expert.name,
            perspective=expert.perspective,
            display_name=expert.name,
        )
        for expert in ready_roster(name).seated(read_library())
    )
