"""Seating a deliberation: different experts, and as different models as can be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.events import NoteAdded
from ...core.framing import choices_of
from ...core.values import OUTSIDE, Participant
from ...ports import CastingRequest, ChosenExpert, Models
from ..messages import demonstration
from ..opening import OpenRequest, Seating
from ..past_record import recorded
from .options import DeliberationFlags

HOST_ID, HOST_NAME, HOST_EMOJI = "host", "Host", "⚖️"
EXPERT_EMOJI = "👤"


def seat(request: OpenRequest, models: Models, defaults: Mapping[str, Any]) -> Seating:
    """Seat the experts that were chosen for the topic. Nothing is called for this."""
    flags = DeliberationFlags.parse({**defaults, **request.options})
    chosen_experts = request.chosen_experts
    personas = chosen_experts.experts if chosen_experts else METHODS[: flags.seats]
    notes: list[NoteAdded] = []
    participants = []
    for place, persona in enumerate(personas):
        wanted = persona.model or models.default_model
        if flags.models:
            wanted = flags.models[place % len(flags.models)]
        chosen = models.seat(wanted, persona.name)
        notes.extend(chosen.notes)
        if chosen_experts and not persona.domain and chosen.speakers[0].model != OUTSIDE:
            notes.append(_made_up(persona.name))
        participants.append(
            Participant(
                id=persona.id,
                name=persona.name,
                role=persona.domain or persona.name,
                emoji=EXPERT_EMOJI,
                perspective=persona.perspective,
                speakers=chosen.speakers,
            )
        )
    chosen = models.seat(
        (chosen_experts and chosen_experts.host_model) or models.default_model, HOST_NAME
    )
    notes.extend(chosen.notes)
    host = Participant(
        id=HOST_ID,
        name=HOST_NAME,
        role="Host",
        emoji=HOST_EMOJI,
        perspective="asks, counts and concludes; never argues, never votes",
        speakers=chosen.speakers,
    )
    notes.extend(_about_the_panel(participants, host))
    return Seating(
        participants=tuple(participants),
        host=host,
        options={
            "choices": list(flags.choices or choices_of(request.topic)),
            "critique": not flags.quick,
            "early_stop": not flags.always_critique,
            "statement": flags.statement,
            "dual_order": flags.dual_order,
            "guidance": {persona.id: persona.guidance for persona in personas},
            **recorded(chosen_experts.past if chosen_experts else (), participants),
        },
        language=request.language or "auto",
        notes=tuple(notes),
    )


def casting_request(request: OpenRequest, defaults: Mapping[str, Any]) -> CastingRequest:
    """Experts for the topic, as many as there are seats."""
    flags = DeliberationFlags.parse({**defaults, **request.options})
    return CastingRequest(max(flags.seats, len(flags.experts)), flags.experts, not flags.no_record)


def _made_up(name: str) -> NoteAdded:
    """A slip in a name must not pass for an expert."""
    return NoteAdded(
        code="made_up",
        text=f"No expert of the library is called {name}: all that this seat knows is its name.",
        remedy="`roundtable experts WORDS` finds those who are there.",
    )


def _about_the_panel(participants: Sequence[Participant], host: Participant) -> list[NoteAdded]:
    """What the evidence says hurts, where it could not be helped."""
    families = {p.speaker.family or p.speaker.model for p in participants}
    if any(p.speaker.demonstration for p in (*participants, host)):
        return [DEMONSTRATION_NOTE]
    notes = []
    if len(families) == 1:
        notes.append(
            NoteAdded(
                code="one_family",
                text="All experts speak with models of one family. Different hats on one model "
                "agree more than different models do: take their agreement with care.",
                remedy="Configure a second provider, or name models of several with --models.",
            )
        )
    elif host.speaker.family in families:
        notes.append(
            NoteAdded(
                code="host_of_a_family",
                text="The host's model is of the same family as an expert's, which it may favour.",
                remedy="Give the host a model of another family with --model.",
            )
        )
    return notes


METHODS = (
    ChosenExpert(
        id="first-principles",
        name="First Principles",
        perspective="what must be true, step by step from what is certain",
        guidance="Derive the answer from what is certain. Name each assumption where you make it.",
    ),
    ChosenExpert(
        id="precedent",
        name="Precedent",
        perspective="what happened in comparable cases, and how often",
        guidance="Reason from comparable cases and base rates. Say where this case differs.",
    ),
    ChosenExpert(
        id="pre-mortem",
        name="Pre-mortem",
        perspective="how the obvious answer fails",
        guidance="Assume that the obvious answer was taken and failed, and work out why. Then say "
        "what you would do.",
    ),
    ChosenExpert(
        id="affected-people",
        name="Affected People",
        perspective="who gains, who loses, and who was not asked",
        guidance="Go through those whom the answer touches, the absent ones too, and weigh what it "
        "does to them.",
    ),
    ChosenExpert(
        id="numbers",
        name="Numbers",
        perspective="orders of magnitude, costs and expected values",
        guidance="Estimate every quantity that matters, with a range, and let the sums decide.",
    ),
    ChosenExpert(
        id="second-order",
        name="Second Order",
        perspective="what follows from what follows",
        guidance="Follow the answer two steps further: who reacts to it, and what that brings.",
    ),
    ChosenExpert(
        id="least-that-works",
        name="Least That Works",
        perspective="the smallest step that would do, and what it would teach",
        guidance="Look for the smallest reversible step that settles the question.",
    ),
)
"""Different ways to reason, for tables that no experts were chosen for."""

DEMONSTRATION_NOTE = demonstration(
    "it casts no ballots, and the verdict is an extract of what was said"
)
