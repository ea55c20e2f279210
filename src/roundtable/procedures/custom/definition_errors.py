"""Pointed errors: what is wrong with one value of a definition, in words for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

from ...core.errors import BadSetting, RoundtableError, UnknownName
from ...core.tally import RULES
from .model import Definition, Ending, Extract, HostSeat, Panel, Part, Seat, Stage, StopRule, Until

_PARTS: Mapping[str, type[Part]] = {
    "participants": Seat,
    "panel": Panel,
    "host": HostSeat,
    "stages": Stage,
    "extract": Extract,
    "until": Until,
    "any": StopRule,
    "all": StopRule,
    "verdict": Ending,
}
_PATTERNS = {
    "id": "a short name of small letters, digits and dashes, such as cost-model",
    "sees": "none, own, current, previous, all, results or stage:NAME, or a list of them",
    "history": "full, digest, summary or chars:N with N from 10 on",
    "aggregate": "statistics, points or tally:RULE, RULE being " + ", ".join(RULES),
    "sections": "headings on one line, without # * and :",
    "section": "a heading on one line, without # * and :",
    "variables": "names of small letters, digits and underscores",
    "who": 'all, host, or a list of ids of participants such as ["anna", "ben"]',
}


def definition_error(
    errors: Sequence[ErrorDetails], data: Mapping[str, Any], where: str
) -> RoundtableError:
    """The first of these errors as one for callers: the place, the key and what is expected."""
    # A slip in a key is the cause of what else is missing: it comes first.
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    loc = first["loc"]
    key = _key(loc, data)
    if first["type"] == "extra_forbidden":
        known = _part(loc).model_fields
        near = get_close_matches(str(loc[-1]), known, n=1, cutoff=0.5)
        remedy = f"Did you mean {near[0]}?" if near else f"Known here: {', '.join(known)}."
        return UnknownName(f"key in {where}:", key, remedy=remedy)
    same = [each for each in errors if _key(each["loc"], data) == key]
    expected = " or ".join(dict.fromkeys(_expected(each) for each in same))
    return BadSetting(where, key, expected)


def _part(loc: Sequence[int | str]) -> type[Part]:
    """The table in which a key stands."""
    return next((_PARTS[str(p)] for p in reversed(loc[:-1]) if str(p) in _PARTS), Definition)


def _key(loc: Sequence[int | str], data: Any) -> str:
    """`stages.critique.sees` instead of a number, where the table has a name."""
    parts: list[str] = []
    for step in loc:
        inside: Any = None
        if isinstance(data, Mapping):
            if str(step) not in data and parts and str(step) not in _fields(loc, step):
                break
            inside = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            inside = data[step]
            name = inside.get("name", inside.get("id")) if isinstance(inside, Mapping) else None
            step = name if isinstance(name, str) else f"{step + 1}"
        elif parts:
            break  # the name of a kind that was tried
        parts.append(str(step))
        data = inside
    return ".".join(parts) or "the file"


def _fields(loc: Sequence[int | str], step: int | str) -> Iterable[str]:
    place = list(loc).index(step)
    return _part(loc[: place + 1]).model_fields


def _expected(error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "missing":
        return "a value; it is missing"
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return "a table of keys and values"
    if kind in ("tuple_type", "list_type"):
        return "a list"
    if kind == "string_type":
        return "text in quotes"
    if kind == "string_pattern_mismatch":
        named = next((str(p) for p in reversed(error["loc"]) if str(p) in _PATTERNS), "")
        if named:
            return _PATTERNS[named]
        return _PATTERNS["id"] if "[a-z]" in str(error.get("ctx")) else "one line of text"
    message = error["msg"]
    for start in ("Input should be ", "String should have ", "Tuple should have ", "Value error, "):
        message = message.removeprefix(start)
    return message.partition(", unable")[0].partition(" after validation")[0]
