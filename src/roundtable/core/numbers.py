"""Numbers that people and programs write: `true` is none of them, though Python takes it for one. A
price of `true` would be a dollar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator
from pydantic_core import PydanticCustomError

WANTED = "a number, not true or false"


def _refuse_truth(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("number_type", WANTED)
    return value


NUMBER = BeforeValidator(_refuse_truth)
"""Beside a number's type: it is one, or a text that reads as one."""


def truth_for_number(kind: type[BaseModel], values: Mapping[str, Any]) -> str:
    """The dotted key under which a truth value stands where this kind wants a number; empty if
    there is none."""
    for name, field in kind.model_fields.items():
        for key in filter(None, (name, field.alias)):
            if key in values and (found := _in(field.annotation, values[key], key)):
                return found
    return ""


def _in(wanted: Any, value: Any, key: str) -> str:
    kinds = list(_kinds(wanted))
    if isinstance(value, bool):
        return key if bool not in kinds and (int in kinds or float in kinds) else ""
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, BaseModel) and isinstance(value, Mapping):
            if found := truth_for_number(kind, value):
                return f"{key}.{found}"
        elif parts := get_args(kind):
            for name, each in _parts(value):
                if found := _in(parts[-1] if parts[-1] is not ... else parts[0], each, name):
                    return f"{key}.{found}"
    return ""


def _kinds(wanted: Any) -> Iterator[Any]:
    """The types of which a value may be one."""
    if get_origin(wanted) in (Union, UnionType):
        for each in get_args(wanted):
            yield from _kinds(each)
    elif get_origin(wanted) is Annotated:
        yield from _kinds(get_args(wanted)[0])
    else:
        yield wanted


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return ((str(name), each) for name, each in value.items())
    if isinstance(value, list | tuple):
        return ((str(place), each) for place, each in enumerate(value))
    return ()
