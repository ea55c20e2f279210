"""A JSON schema as strict modes take it.

Providers that hold a model to a schema accept only a part of the language, each another one. What
is kept here is what all of them accept; lengths, counts and limits are left out, because the
answer is read against them anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same shape in the words that every strict mode knows."""
    if "anyOf" in schema:
        return {"anyOf": [strict(each) for each in schema["anyOf"]]}
    if "const" in schema:
        return {"type": "string", "enum": [schema["const"]]}
    if "enum" in schema:
        return {"type": "string", "enum": list(schema["enum"])}
    kind = schema.get("type")
    if isinstance(kind, list):
        return {"anyOf": [strict({**schema, "type": each}) for each in kind]}
    if kind == "object":
        properties = {name: strict(part) for name, part in schema["properties"].items()}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    if kind == "array":
        return {"type": "array", "items": strict(schema["items"])}
    return {"type": kind}
