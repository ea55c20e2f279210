"""The options of a procedure, declared once: a field of its model says the type, the default, the
limits and the help. Every surface is made from what `described` reads there."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import Field, model_validator
from pydantic.fields import FieldInfo

from ..core.values import Value
from .checking import MOST_CHOICES, split_list

Surface = Literal["cli", "chat", "http", "page", "tools", "openai", "python"]
Kind = Literal["flag", "choice", "number", "text", "list", "pairs", "rows"]
Part = Literal["experts", "count", "model", "models", "role", "person"]
"""What an option is for whoever seats a table: the experts, how many of them, one model for all,
models by seat, the model of one role, the name of a person with a seat."""
ON_OFF = ("on", "off")
_KEY = "roundtable"
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
    closed: Mapping[Surface, str] | None = None,
    **limits: Any,
) -> Any:
    """A field of a procedure's model.

    `flag` is its word on the command line where that differs, `aliases` are older names.
    `advanced` ones are left out of the first help. `general`: the general option of that name
    sets it too. `here`: it is for whoever writes the files, and not passed to the table. `tells`:
    whoever gives it and names no procedure means this one. `closed`
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
        "closed": dict(closed or {}),
    }
    return Field(default, description=about, json_schema_extra={_KEY: extra}, **limits)


def choices_option(*, tells: bool = False) -> Any:
    """The field of the procedures that let the asker say what is voted on."""
    about = f"The options of the vote, 2 to {MOST_CHOICES}, where the question does not say them."
    return option((), about, tells=tells)


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
    closed: Mapping[str, str] = field(default_factory=dict)
    splits: bool = False
    """Whether a text must be cut into the parts of a list or of pairs."""

    @property
    def flag(self) -> str:
        return f"--{self.word.replace('_', '-')}"

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
        """A text of a command line or a form, cut into the parts that the declaration wants."""
        if not self.splits or not isinstance(value, str):
            return value
        parts = split_list(value)
        if self.kind == "list":
            return parts
        pairs = [part.partition("=") for part in parts]
        if not all(mark for _, mark, _ in pairs):
            return value  # the model says what it expects instead
        return {name.strip(): model.strip() for name, _, model in pairs}


class ProcedureOptions(Value):
    """Base of the options of a procedure. Older names are understood, and lists may be given as
    `a,b,c`, pairs as `a=x,b=y`."""

    @model_validator(mode="before")
    @classmethod
    def _as_declared(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {option.name: option.read(value) for option, value in _paired(cls, values)} | {
            key: value for key, value in values.items() if find(cls, key) is None
        }


def _paired(
    model: type[ProcedureOptions], values: Mapping[Any, Any]
) -> Iterator[tuple[Option, Any]]:
    for key, value in values.items():
        known = find(model, key)
        if known is not None:
            yield known, value


@cache
def described(model: type[ProcedureOptions]) -> tuple[Option, ...]:
    """The options of a model, in the order in which they are declared."""
    return tuple(_described(name, each) for name, each in model.model_fields.items())


def find(model: type[ProcedureOptions], name: object) -> Option | None:
    """The option of this name, or of an older one."""
    for each in described(model):
        if name == each.name or name in each.aliases:
            return each
    return None


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
