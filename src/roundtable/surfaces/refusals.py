"""How the routes of a door describe their refusals, in OpenAPI's words."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

Refusals = dict[int | str, dict[str, Any]]


def refusals(model: type[BaseModel], *statuses: int) -> Refusals:
    """What routes answer with these statuses, always in the same form.

    Only the first brings the model, the others point to it: FastAPI would build a validator for
    each status of each route, which took most of a server's start."""
    first, *others = statuses
    schema = {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}
    pointing: Refusals = {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {"application/json": schema},
        }
        for status in others
    }
    return {first: {"model": model}, **pointing}
