"""The toolset over HTTP: `POST /api/tools/{name}` with a tool's arguments as JSON."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from ...core.errors import Forbidden, LedgerError, RoundtableError, TooBusy, UnknownDiscussion
from ...core.visible import shown
from ..toolset.toolset import Toolset, find_operation
from .access import Held
from .refusal import told, when_again


def router(toolset: Toolset) -> APIRouter:
    """One route for all tools, each with the rights of whoever calls it."""
    routes = APIRouter(prefix="/api/tools", tags=["tools"])

    @routes.get("")
    async def listed(held: Held) -> list[dict[str, Any]]:
        """The tools that this caller may use, with the schemas of their arguments and answers."""
        return [
            {
                "name": each.name,
                "title": each.title,
                "description": each.description,
                "read_only": each.read_only,
                "input_schema": each.input_schema,
                "output_schema": each.output_schema,
            }
            for each in toolset.held_by(held).operations.values()
        ]

    @routes.post("/{name}", response_model=None)
    async def call(name: str, request: Request, held: Held) -> Response:
        """Call a tool. The body is a JSON object with its arguments."""
        try:
            find_operation(name)
        except RoundtableError as error:
            return _refused(error, 404)
        try:
            arguments = await request.json()
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            return _refused(
                RoundtableError(
                    "The body is no JSON object.", 'Send the arguments, such as {"limit": 5}.'
                ),
                422,
            )
        try:
            result = await toolset.held_by(held).call(name, arguments)
        except RoundtableError as error:
            return _refused(error, _status(error))
        return JSONResponse(result.wire())

    return routes


def _status(error: RoundtableError) -> int:
    match error:
        case UnknownDiscussion():
            return 404
        case Forbidden():
            return 403
        case TooBusy():
            return 429
        case LedgerError():
            return 503
        case _:
            return 409 if type(error).__name__ == "NotAllowed" else 422


def _refused(error: RoundtableError, status: int) -> JSONResponse:
    message, remedy = told(error)
    said = {
        "error": shown(message),
        "remedy": shown(remedy),
        "kind": type(error).__name__,
    }
    return JSONResponse(said, status_code=status, headers=when_again(error))
