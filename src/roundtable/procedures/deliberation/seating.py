"""Seating a deliberation: different experts, and as different models as can be had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.events import NoteAdded
from ...core.framing import choices_of
from ...core.values import Participant
from ...experts.methods import METHODS
from ...ports import CastingRequest, Models
from ..casting import seats_asked
from ..hosting import host_wish
from ..messages import demonstration, one_family
from ..opening import OpenRequest, Seating
from ..past_record import recorded
from ..seats import HOST_ID, Seats
from .options import DeliberationFlags


def seat(request: OpenRequest, models: Models, defaults: Mapping[str, Any]) -> Seating:
    """Seat the experts that were chosen for the topic. Nothing is called for this."""
    flags = DeliberationFlags.parse({**defaults, **request.options})
    chosen_experts = request.chosen_experts
    personas = chosen_experts.experts if chosen_experts else METHODS[: flags.count]
    wishes = flags.wishes
    named = [name for persona in personas for name in (persona.id, persona.name)]
    seats = Seats(
        models, wishes.checked([*named, HOST_ID], len(personas), experts=len(flags.experts))
    )
    for place, persona in enumerate(personas):
        wanted = wishes.model_for(place, persona.id, persona.name) or persona.model
        seats.add_expert(persona, wanted)
    host = seats.host(
        host_wish(request, models, flags.host or wishes.named_for(HOST_ID)),
        "asks, counts and concludes; never argues, never votes",
        named=wishes.all,
    )
    notes = [*seats.notes, *_about_the_panel(seats, host)]
    return Seating(
        participants=tuple(seats.participants),
        host=host,
        options={
            "choices": list(flags.choices or choices_of(request.topic)),
            "critique": flags.critique,
            "early_stop": not flags.always_critique,
            "statement": flags.statement,
            "dual_order": flags.dual_order,
            "guidance": {persona.id: persona.guidance for persona in personas},
            **seats_asked(flags.said_seats, wishes),
            **recorded(chosen_experts.past if chosen_experts else (), seats.participants),
        },
        language=request.language or "auto",
        notes=tuple(notes),
    )


def casting_request(request: OpenRequest, defaults: Mapping[str, Any]) -> CastingRequest:
    """Experts for the topic, as many as there are seats."""
    flags = DeliberationFlags.parse({**defaults, **request.options})
    return CastingRequest(
        flags.count,
        flags.experts,
        not flags.no_record,
        open=not flags.experts and flags.critique and not flags.wishes.for_seats(HOST_ID),
    )


def _about_the_panel(seats: Seats, host: Participant) -> list[NoteAdded]:
    """What the evidence says hurts, where it could not be helped."""
    families = {p.speaker.family or p.speaker.model for p in seats.participants}
    if told := seats.demonstrated(host, DEMONSTRATION_NOTE):
        return told
    notes = []
    if len(families) == 1:
        remedy = (
            "Name models of several with --models, or add one: `roundtable models` shows yours."
        )
        notes.append(one_family("experts", remedy))
    elif host.speaker.family in families:
        same = any(host.speaker.model == each.speaker.model for each in seats.participants)
        whose = "that of an expert, too" if same else "of the same family as an expert's"
        notes.append(
            NoteAdded(
                code="host_of_a_family",
                text=f"The host's model is {whose}, which it may favour.",
                remedy="Give the host a model of another family with --host.",
            )
        )
    return notes


DEMONSTRATION_NOTE = demonstration(
    "it casts no ballots, and the verdict is an extract of what was said"
)
