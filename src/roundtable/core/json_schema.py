"""JSON schemas of what a speaker is asked to fill in, in the few words that all of them need."""

from __future__ import annotations

from typing import Any


def text_of(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}


def list_of(item: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "maxItems": most, "items": item}


def object_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these keys, all of them required and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
