"""The procedures that can be opened, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from ..core.errors import UnknownName
from .spec import PREFIX, ProcedureSpec

if TYPE_CHECKING:
    from .custom import UserProcedures


def _adaptive() -> ProcedureSpec:
    from .adaptive.spec import SPEC

    return SPEC


def _council() -> ProcedureSpec:
    from .council.spec import SPEC

    return SPEC


def _deliberation() -> ProcedureSpec:
    from .deliberation.spec import SPEC

    return SPEC


def _five_round() -> ProcedureSpec:
    from .five_round.spec import SPEC

    return SPEC


def _meeting() -> ProcedureSpec:
    from .meeting.spec import SPEC

    return SPEC


class _Specs(Mapping[str, ProcedureSpec]):
    """Specs by name, each loaded when it is asked for: whoever looks at one discussion needs the
    rules and reports of one procedure."""

    def __init__(self, load: Mapping[str, Callable[[], ProcedureSpec]]) -> None:
        self._load = load

    def __getitem__(self, name: str) -> ProcedureSpec:
        return self._load[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._load

    def __iter__(self) -> Iterator[str]:
        return iter(self._load)

    def __len__(self) -> int:
        return len(self._load)


PROCEDURES: Mapping[str, ProcedureSpec] = _Specs(
    {
        "adaptive": _adaptive,
        "council": _council,
        "deliberation": _deliberation,
        "five-round": _five_round,
        "meeting": _meeting,
    }
)
"""The built-in ones. Their names are free; going through the values loads them all."""


def procedure_spec(name: str, own: UserProcedures | None = None) -> ProcedureSpec:
    """The procedure of this name, or UnknownName with a suggestion.

    To open a discussion give the user's `own` ones: they are looked for first, so that one that
    bears the name of a built-in one is an error and no surprise. A discussion that is open needs
    none of them: it carries its definition with it.
    """
    bare = name.removeprefix(PREFIX)
    definition = own.find(bare) if own is not None else None
    if definition is not None:
        from .custom import spec

        return spec(definition)
    if name in PROCEDURES:
        return PROCEDURES[name]
    if own is None and bare != name:
        from .custom import stored_spec

        return stored_spec(name)
    raise UnknownName("procedure", bare, [*PROCEDURES, *(own.names() if own else ())])


def infer_procedure(
    given: Collection[str], default: str, own: UserProcedures | None = None
) -> ProcedureSpec:
    """The default procedure, or, where it does not know all options that were given, the first
    that does: `preset` can only mean the council."""
    usual = procedure_spec(default, own)
    if set(given) <= set(usual.flags):
        return usual
    of_procedures = {flag for spec in PROCEDURES.values() for flag in spec.flags}
    wanted = {name for name in given if name in of_procedures}
    fitting = (spec for spec in (usual, *PROCEDURES.values()) if wanted <= set(spec.flags))
    return next(fitting, usual)
