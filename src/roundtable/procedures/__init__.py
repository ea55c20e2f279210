"""The procedures that can be opened, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from ..core.errors import UnknownName
from .options import ProcedureOptions, described
from .spec import PREFIX, ProcedureSpec

if TYPE_CHECKING:
    from .custom.spec import UserProcedures


_PLACES = {
    "adaptive": ("adaptive.options", "AdaptiveFlags"),
    "council": ("council.options", "CouncilFlags"),
    "deliberation": ("deliberation.options", "DeliberationFlags"),
    "five-round": ("five_round.options", "FiveRoundFlags"),
    "meeting": ("meeting.options", "MeetingOptions"),
}
"""Where the options of the built-in ones are declared; the specs stand beside them."""
CUSTOM = "custom"
"""Stands for all of the user's own procedures where options are listed by procedure."""
T = TypeVar("T")


def _load_spec(name: str) -> ProcedureSpec:
    package = _PLACES[name][0].partition(".")[0]
    found: ProcedureSpec = import_module(f".{package}.spec", __name__).SPEC
    return found


def _load_options(name: str) -> type[ProcedureOptions]:
    module, kind = _PLACES.get(name, ("custom.options", "CustomFlags"))
    found: type[ProcedureOptions] = getattr(import_module(f".{module}", __name__), kind)
    return found


class _Loaded(Mapping[str, T]):
    """Something of each procedure by name, loaded when it is asked for: whoever looks at one
    discussion needs the rules and reports of one procedure."""

    def __init__(self, names: Collection[str], load: Callable[[str], T]) -> None:
        self._names, self._load = tuple(names), load

    def __getitem__(self, name: str) -> T:
        if name not in self._names:
            raise KeyError(name)
        return self._load(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


PROCEDURES: Mapping[str, ProcedureSpec] = _Loaded(_PLACES, _load_spec)
"""The built-in ones. Their names are free; going through the values loads them all."""
OPTIONS: Mapping[str, type[ProcedureOptions]] = _Loaded((*_PLACES, CUSTOM), _load_options)
"""The options of each, without its rules."""


def procedure_spec(name: str, own: UserProcedures | None = None) -> ProcedureSpec:
    """The procedure of this name, or UnknownName with a suggestion.

    To open a discussion give the user's `own` ones: they are looked for first, so that one that
    bears the name of a built-in one is an error and no surprise. A discussion that is open needs
    none of them: it carries its definition with it.
    """
    bare = name.removeprefix(PREFIX)
    definition = own.find(bare) if own is not None else None
    if definition is not None:
        from .custom.spec import spec

        return spec(definition)
    if name in PROCEDURES:
        return PROCEDURES[name]
    if own is None and bare != name:
        from .custom.spec import stored_spec

        return stored_spec(name)
    raise UnknownName("procedure", bare, [*PROCEDURES, *(own.names() if own else ())])


def infer_procedure(
    given: Collection[str], default: str, own: UserProcedures | None = None
) -> ProcedureSpec:
    """The default procedure, or, where it does not know all options that were given, the first
    that does: `preset` can only mean the council. Options may be given by any of their names."""
    usual = procedure_spec(default, own)
    telling = {name: _called(OPTIONS[name], telling=True) for name in PROCEDURES}
    wanted = {word for word in given if any(word in words for words in telling.values())}
    if wanted <= _called(usual.options):
        return usual
    taken = {name: _called(OPTIONS[name]) for name in PROCEDURES}
    fitting = (name for words in (telling, taken) for name in words if wanted <= words[name])
    return PROCEDURES[found] if (found := next(fitting, None)) else usual


def _called(model: type[ProcedureOptions], *, telling: bool = False) -> set[str]:
    """The names of its options; with `telling` those that mean this procedure and no other."""
    return {
        name
        for each in described(model)
        for name in each.names
        if not telling or (each.alias_tells if name in each.aliases else each.tells)
    }
