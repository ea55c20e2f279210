"""The options of a procedure, declared once: a field of its model says the type, the default, the
limits and the help. Every surface is made from what `described` reads there."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

from pydantic import Field, model_validator
from pydantic.fields import FieldInfo

from ..core.errors import UsageError
from ..core.values import Value
from .checking import split_list

Surface = Literal["cli", "chat", "http", "page", "tools", "openai", "python"]
Kind = Literal["flag", "choice", "number", "text", "list", "pairs", "rows"]
Part = Literal["experts", "count", "model", "models", "role", "person"]
"""What an option is for whoever seats a table: the experts, how many of them, one model for all,
models by seat, the model of one role, the name of a person with a seat."""
ON_OFF = ("on", "off")
SHARED = ("models", "host", "experts", "seats", "rounds", "quick", "choices")
"""The words that mean the same in every procedure (`vocabulary.py`), in the order of the help."""
_KEY = "roundtable"
_FLAG = re.compile(r"--([a-z0-9-]+)")
_METAVARS: dict[Kind, str] = {
    "list": "A,B,C",
    "pairs": "NAME=MODEL,…",
    "number": "N",
    "rows": "a list",
}


def option(
    default: Any,
    about: str,
    *,
    flag: str | None = None,
    metavar: str | None = None,
    choices: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    advanced: bool = False,
    part: Part | None = None,
    general: bool = False,
    here: bool = False,
    tells: bool = True,
    alias_tells: bool = True,
    suggests: tuple[str, ...] = (),
    closed: Mapping[Surface, str] | None = None,
    **limits: Any,
) -> Any:
    """A field of a procedure's model.

    `flag` is its word on the command line where that differs, `aliases` are older names.
    `advanced` ones are left out of the first help. `general`: the general option of that name
    sets it too. `here`: it is for whoever writes the files, and not passed to the table. `tells`:
    whoever gives it and names no procedure means this one; `alias_tells`: so does an older name.
    `suggests` are values that a shell or a form may offer, though others are taken too. `closed`
    gives the reason for each surface that does not offer it. `limits` are those of pydantic's
    Field: ge, gt, le, alias …"""
    extra: dict[str, Any] = {
        "flag": flag,
        "metavar": metavar,
        "choices": choices,
        "aliases": aliases,
        "advanced": advanced,
        "part": part,
        "general": general,
        "here": here,
        "tells": tells,
        "alias_tells": alias_tells,
        "suggests": suggests,
        "closed": dict(closed or {}),
    }
    return Field(default, description=about, json_schema_extra={_KEY: extra}, **limits)


@dataclass(frozen=True, slots=True)
class Option:
    """One option as its declaration says it."""

    name: str
    """Its key wherever options are written as keys and values."""
    kind: Kind
    help: str = ""
    word: str = ""
    """Its name on the command line, with underscores."""
    default: Any = None
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    """A limit that is not allowed itself."""
    whole: bool = False
    metavar: str = ""
    aliases: tuple[str, ...] = ()
    advanced: bool = False
    part: Part | None = None
    general: bool = False
    here: bool = False
    tells: bool = True
    alias_tells: bool = True
    suggests: tuple[str, ...] = ()
    closed: Mapping[str, str] = field(default_factory=dict)
    splits: bool = False
    """Whether a text must be cut into the parts of a list or of pairs."""

    @property
    def flag(self) -> str:
        return f"--{self.word.replace('_', '-')}"

    @property
    def shared(self) -> bool:
        """Whether it is one of the words that mean the same in every procedure."""
        return self.name in SHARED

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that it is called: its key, its word on the command line, older names."""
        return (self.name, *((self.word,) if self.word != self.name else ()), *self.aliases)

    @property
    def usual(self) -> str:
        """The default, in words; empty if there is none worth telling."""
        if isinstance(self.default, bool):
            return "on" if self.default else ""
        if self.default is None or isinstance(self.default, tuple | dict):
            return ""
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    @property
    def limits(self) -> str:
        """What a number may be, in words."""
        if self.above is not None:
            most = "" if self.maximum is None else f", at most {self.maximum:g}"
            return f"above {self.above:g}{most}"
        if self.minimum is None or self.maximum is None:
            return ""  # of a list, the help says it
        return f"{self.minimum:g} to {self.maximum:g}"

    def read(self, value: Any) -> Any:
        """A text of a command line or a form, cut into the parts that the declaration wants; a
        table in place of a list, as a list of `key=value`."""
        if self.kind == "list" and isinstance(value, Mapping):
            return tuple(f"{key}={each}" for key, each in value.items())
        if not self.splits or not isinstance(value, str):
            return value
        parts = split_list(value)
        if self.kind == "list":
            return parts
        pairs = [part.partition("=") for part in parts]
        if not all(mark for _, mark, _ in pairs):
            return value  # the model says what it expects instead
        return {name.strip(): model.strip() for name, _, model in pairs}

    def holds_nothing(self, text: str) -> bool:
        """Whether a text is a list without a part, such as `,,`."""
        return self.kind in ("list", "pairs") and not split_list(text)


class ProcedureOptions(Value):
    """Base of the options of a procedure. Older names are understood, and lists may be given as
    `a,b,c`, pairs as `a=x,b=y`."""

    cannot: ClassVar[Mapping[str, str]] = {}
    """Of the words of all procedures those that this one cannot honour, each with the reason and
    what to do instead, as two sentences."""

    def contradictions(self) -> Iterator[tuple[str, str, str]]:
        """Two options at a time of which one would do nothing beside the other, and why; each as a
        flag. A word that another is said to override is none of them."""
        yield from ()

    def check(self, *, as_flags: bool = True) -> None:
        """UsageError for options that exclude each other: whoever gave both believes that both
        were done."""
        for one, other, why in self.contradictions():
            told = f"{one} and {other} exclude each other: {why}."
            raise UsageError(told if as_flags else _as_names(told), "Leave one of them out.")

    @classmethod
    def bounds(cls) -> dict[str, str]:
        """What each number may be, where it has both limits."""
        return {e.name: e.limits for e in described(cls) if e.kind == "number" and e.above is None}

    @classmethod
    def older_names(cls) -> dict[str, tuple[str, ...]]:
        """What each option is called beside its name."""
        return {each.name: each.names[1:] for each in described(cls)}

    @model_validator(mode="before")
    @classmethod
    def _as_declared(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        found: dict[Any, Any] = {}
        for key, value in values.items():
            known = find(cls, key)
            name = key if known is None else known.name
            if name in found:
                raise UsageError(f"{name} is given twice.", "Give it under one of its names.")
            found[name] = value if known is None else known.read(value)
        return found


def _as_names(text: str) -> str:
    """The flags in a sentence as the names that they have where options are no flags."""
    return _FLAG.sub(lambda found: found[1].replace("-", "_"), text)


@cache
def described(model: type[ProcedureOptions]) -> tuple[Option, ...]:
    """The options of a model, in the order in which they are declared."""
    return tuple(_described(name, each) for name, each in model.model_fields.items())


def find(model: type[ProcedureOptions], name: object) -> Option | None:
    """The option of this name, of its word on the command line, or of an older name."""
    return next((each for each in described(model) if name in each.names), None)


def help_of(model: type[ProcedureOptions], name: str) -> str:
    """What an option of this name is for, with its limits."""
    known = find(model, name)
    assert known is not None, name
    return f"{known.help} {known.limits}".strip()


def _described(name: str, info: FieldInfo) -> Option:
    extra = info.json_schema_extra
    said: dict[str, Any] = {}
    if isinstance(extra, dict) and isinstance(found := extra.get(_KEY), dict):
        said = dict(found)
    name = info.alias or name
    kinds = _kinds(info.annotation)
    kind, choices = _kind(kinds, info.default)
    if said.get("choices"):
        choices = tuple(said["choices"])
    return Option(
        name=name,
        kind=kind,
        help=info.description or "",
        word=said.get("flag") or name,
        default=info.get_default(call_default_factory=True),  # type: ignore[call-arg,unused-ignore]
        choices=choices,
        minimum=_limit(info, "ge"),
        maximum=_limit(info, "le") or _limit(info, "max_length"),
        above=_limit(info, "gt"),
        whole=int in kinds and float not in kinds,
        metavar=said.get("metavar") or _METAVARS.get(kind, "TEXT"),
        aliases=tuple(said.get("aliases") or ()),
        advanced=bool(said.get("advanced")),
        part=said.get("part"),
        general=bool(said.get("general")),
        here=bool(said.get("here")),
        tells=bool(said.get("tells", True)),
        alias_tells=bool(said.get("alias_tells", True)),
        suggests=tuple(said.get("suggests") or ()),
        closed=said.get("closed") or {},
        splits=kind in ("list", "pairs") and str not in kinds,
    )


def _limit(info: FieldInfo, name: str) -> float | None:
    return next((getattr(each, name) for each in info.metadata if hasattr(each, name)), None)


def _kinds(annotation: Any) -> list[Any]:
    """The kinds that a value may be of, without None."""
    if get_origin(annotation) in (Union, types.UnionType):
        return [kind for each in get_args(annotation) for kind in _kinds(each)]
    return [] if annotation is type(None) else [annotation]


def _kind(kinds: list[Any], default: Any) -> tuple[Kind, tuple[str, ...]]:
    words = tuple(
        str(word) for each in kinds if get_origin(each) is Literal for word in get_args(each)
    )
    if bool in kinds:
        return ("flag", ()) if default is False and not words else ("choice", (*ON_OFF, *words))
    if words:
        return "choice", words
    if int in kinds or float in kinds:
        return "number", ()
    for each in kinds:
        if get_origin(each) is dict:
            return "pairs", ()
        if get_origin(each) is tuple:
            return ("list" if get_args(each)[0] is str else "rows"), ()
    return "text", ()
