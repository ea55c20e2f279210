"""Chosen experts: of the library, and such of whom only a name is known, as seats need them."""

from __future__ import annotations

from ..core.text import clip, slug
from ..ports import ChosenExpert
from .expert import Expert

LONGEST_SENTENCE = 300
"""Characters by which somebody describes an expert of their own."""


def is_described(named: str) -> bool:
    """Whether it is a name with a sentence after a colon."""
    name, _, sentence = named.partition(":")
    return bool(name.strip() and sentence.strip())


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


def named_expert(named: str) -> ChosenExpert:
    """An expert of whom only the name is known, or a name and a sentence after a colon: `Beekeeper:
    asks what it does to the bees`."""
    if is_described(named):
        name, _, sentence = (part.strip() for part in named.partition(":"))
        return ChosenExpert(
            id=slug(name, default="expert"),
            name=name,
            perspective=_sentence(sentence),
            guidance=f"Argue as {name}, from the working practice of whoever that is.",
            reason="described by whoever asks",
        )
    name = named
    return ChosenExpert(
        id=slug(name, default="expert"),
        name=name,
        perspective=f"what matters in the field of a {name}",
        asks=(f"What would a {name} notice first that the others miss?",),
        guidance=f"Argue from the working practice of a {name}: its methods, its measures, its "
        "usual failures.",
        reason="asked for by name",
    )


def _sentence(text: str) -> str:
    told = clip(" ".join(text.split()), LONGEST_SENTENCE)
    return told if told[-1] in ".!?…。！？" else f"{told}."
