"""What was read, and what was not."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.events import NoteAdded
from ..core.values import Material

CODE, UNREAD = "documents", "unread_documents"
COLOURED = "was read without the colours that it has in a terminal"
"""What is said of a document whose codes for a terminal were taken out."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The documents that were named, as far as they could be read."""

    materials: tuple[Material, ...] = ()
    lines: tuple[str, ...] = ()
    """One for each that could not be read, or not wholly, and one for what a folder left out."""
    missed: frozenset[str] = frozenset()
    """Those of the lines whose document somebody may miss: then the answer says so too."""

    @property
    def notes(self) -> tuple[NoteAdded, ...]:
        """What the discussion says of it: a note for each line, so that none is lost among others
        wherever notes are shown."""
        return tuple(
            NoteAdded(code=UNREAD if each in self.missed else CODE, text=f"{each}.")
            for each in dict.fromkeys(self.lines)
        )


NOTHING = Gathered()
