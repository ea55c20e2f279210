"""Personas: experts of the library, and such of whom only a name is known, as seats need them."""

from __future__ import annotations

from ..core.text import slug
from ..ports import Persona
from .expert import Expert


def persona_of(expert: Expert, reason: str = "") -> Persona:
    """An expert of the library at a table."""
    return Persona(
        id=expert.id,
        name=expert.name,
        domain=expert.domain,
        perspective=expert.perspective,
        asks=expert.asks,
        blind_spot=expert.blind_spot,
        guidance=expert.guidance,
        needs=expert.needs,
        reason=reason,
    )


def plain_persona(name: str) -> Persona:
    """A persona of whom only the name is known."""
    return Persona(
        id=slug(name, default="expert"),
        name=name,
        perspective=f"what matters in the field of a {name}",
        asks=(f"What would a {name} notice first that the others miss?",),
        guidance=f"Argue from the working practice of a {name}: its methods, its measures, its "
        "usual failures.",
        reason="asked for by name",
    )
