"""The endpoint on the wire: who is let in, and the form of answers, errors and streams."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi import Response as HttpResponse
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel

from ...core.errors import RoundtableError
from ..web.api import Feed
from ..web.links import Links
from .errors import WireError, from_ours, from_validation

_HOW = "The API token is the key in the owner's link, which `roundtable serve` prints."


class Mistake(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class Mistaken(BaseModel):
    """An error as OpenAI's clients read it."""

    error: Mistake


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Mistaken} for status in (400, 401, 404, 409, 413, 415, 502, 503)
}


def route_class(links: Links) -> type[APIRoute]:
    """Routes that ask for the token before anything else, and speak of errors as clients expect."""

    class Route(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, HttpResponse]]:
            handle = super().get_route_handler()

            async def handled(request: Request) -> HttpResponse:
                try:
                    _authorise(request, links)
                    await _refuse_bad_text(request)
                    return await handle(request)
                except WireError as error:
                    return _error(error)
                except RequestValidationError as error:
                    return _error(from_validation(error))
                except RoundtableError as error:
                    return _error(from_ours(error))

            return handled

    return Route


def _authorise(request: Request, links: Links) -> None:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not links.is_owner(key.strip()):
        raise WireError(401, f"This needs the API token. {_HOW}", code="invalid_api_key")


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
    # Clients try again by themselves; a discussion that failed would be paid for twice.
    headers = {"x-should-retry": "true" if error.code == "busy" else "false"}
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    return json_answer(error.document, headers, error.status)


def stream(events: AsyncGenerator[bytes, None], metadata: dict[str, str]) -> HttpResponse:
    headers = {"x-accel-buffering": "no", **headers_of(metadata)}
    return Feed(events, media_type="text/event-stream", headers=headers)


def sse(document: dict[str, Any]) -> bytes:
    name = document.get("type")
    event = f"event: {name}\n" if isinstance(name, str) and "sequence_number" in document else ""
    return f"{event}data: {json.dumps(document)}\n\n".encode("ascii")
