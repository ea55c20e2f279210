"""What the extractor makes of a text: an answer with its grounds, or none with the reason."""

from __future__ import annotations

from dataclasses import dataclass

from ..points import Position


@dataclass(frozen=True, slots=True)
class Reading:
    """A position read from prose. None is the usual answer: rules abstain rather than guess."""

    position: Position | None
    why: str
    """The rule that answered, or the one that stood in the way."""


def unread(why: str) -> Reading:
    return Reading(None, why)


def side(sign: int, why: str) -> Reading:
    return Reading("agree" if sign > 0 else "disagree", why)
