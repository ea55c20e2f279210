"""Seating a meeting: from a list of participants or a roster to seats with their speakers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.events import NoteAdded
from ...core.framing import choices_of
from ...core.values import HOST_WIRE_NAME, OUTSIDE, Participant
from ...ports import Models
from ..casting import seats_asked
from ..hosting import host_wish
from ..messages import demonstration
from ..opening import OpenRequest, Seating
from ..seats import HOST_ID, Seats
from .options import MeetingOptions, parse_places
from .rosters import DEFAULT_ROSTER, roster


def seat(request: OpenRequest, models: Models, defaults: Mapping[str, Any]) -> Seating:
    """Seat a meeting. Nothing is called for this."""
    options = MeetingOptions.parse({**defaults, **request.options})
    notes: list[NoteAdded] = []
    places = options.participants
    if not places:
        name = options.roster or DEFAULT_ROSTER
        places = roster(name, request.chosen_experts, options.experts)
        unnamed = not (options.roster or options.experts or options.seats)
        if unnamed and not _may_be_cast(request):
            notes.append(_default_roster_note(name))
    wishes = options.wishes
    named = [name for place in places for name in (place.profile, place.display_name)]
    own = [place.model if options.participants else None for place in places]
    notes.extend(
        wishes.checked([*named, HOST_WIRE_NAME, HOST_ID], len(places), experts=len(options.experts))
    )
    if options.join:
        you = {"profile": options.join, "role": "Participant", "model": OUTSIDE}
        places = parse_places([*places, you])
        own.append(OUTSIDE)
    seats = Seats(models, tuple(notes))
    cast = (
        ()
        if options.participants or not request.chosen_experts
        else (request.chosen_experts.experts)
    )
    personas = {persona.id: persona for persona in cast}
    for at, place in enumerate(places):
        wished = wishes.model_for(at, place.profile, place.display_name)
        seated = seats.add(
            place.profile,
            place.display_name,
            own[at] or wished or place.model,
            role=place.role,
            perspective=place.perspective,
        )
        if (persona := personas.get(place.profile)) is not None:
            seats.note_unknown(persona, seated)
    host = seats.host(
        host_wish(request, models, options.host or wishes.named_for(HOST_WIRE_NAME, HOST_ID)),
        "opens, sums up and concludes; never argues, never votes",
        named=[*wishes.all, *filter(None, own)],
        seat=HOST_WIRE_NAME,
        name="Coordinator",
        emoji="🎙️",
    )
    participants, notes = seats.participants, seats.notes
    notes.extend(seats.demonstrated(host, DEMONSTRATION_NOTE))
    if waited_for := [p for p in participants if p.speaker.model == OUTSIDE]:
        timed = len(waited_for) < len(participants) or host.speaker.model != OUTSIDE
        notes.append(_outside_note(waited_for, options.patience if timed else None))
    if options.speech_order == "parallel":
        notes.append(PARALLEL_NOTE)
    return Seating(
        participants=tuple(participants),
        host=host,
        options={
            "max_rounds": 1 if options.quick else options.rounds,
            "speech_order": options.speech_order,
            "summaries": options.summaries,
            "choices": list(options.choices or choices_of(request.topic)),
            "format": options.format,
            "output_path": options.output_path,
            "turn_seconds": options.turn_seconds,
            "patience": options.patience,
            "early_end": host.speaker.model != OUTSIDE
            if options.early_end is None
            else options.early_end,
            "rounds_wait": options.rounds_wait,
            "conclusion_seconds": options.conclusion_seconds,
            "roster": options.roster,
            **seats_asked(options.seats, wishes),
        },
        language=request.language or "auto",
        notes=tuple(notes),
    )


def _may_be_cast(request: OpenRequest) -> bool:
    return request.chosen_experts is not None and bool(request.chosen_experts.shortlist)


def _default_roster_note(name: str) -> NoteAdded:
    return NoteAdded(
        code="default_roster",
        text=f"You named no participants, so the roster {name!r} is used.",
        remedy="Choose another with --roster, or name who takes part with --experts.",
    )


def _outside_note(waited_for: list[Participant], seconds: float | None) -> NoteAdded:
    """Without `seconds` the program has no part in the meeting, and nobody is timed."""
    names = ", ".join(p.id for p in waited_for)
    if seconds is None:
        told = "The table waits for each until it speaks, is skipped, or its round is ended."
    else:
        minutes = seconds >= 120 and seconds % 60 == 0
        time = f"{seconds / 60:g} minutes" if minutes else f"{seconds:g} seconds"
        told = f"Each has {time} for a turn; after that, the round goes on without it."
    return NoteAdded(
        code="outside",
        text=f"Taking part from outside: {names}. {told}",
        remedy="roundtable speak ID TEXT --as NAME",
    )


DEMONSTRATION_NOTE = demonstration(
    "nothing of what they say is counted, and the conclusion is an extract of it"
)
PARALLEL_NOTE = NoteAdded(
    code="parallel",
    text="The participants speak side by side: within a round they cannot see each other.",
    remedy='The order "fixed" lets each hear those before it.',
)
