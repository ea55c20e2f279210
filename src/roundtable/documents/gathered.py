"""What was read, and what was not."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.events import NoteAdded
from ..core.values import Material

CODE, UNREAD = "documents", "unread_documents"
COLOURED = "was read without the colours that it has in a terminal"
"""What is said of a document whose codes for a terminal were taken out."""
_LISTED = 12


@dataclass(frozen=True, slots=True)
class Gathered:
    """The documents that were named, as far as they could be read."""

    materials: tuple[Material, ...] = ()
    lines: tuple[str, ...] = ()
    """One for each that could not be read, or not wholly, and one for what a folder left out."""
    unread: bool = False
    """Whether somebody may miss one: then the answer says so too."""

    @property
    def notes(self) -> tuple[NoteAdded, ...]:
        """What the discussion says of it."""
        if not self.lines:
            return ()
        more = len(self.lines) - _LISTED
        told = "; ".join(self.lines[:_LISTED]) + (f"; and {more} more" if more > 0 else "")
        return (NoteAdded(code=UNREAD if self.unread else CODE, text=f"Of the documents: {told}."),)


NOTHING = Gathered()
