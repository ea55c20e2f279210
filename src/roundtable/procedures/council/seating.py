"""Seating the council: from flags and configuration to participants with their speakers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.events import NoteAdded
from ...core.framing import choices_of
from ...ports import Models
from ...views.council import SESSION_LOGS
from ..hosting import host_wish
from ..messages import demonstration
from ..opening import OpenRequest, Seating
from ..seats import HOST_ID, Seats
from ..vocabulary import named_models
from .options import SEATS, SESSION_MODEL, CouncilConfig, CouncilFlags, settle
from .roles import CAPTAIN_EMOJI, CAPTAIN_ID, CAPTAIN_NAME, ROLES


def seat(request: OpenRequest, models: Models, defaults: Mapping[str, Any]) -> Seating:
    """Settle the wishes and find a speaker for each seat. Nothing is called for this."""
    config = CouncilConfig.parse(defaults, "config.json")
    flags = CouncilFlags.parse(request.options)
    plan = settle(flags, config)
    shared = flags.wishes.checked((*SEATS, HOST_ID, CAPTAIN_ID), len(SEATS), fixed=True)
    seats = Seats(models, (*plan.notes, *shared))
    named = named_models(CouncilFlags, request.options)
    own = named or seats.of_this_machine(request.host_model)
    for place, role in enumerate(ROLES):
        name = plan.models[role.id]
        wanted = None if name == SESSION_MODEL else name
        if wanted and role.id in plan.by_default:
            later = [r.id for r in ROLES[place:] if r.id not in plan.by_default]
            at_hand = seats.at_hand(wanted, [plan.models[each] for each in later])
            # Nobody asked for it, so where the user's models are all here, it has to be here, too.
            wanted = at_hand if named or not own or seats.is_here(at_hand) else own[0]
        if name not in named and named:
            wanted = seats.or_instead(wanted, role.name, named)
        seats.add(role.id, role.name, wanted, perspective=role.perspective, emoji=role.emoji)
    host = seats.host(
        host_wish(request, models, flags.host or flags.wishes.named_for(HOST_ID, CAPTAIN_ID)),
        "coordinates, never argues, never votes",
        named=named,
        seat=CAPTAIN_ID,
        name=CAPTAIN_NAME,
        emoji=CAPTAIN_EMOJI,
    )
    notes = seats.notes
    notes.extend(seats.demonstrated(host, DEMONSTRATION_NOTE))
    if config.log_path.rstrip("/") != SESSION_LOGS:
        notes.append(
            NoteAdded(
                code="log_path",
                text=f"log_path {config.log_path!r} is ignored: logs go to {SESSION_LOGS}/ only.",
            )
        )
    if not request.search:
        notes.append(NO_SEARCH_NOTE)
    return Seating(
        participants=tuple(seats.participants),
        host=host,
        options={
            "choices": list(flags.choices or choices_of(request.topic)),
            "round2": plan.round2,
            "round2_skipped": plan.skipped_by,
            "template": plan.template,
            "search": request.search,
            "log_sessions": config.log_sessions,
        },
        language=request.language or config.language or "auto",
        notes=tuple(notes),
    )


DEMONSTRATION_NOTE = demonstration(
    "its ballots are not meaningful, and the verdict is an extract of what was said"
)
NO_SEARCH_NOTE = NoteAdded(
    code="no_search",
    text="No web search in this run: the Scholar answers from what the model knows, and says so.",
    remedy="Sources it names are unverified; check them yourself.",
)
