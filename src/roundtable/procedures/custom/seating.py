"""Seating a custom procedure: the participants of its definition, or experts for the question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from ...core.errors import BadSetting, UsageError
from ...core.events import NoteAdded
from ...core.framing import choices_of
from ...core.values import Participant
from ...ports import CastingRequest, ChosenExpert, Models
from ..casting import seats_asked
from ..checking import checked, checked_choices
from ..hosting import host_wish
from ..messages import demonstration, one_family
from ..opening import OpenRequest, Seating
from ..seats import HOST_ID, Seats
from ..vocabulary import ModelWishes, seat_count
from .model import FORMAT, Definition, Panel
from .options import MOST_SEATS, CustomFlags


def seat(
    definition: Definition, request: OpenRequest, models: Models, defaults: Mapping[str, Any]
) -> Seating:
    """Seat the table. Nothing is called for this. The whole definition goes into the options, so
    that the discussion never depends on a file again."""
    where = _where(definition)
    flags = checked(CustomFlags, {**defaults, **request.options}, where)
    definition = _wished(definition, flags)
    choices = checked_choices(flags.choices, where)
    if choices and not definition.decides:
        raise BadSetting(where, "choices", "nothing: no stage of it decides on the question")
    wishes = ModelWishes.of(flags.models, where)
    personas = list(_personas(definition, request))
    named = [name for persona in personas for name in (persona.id, persona.name)]
    seats = Seats(
        models, wishes.checked([*named, HOST_ID], len(personas), experts=len(flags.experts))
    )
    for place, persona in enumerate(personas):
        wanted = wishes.model_for(place, persona.id, persona.name) or persona.model
        seats.add_expert(persona, wanted)
    leads = definition.host
    asked = flags.host or wishes.named_for(HOST_ID, leads.name)
    wish = host_wish(request, models, asked, leads.model or None)
    host = seats.host(wish, leads.perspective, named=wishes.all, name=leads.name)
    notes = [*seats.notes, *_about_the_table(definition, seats, host)]
    return Seating(
        participants=tuple(seats.participants),
        host=host,
        options={
            "format": FORMAT,
            "definition": definition.model_dump(mode="json"),
            "guidance": {persona.id: persona.guidance for persona in personas},
            **({"choices": _options(choices, request.topic)} if definition.decides else {}),
            **seats_asked(flags.seats, wishes),
        },
        language=request.language or "auto",
        notes=tuple(notes),
    )


def casting_request(
    definition: Definition, request: OpenRequest, defaults: Mapping[str, Any]
) -> CastingRequest | None:
    """The experts of the library that the definition or the asker names, or as many as wanted."""
    values = {**defaults, **request.options}
    flags = checked(CustomFlags, values, _where(definition))
    definition = _wished(definition, flags)
    if definition.panel is not None:
        named = definition.panel.include
        wishes = ModelWishes.of(flags.models, _where(definition))
        seated = bool(named) or wishes.for_seats(HOST_ID, definition.host.name)
        return CastingRequest(definition.panel.count, named, open=not seated)
    named = tuple(seat.expert for seat in definition.participants if seat.expert)
    return CastingRequest(len(named), named) if named else None


def _where(definition: Definition) -> str:
    return f"options of {definition.name}"


def _wished(definition: Definition, flags: CustomFlags) -> Definition:
    """The definition with the panel that the asker wants. UsageError where the file itself says who
    sits here."""
    if not flags.experts and flags.seats is None:
        return definition
    panel = definition.panel
    if panel is None:
        word = "experts" if flags.experts else "seats"
        raise UsageError(
            f"{word} cannot be chosen here: the file of {definition.name} says who sits.",
            "Change its participants there, or give it a [panel], or take another procedure.",
        )
    include = flags.experts or panel.include
    count = seat_count(flags.seats, panel.count, len(include), 0)
    if not 1 <= count <= MOST_SEATS:
        raise BadSetting(_where(definition), "experts", f"at most {MOST_SEATS} of them")
    return definition.model_copy(update={"panel": Panel(count=count, include=include)})


def _options(choices: tuple[str, ...], topic: str) -> list[JsonValue]:
    return list(choices or choices_of(topic))


def _personas(definition: Definition, request: OpenRequest) -> Iterator[ChosenExpert]:
    chosen_experts = request.chosen_experts.experts if request.chosen_experts else ()
    if definition.panel is not None:
        if chosen_experts:
            yield from chosen_experts
        else:
            for number in range(1, definition.panel.count + 1):
                yield ChosenExpert(id=f"expert-{number}", name=f"Expert {number}")
        return
    experts = iter(chosen_experts)
    for own in definition.participants:
        found = next(experts, None) if own.expert else None
        yield ChosenExpert(
            id=own.id,
            name=own.name or (found.name if found else own.expert or own.id),
            domain=found.domain if found else "",
            perspective=own.perspective or (found.perspective if found else ""),
            guidance=own.guidance or (found.guidance if found else ""),
            model=own.model or (found.model if found else None),
        )


def _about_the_table(definition: Definition, seats: Seats, host: Participant) -> list[NoteAdded]:
    if told := seats.demonstrated(host, DEMONSTRATION_NOTE):
        return told
    blind = [s.name for s in definition.stages if s.order == "parallel" and "current" in s.sees]
    assert not blind, "the definition was checked"
    families = {p.speaker.family or p.speaker.model for p in seats.participants}
    if len(seats.participants) > 1 and len(families) == 1:
        return [ONE_FAMILY_NOTE]
    return []


ONE_FAMILY_NOTE = one_family(
    "participants", "Give the seats models of several providers, in the file or with --models."
)
DEMONSTRATION_NOTE = demonstration(
    "nothing that it says is counted, and the verdict is an extract of what was said"
)
