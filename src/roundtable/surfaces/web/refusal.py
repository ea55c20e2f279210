"""A refusal: what is answered in place of what was asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...core.errors import LedgerError, LedgerFull, LedgerReadOnly, RoundtableError, TooBusy

if TYPE_CHECKING:
    from starlette.types import Send


RETRY_AFTER = "5"
"""Seconds after which a database that does not answer may be asked again, as a header says it."""


def told(error: RoundtableError) -> tuple[str, str]:
    """What happened and what to do, for somebody elsewhere: where a database lies that does not
    answer is its owner's to know, and stands in the server's log."""
    if not isinstance(error, LedgerError) or not error.temporary:
        return error.message, error.remedy
    cannot = isinstance(error, LedgerReadOnly | LedgerFull)
    what = "cannot be written" if cannot else "does not answer"
    return f"The database {what} just now.", "Nothing is lost. Try again in a moment."


def when_again(error: RoundtableError) -> dict[str, str]:
    """The header that says when the same may be asked again, if that is worth it."""
    match error:
        case TooBusy():
            return {"retry-after": str(error.retry_after)}
        case LedgerError():
            return {"retry-after": RETRY_AFTER}
        case _:
            return {}


class Refused(Exception):
    """Raised by whatever stands before the routes."""

    def __init__(
        self,
        status: int,
        error: str,
        remedy: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(error)
        self.status = status
        self.error = error
        self.remedy = remedy
        self.headers = headers or {}
        self.more = more


def undecided(error: RoundtableError) -> Refused:
    """For whoever cannot be let in or sent away, because what was given out cannot be read. It may
    be anybody: nobody is told more than that."""
    if isinstance(error, LedgerError) and error.temporary:
        return Refused(503, *told(error), headers=when_again(error))
    return Refused(503, "This server cannot read what it gave out.", "Its log says why.")


def problem(path: str, status: int, error: str, remedy: str, **more: Any) -> dict[str, Any]:
    """A refusal as the clients of this path know it."""
    if path.startswith("/v1/"):
        name = "server_error" if status >= 500 else "invalid_request_error"
        name = "rate_limit_error" if status == 429 else name
        kind = {"type": name, "param": None, "code": more.get("code")}
        return {"error": {"message": f"{error} {remedy}".strip(), **kind}}
    return {"error": error, "remedy": remedy, **more}


async def answer(refused: Refused, path: str, send: Send) -> None:
    """Send it. What is left of the request's body is thrown away by the connection."""
    told = problem(path, refused.status, refused.error, refused.remedy, **refused.more)
    body = json.dumps(told).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *((name.encode(), value.encode()) for name, value in refused.headers.items()),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
