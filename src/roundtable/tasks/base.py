"""What boards behind an address share: one JSON request, and the token for it.

What the board says about a failure is shown only as its status: it may repeat the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import BoardError, NetError
from ..net import Method, fit_for_a_header, request

PATIENCE = 20.0
MAX_BYTES = 4_000_000
_LATER = "Nothing is lost: report again later with `roundtable tasks ID`."


async def json_request(
    label: str,
    method: Method,
    url: str,
    *,
    headers: Mapping[str, str],
    body: Mapping[str, Any] | None = None,
    remedies: Mapping[int, str] | None = None,
) -> Any:
    """The parsed answer; None for an answer without content. All that can go wrong becomes a
    BoardError."""
    try:
        answer = await request(
            label,
            method,
            url,
            body=body,
            headers={"accept": "application/json", **headers},
            timeout=PATIENCE,
            max_bytes=MAX_BYTES,
        )
        if answer.good:
            return answer.json() if answer.body else None
    except NetError as error:
        raise BoardError(error.message, _remedy(error)) from None
    raise BoardError(
        f"{label} answered with status {answer.status}.",
        (remedies or {}).get(answer.status, _LATER),
    )


def _remedy(error: NetError) -> str:
    match error.cause:
        case "address" | "tls" | "proxy":
            return error.remedy
        case "unreachable" | "format":
            return f"Check the address. {_LATER}"
        case _:
            return _LATER


def read_token(env: Mapping[str, str], variable: str, label: str) -> str:
    """The token, read when it is needed; BoardError, without it, if there is none."""
    token = env.get(variable, "").strip()
    if not token:
        raise BoardError(f"{label} needs a token.", f"Set {variable}.")
    if not fit_for_a_header(token):
        raise BoardError(f"{variable} holds characters that no token has.", "Copy it once more.")
    return token
