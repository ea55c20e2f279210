"""Seating five rounds: experts that were named or chosen, and a host, each with a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from ...core.framing import choices_of
from ...core.values import HOST_WIRE_NAME
from ...experts.methods import method_or_named
from ...ports import ChosenExpert, Models
from ...views.five_round.standing import BY_SIDE
from ..casting import seats_asked
from ..hosting import host_wish
from ..messages import demonstration
from ..opening import OpenRequest, Seating
from ..seats import HOST_ID, HOST_NAME, Seats
from .intent import fit_note, read_intent
from .options import FiveRoundFlags


def seat(request: OpenRequest, models: Models, defaults: Mapping[str, Any]) -> Seating:
    """Find a persona and a speaker for each seat. Nothing is called for this."""
    flags = FiveRoundFlags.parse({**defaults, **request.options})
    chosen_experts = request.chosen_experts
    personas = _distinct(chosen_experts.experts if chosen_experts else _personas(flags))
    wishes = flags.wishes
    named = [name for persona in personas for name in (persona.id, persona.name)]
    seats = Seats(
        models, wishes.checked([*named, HOST_ID], len(personas), experts=len(flags.names))
    )
    if (advice := fit_note(read_intent(request.topic))) is not None:
        seats.notes.append(advice)
    for place, persona in enumerate(personas):
        wanted = wishes.model_for(place, persona.id, persona.name)
        seats.add_expert(persona, wanted or persona.model)
    host = seats.standing_in(
        seats.host(
            host_wish(request, models, flags.leads),
            "sums up, rules on disputes and plans; never argues, never votes",
            named=wishes.all,
        )
    )
    seats.notes.extend(seats.demonstrated(host, DEMONSTRATION_NOTE))
    return Seating(
        participants=tuple(seats.participants),
        host=host,
        options={
            "depth": flags.depth,
            "rounds": [[number, stage] for number, stage in flags.passes],
            "strict_rounds": flags.strict_rounds,
            "history": flags.shown_characters,
            "divergence": flags.divergence,
            "disputes": BY_SIDE,
            "accelerate": flags.accelerate,
            "timeout": flags.timeout,
            "choices": list(flags.choices or choices_of(request.topic)),
            "experts": {persona.id: _remembered(persona) for persona in personas},
            **seats_asked(flags.said_seats, wishes),
        },
        language=request.language or "auto",
        notes=tuple(seats.notes),
    )


def _remembered(persona: ChosenExpert) -> dict[str, JsonValue]:
    """What prompts and plan need of a persona beside its seat."""
    return {
        "guidance": persona.guidance,
        "asks": list(persona.asks),
        "blind_spot": persona.blind_spot,
        "reason": persona.reason,
        "routed": persona.routed,
    }


def _personas(flags: FiveRoundFlags) -> tuple[ChosenExpert, ...]:
    """Without a library: personas of the names that were given, or the usual three."""
    if flags.names:
        return tuple(method_or_named(name) for name in flags.names)
    return USUAL[: flags.count]


def _distinct(personas: Sequence[ChosenExpert]) -> tuple[ChosenExpert, ...]:
    """Each with an id and a name of its own, and none with the host's."""
    taken = {HOST_ID, HOST_WIRE_NAME}
    names = {HOST_NAME.casefold()}
    found: list[ChosenExpert] = []
    for persona in personas:
        own, name, number = persona.id, persona.name, 2
        while own in taken or name.casefold() in names:
            own, name, number = f"{persona.id}-{number}", f"{persona.name} {number}", number + 1
        taken.add(own)
        names.add(name.casefold())
        found.append(persona.renamed(own, name))
    return tuple(found)


USUAL = (
    ChosenExpert(
        id="architecture-expert",
        name="Architecture Expert",
        domain="architecture",
        perspective="structure, interfaces, scale and what is hard to change later",
        asks=("Which decision cannot be undone?", "What breaks first at ten times the load?"),
        blind_spot="what it costs people to live with the structure",
        guidance="Name components, interfaces and data flows; give load, latency and cost figures; "
        "say which decisions are reversible.",
        reason="one of the usual three",
    ),
    ChosenExpert(
        id="product-expert",
        name="Product Expert",
        domain="product",
        perspective="users, value, scope and what to leave out",
        asks=("Who needs this, and how do we know?", "What is the smallest thing worth shipping?"),
        blind_spot="how much work hides behind a simple wish",
        guidance="Name the users and their jobs, the measures of success and the smallest scope "
        "that reaches them; say what is left out and why.",
        reason="one of the usual three",
    ),
    ChosenExpert(
        id="quality-expert",
        name="Quality Expert",
        domain="quality",
        perspective="risks, verification, operation and what happens when it fails",
        asks=("How will we notice that it fails?", "What is untested in this plan?"),
        blind_spot="the price of waiting for certainty",
        guidance="Name failure modes with their likelihood and cost, the tests and alarms that "
        "catch them, and acceptance criteria in figures.",
        reason="one of the usual three",
    ),
)
DEMONSTRATION_NOTE = demonstration(
    "it is asked for single sentences, its stances do not count, and the host's "
    "summary is an extract made by code"
)
