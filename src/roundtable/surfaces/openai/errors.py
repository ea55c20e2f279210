"""Errors as OpenAI's clients read them."""

from __future__ import annotations

from typing import Any

from fastapi.exceptions import RequestValidationError

from ...core.errors import (
    LedgerError,
    NotAllowed,
    RoundtableError,
    UnknownDiscussion,
    UnknownName,
    UsageError,
)
from ...core.text import redact


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
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = redact(message)
        self.kind = kind
        self.code = code
        self.param = param

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
        case NotAllowed():
            return WireError(409, str(error), code="not_allowed")
        case UsageError():
            return WireError(400, str(error))
        case LedgerError():
            return WireError(503, str(error), kind="server_error")
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
