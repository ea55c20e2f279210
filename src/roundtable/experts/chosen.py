"""Chosen experts: of the library, and such of whom only a name is known, as seats need them."""

from __future__ import annotations

from ..core.text import slug
from ..ports import ChosenExpert
from .expert import Expert


def chosen_expert(expert: Expert, reason: str = "") -> ChosenExpert:
    """An expert of the library at a table."""
    return ChosenExpert(
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


def named_expert(name: str) -> ChosenExpert:
    """An expert of whom only the name is known."""
    return ChosenExpert(
        id=slug(name, default="expert"),
        name=name,
        perspective=f"what matters in the field of a {name}",
        asks=(f"What would a {name} notice first that the others miss?",),
        guidance=f"Argue from the working practice of a {name}: its methods, its measures, its "
        "usual failures.",
        reason="asked for by name",
    )
