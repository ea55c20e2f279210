"""The room for documents: what every prompt of a discussion leaves of the windows at its table."""

from __future__ import annotations

from ..core.condensing import ROOM, room_taken, smallest_window
from ..core.decide import Procedure
from ..core.state import State
from ..core.values import Material
from .lengths import Lengths
from .play import play

SURE = 10
"""Documents that take up less than one part in so many of the smallest window fit anyway."""
LEAST_SHARE = 6
"""One part in so many of the smallest window is for documents, whatever else is said: where it has
to be, speeches and documents are shortened together in a single prompt."""
AMPLE = 1.3
"""How much longer than usual all that is said may be together: for one speech that is little, for
several it is rare."""
_ONE = Material(source="document", text="…")


def room_for_documents(state: State, procedure: Procedure, lengths: Lengths) -> int | None:
    """Within how many tokens the documents of a discussion that is about to be opened fit every
    prompt of it, with what the others said, with the host's own and when an answer is to be set
    right; None if all of them fit. It is played through without them to know."""
    start = state.start
    smallest = smallest_window((*start.participants, start.host)).context_window
    wanted = room_taken(start.context)
    if wanted * SURE <= smallest:
        return None
    empty = state.branch()
    options = {name: value for name, value in start.options.items() if name != ROOM}
    empty.opened = start.model_copy(update={"context": (_ONE,), "options": options})
    played = play(empty, procedure, _Ample(lengths.heard, lengths.went), "differing")
    leaves = min((call.leaves for call in played.calls), default=smallest // 2)
    room = max(leaves, smallest // LEAST_SHARE)
    return None if wanted <= room else room


class _Ample(Lengths):
    """Speakers who say more than they usually do."""

    __slots__ = ()

    def said(self, model: str, template: str, *, small: bool = False) -> float:
        return AMPLE * Lengths.said(self, model, template, small=small)
