"""Checking what a person wrote: settings, options, flags."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ..core.errors import BadSetting, UnknownName, UsageError
from ..core.limits import WORDS, renamed
from ..core.numbers import WANTED, truth_for_number
from ..core.option_meant import FIXED_WORDS
from ..core.text import worded
from ..core.values import Budget, Value

T = TypeVar("T", bound=Value)
MOST_CHOICES = 9
LONGEST_CHOICE = 200
_OUTSIDE = ("greater_than_equal", "less_than_equal")


def checked(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    """The values as `kind`. UnknownName or BadSetting names the place, the key and what was
    expected there, in words for people."""
    if key := truth_for_number(kind, values):
        raise BadSetting(where, key, WANTED)
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        found = error.errors(include_url=False)
        key = _key(values, found[0]["loc"])
        if found[0]["type"] == "extra_forbidden":
            older = [each for names in _older(kind).values() for each in names]
            known = (*kind.model_fields, *older) if "." not in key else _within(kind, key)
            raise UnknownName(f"key in {where}:", key, known) from None
        # A value that may be one of several kinds fails once for each of them.
        wanted = [_expected(each) for each in found if _key(values, each["loc"]) == key]
        limits: Mapping[str, str] = getattr(kind, "bounds", dict)()
        if found[0]["type"] in _OUTSIDE and limits.get(key):
            wanted = [f"a number from {limits[key]}"]
        called = _called(kind, values, key)
        raise BadSetting(where, called, " or ".join(dict.fromkeys(wanted))) from None


def _within(kind: type[Value], key: str) -> list[str]:
    """The names that there are beside a key of an inner table, with the way to them."""
    *way, _ = key.split(".")
    table: type[Value] | None = kind
    for name in way:
        known = table.model_fields.get(name) if table else None
        inner = (known.annotation, *get_args(known.annotation)) if known else ()
        tables = (each for each in inner if isinstance(each, type) and issubclass(each, Value))
        table = next(tables, None)
    return [".".join((*way, name)) for name in table.model_fields] if table else []


def checked_limits(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values of a settings file with the names that limits have where they are stored, in place
    of the words that stand for them wherever they are given. Errors name them as they are
    written."""
    found = dict(values)
    for table in ("budget", "caps"):
        given = values.get(table)
        if not isinstance(given, Mapping):
            continue
        try:
            found[table] = renamed(given, Budget.model_fields)
        except UsageError as error:
            raise BadSetting(where, table, f"each limit once; {error.message}") from None
        try:
            checked(Budget, found[table], where)
        except BadSetting as error:
            written = error.key if error.key in given else WORDS.get(error.key, error.key)
            raise BadSetting(where, f"{table}.{written}", error.expected) from None
        except UnknownName as error:
            names = dict.fromkeys((*WORDS.values(), *Budget.model_fields))
            known = [f"{table}.{name}" for name in names]
            raise UnknownName(f"key in {where}:", f"{table}.{error.name}", known) from None
    return found


def _called(kind: type[Value], values: Mapping[str, Any], key: str) -> str:
    """The key as it was written: options have older names."""
    names = _older(kind).get(key, ())
    return key if key in values else next((each for each in names if each in values), key)


def _older(kind: type[Value]) -> Mapping[str, Sequence[str]]:
    found: Mapping[str, Sequence[str]] = getattr(kind, "older_names", dict)()
    return found


_PART = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"\s*|(?P<bare>[^,，]*))(?:[,，]|$)')


def split_list(text: str) -> tuple[str, ...]:
    """`a,b,c` of a command line as a list; in `"a, b",c` the first comma parts nothing."""
    found = (each["quoted"] or each["bare"] or "" for each in _PART.finditer(text))
    return tuple(part for each in found if (part := " ".join(each.split())))


def checked_choices(given: Sequence[str], where: str) -> tuple[str, ...]:
    """The options of a vote; BadSetting if they cannot be voted on."""
    choices = tuple(text for each in given if (text := " ".join(each.split())))
    if choices and (problem := _wrong_with(choices)):
        raise BadSetting(where, "choices", problem)
    return choices


def _wrong_with(choices: tuple[str, ...]) -> str:
    """What is expected instead; empty if these can be voted on."""
    if not 2 <= len(choices) <= MOST_CHOICES:
        return f"2 to {MOST_CHOICES} options"
    if len({worded(choice) for choice in choices}) < len(choices):
        return "options that differ"
    if any(len(choice) > LONGEST_CHOICE for choice in choices):
        return f"options of 1 to {LONGEST_CHOICE} characters"
    if any(re.fullmatch(r"o\d{1,2}", choice, re.IGNORECASE) for choice in choices):
        return "words: o1, o2 … are the ids of the options"
    if stray := [each for each in choices if each.startswith('"') and each.count('"') % 2]:
        return f"a closing quotation mark after {stray[0]}"
    for choice in choices:
        if (word := worded(choice)) in FIXED_WORDS:
            return f"more words than “{choice}”: in a vote `{word}` stands for {FIXED_WORDS[word]}"
    return ""


def _key(values: Any, loc: Sequence[int | str]) -> str:
    """The dotted key as it stands in the file, without the names of kinds that were tried."""
    parts: list[str] = []
    for part in loc:
        if not isinstance(values, Mapping | list):
            break
        parts.append(str(part))
        if isinstance(values, Mapping):
            values = values.get(part)
        else:
            values = values[part] if isinstance(part, int) and part < len(values) else None
    return ".".join(parts)


_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("model_type", "dict_type"), "a table of keys and values"),
    **dict.fromkeys(("tuple_type", "list_type", "set_type", "frozen_set_type"), "a list"),
}
"""What is expected, in the words of whoever writes the file."""


def _expected(error: ErrorDetails) -> str:
    if told := _KINDS.get(error["type"]):
        return told
    told = error["msg"].removeprefix("Input should be ").partition(", unable")[0]
    return told.replace("a valid integer", "a whole number").replace("a valid number", "a number")
