"""Keeping answers short: whoever reads them pays for every character."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from ...core.text import clip
from .results import Result

R = TypeVar("R", bound=Result)


def within(result: R, limit: int) -> R:
    """The answer in at most so many characters: perspectives are clipped first, then lists lose
    their last entries, the longest list first. What is left out can be read elsewhere."""
    for perspective in (120, 40, 0):
        if result.size() <= limit:
            return result
        result = result.model_copy(update=dict(_clipped_seats(result, perspective)))
    while result.size() > limit:
        lists = {name: value for name, value in result if isinstance(value, list) and value}
        if not lists:
            return result
        longest = max(lists, key=lambda name: written([_plain(each) for each in lists[name]]))
        update: dict[str, Any] = {longest: lists[longest][:-1]}
        if longest.endswith("_points") and hasattr(result, "further_points"):
            update["further_points"] = getattr(result, "further_points", 0) + 1
        result = result.model_copy(update=update)
    return result


def prefix(text: str, room: int) -> str:
    """The longest beginning of a text that takes at most so many characters of JSON."""
    piece = text[: max(0, room)]
    while piece and (size := written(piece) - 2) > room:
        piece = piece[: max(0, min(len(piece) - 1, len(piece) * room // size))]
    return piece


def written(value: object) -> int:
    """Characters of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _clipped_seats(result: Result, limit: int) -> Iterator[tuple[str, Any]]:
    seats = getattr(result, "participants", None)
    if isinstance(seats, list):
        yield (
            "participants",
            [
                each.model_copy(update={"perspective": clip(each.perspective, limit)})
                for each in seats
            ],
        )


def _plain(value: Any) -> object:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
