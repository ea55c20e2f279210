"""The endpoint on the wire: who is let in, and the form of answers, errors and streams."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from typing import Any

from fastapi import Request
from fastapi import Response as HttpResponse
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel

from ...core.errors import (
    Forbidden,
    LedgerError,
    NotAllowed,
    RoundtableError,
    TooBusy,
    UnknownDiscussion,
    UnknownName,
    UsageError,
)
from ...core.visible import shown
from ..refusals import refusals
from ..web.api import Feed
from ..web.refusal import told, when_again


class WireError(Exception):
    """An answer that is an error."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = shown(message)
        self.kind = kind
        self.code = code
        self.param = param
        self.headers = headers or {}

    @property
    def document(self) -> dict[str, Any]:
        return {
            "error": {
                "message": self.message,
                "type": self.kind,
                "param": self.param,
                "code": self.code,
            }
        }


def refused(what: str, instead: str, param: str) -> WireError:
    """For a parameter that cannot be honoured: to ignore it would be a lie."""
    return WireError(400, f"{what} {instead}", code="unsupported_parameter", param=param)


def from_ours(error: RoundtableError) -> WireError:
    """One of our own errors; its remedy goes with it."""
    match error:
        case UnknownName(kind="model"):
            return WireError(404, str(error), code="model_not_found", param="model")
        case UnknownDiscussion():
            return WireError(404, str(error), code="not_found")
        case Forbidden():
            return WireError(403, str(error), code="not_allowed")
        case TooBusy():
            return WireError(
                429,
                str(error),
                kind="rate_limit_error",
                code="too_many_waiting",
                headers=when_again(error),
            )
        case NotAllowed():
            return WireError(409, str(error), code="not_allowed")
        case UsageError():
            return WireError(400, str(error))
        case LedgerError():
            said = " ".join(told(error))
            return WireError(503, said, kind="server_error", headers=when_again(error))
        case _:
            return WireError(500, str(error), kind="server_error")


def from_validation(error: RequestValidationError) -> WireError:
    first = error.errors()[0]
    place = [str(part) for part in first.get("loc", ()) if part != "body"]
    param = ".".join(place) or None
    if first.get("type") == "json_invalid":
        return WireError(400, "The body is not JSON.")
    if first.get("type") == "missing" and param:
        return WireError(400, f"{param} is missing.", param=param)
    return WireError(400, f"{param or 'The body'}: {first.get('msg', 'is wrong')}.", param=param)


class Mistake(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class Mistaken(BaseModel):
    """An error as OpenAI's clients read it."""

    error: Mistake


ERRORS = refusals(Mistaken, 400, 401, 403, 404, 409, 413, 415, 429, 502, 503)


class Route(APIRoute):
    """Routes that speak of errors as clients expect."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, HttpResponse]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> HttpResponse:
            try:
                await _refuse_bad_text(request)
                return await handle(request)
            except WireError as error:
                return _error(error)
            except RequestValidationError as error:
                return _error(from_validation(error))
            except RoundtableError as error:
                return _error(from_ours(error))

        return handled


async def _refuse_bad_text(request: Request) -> None:
    """Half surrogates and bottomless nesting pass as JSON, and break whoever takes them."""
    body = await request.body()
    if not body:
        return
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise WireError(400, "The body holds half of a surrogate pair.") from None
    except RecursionError:
        raise WireError(400, "The body is nested too deeply.") from None
    except ValueError:
        raise WireError(400, "The body is not JSON.") from None


def headers_of(metadata: dict[str, str]) -> dict[str, str]:
    return {
        "x-roundtable-discussion": metadata["discussion_id"],
        "x-roundtable-page": metadata["page_url"],
    }


def json_answer(
    document: Any, headers: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    return HttpResponse(
        json.dumps(document).encode("ascii"),
        status,
        headers=headers,
        media_type="application/json",
    )


def _error(error: WireError) -> HttpResponse:
    # Clients try again by themselves; a discussion that failed would be paid for twice. Where too
    # many wait, nothing was opened.
    again = "true" if error.status == 429 else "false"
    headers = {"x-should-retry": again, **error.headers}
    return json_answer(error.document, headers, error.status)


def stream(events: AsyncGenerator[bytes, None], metadata: dict[str, str]) -> HttpResponse:
    headers = {"x-accel-buffering": "no", **headers_of(metadata)}
    return Feed(events, media_type="text/event-stream", headers=headers)


def sse(document: dict[str, Any]) -> bytes:
    name = document.get("type")
    event = f"event: {name}\n" if isinstance(name, str) and "sequence_number" in document else ""
    return f"{event}data: {json.dumps(document)}\n\n".encode("ascii")
