"""What the host assumed where the question left something open and nobody answered."""

from __future__ import annotations

from .state import State

SOURCE = "assumptions of the host"
"""The source of the material that holds them, one in a line with its id: every prompt has it."""


def assumptions_of(state: State) -> dict[str, str]:
    """The assumptions by id."""
    texts = (each.material.text for each in state.added if each.material.source == SOURCE)
    lines = (line.partition(": ") for text in texts for line in text.splitlines())
    return {own: text for own, _, text in lines if text}
