"""Reading the JSON answers of search services, which hold whatever their servers put there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import SearchError
from ..core.text import readable
from .json_request import ELSEWHERE


def rows(document: Any, *path: str, label: str) -> list[Mapping[str, Any]]:
    """The list of results under `path`; entries that are no objects are left out."""
    found = document
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    if not isinstance(found, list):
        raise SearchError(f"{label} answered in a form that it does not document.", ELSEWHERE)
    return [row for row in found if isinstance(row, Mapping)]


def text_of(row: Mapping[str, Any], name: str) -> str:
    """A field's text; empty if it is missing or something else."""
    value = row.get(name)
    return readable(value) if isinstance(value, str) else ""


def texts_of(row: Mapping[str, Any], name: str) -> list[str]:
    """The texts of a field that holds a list of them."""
    values = row.get(name)
    return [readable(v) for v in values if isinstance(v, str)] if isinstance(values, list) else []
