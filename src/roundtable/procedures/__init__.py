"""The procedures that can be opened, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from ..core.errors import UnknownName
from .kit import PREFIX, Kit

if TYPE_CHECKING:
    from .custom import Shelf


def _adaptive() -> Kit:
    from .adaptive.kit import KIT

    return KIT


def _council() -> Kit:
    from .council.kit import KIT

    return KIT


def _deliberation() -> Kit:
    from .deliberation.kit import KIT

    return KIT


def _five_round() -> Kit:
    from .five_round.kit import KIT

    return KIT


def _meeting() -> Kit:
    from .meeting.kit import KIT

    return KIT


class _Kits(Mapping[str, Kit]):
    """Kits by name, each loaded when it is asked for: whoever looks at one discussion needs the
    rules and reports of one procedure."""

    def __init__(self, load: Mapping[str, Callable[[], Kit]]) -> None:
        self._load = load

    def __getitem__(self, name: str) -> Kit:
        return self._load[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._load

    def __iter__(self) -> Iterator[str]:
        return iter(self._load)

    def __len__(self) -> int:
        return len(self._load)


PROCEDURES: Mapping[str, Kit] = _Kits(
    {
        "adaptive": _adaptive,
        "council": _council,
        "deliberation": _deliberation,
        "five-round": _five_round,
        "meeting": _meeting,
    }
)
"""The built-in ones. Their names are free; going through the values loads them all."""


def procedure_kit(name: str, own: Shelf | None = None) -> Kit:
    """The procedure of this name, or UnknownName with a suggestion.

    To open a discussion give the user's `own` ones: they are looked for first, so that one that
    bears the name of a built-in one is an error and no surprise. A discussion that is open needs
    no shelf: it carries its definition with it.
    """
    bare = name.removeprefix(PREFIX)
    definition = own.find(bare) if own is not None else None
    if definition is not None:
        from .custom import kit

        return kit(definition)
    if name in PROCEDURES:
        return PROCEDURES[name]
    if own is None and bare != name:
        from .custom import stored_kit

        return stored_kit(name)
    raise UnknownName("procedure", bare, [*PROCEDURES, *(own.names() if own else ())])


def meant_kit(given: Collection[str], default: str, own: Shelf | None = None) -> Kit:
    """The default procedure, or, where it does not know all options that were given, the first
    that does: `preset` can only mean the council."""
    usual = procedure_kit(default, own)
    if set(given) <= set(usual.flags):
        return usual
    of_procedures = {flag for kit in PROCEDURES.values() for flag in kit.flags}
    wanted = {name for name in given if name in of_procedures}
    fitting = (kit for kit in (usual, *PROCEDURES.values()) if wanted <= set(kit.flags))
    return next(fitting, usual)
