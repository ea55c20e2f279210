"""A decision as plain JSON: what the page gets."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from .decision import Decision
from .decision_parts import Change, Facts, Question, SlopeLine, Step

_NAMES = {Change: {"when": "if"}, SlopeLine: {"start": "from", "end": "to"}}
"""Fields whose name is no name in Python."""
_ALSO = {Facts: "seconds", Question: "cut", Step: "named"}
"""What follows from a value's fields and is told with them."""


def document(decision: Decision) -> dict[str, Any]:
    """All of it by the names of its fields."""
    told: dict[str, Any] = plain(decision)
    return told


def plain(value: Any) -> Any:
    """A part of one, in the same way."""
    if is_dataclass(value) and not isinstance(value, type):
        names = _NAMES.get(type(value), {})
        told = {names.get(f.name, f.name): plain(getattr(value, f.name)) for f in fields(value)}
        if also := _ALSO.get(type(value)):
            told[also] = getattr(value, also)
        return told
    match value:
        case tuple():
            return [plain(each) for each in value]
        case datetime():
            return value.isoformat()
        case _:
            return value
