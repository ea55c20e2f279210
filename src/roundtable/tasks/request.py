"""One JSON request to a task board. All that can go wrong becomes a BoardError.

What the board says about a failure is shown only as its status: it may repeat the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..core.addresses import host_of, is_this_machine
from ..core.errors import BoardError

PATIENCE = 20.0
MAX_BYTES = 4_000_000
_LATER = "Nothing is lost: report again later with `roundtable tasks ID`."


async def json_request(
    label: str,
    method: Literal["GET", "POST"],
    url: str,
    *,
    headers: Mapping[str, str],
    body: Mapping[str, Any] | None = None,
    remedies: Mapping[int, str] | None = None,
) -> Any:
    """The parsed answer; None for an answer without content."""
    import httpx2

    host = host_of(url)
    if not host:
        raise BoardError(
            f"{label} has no usable address.", "It must begin with http:// or https://."
        )
    try:
        async with httpx2.AsyncClient(
            timeout=PATIENCE,
            follow_redirects=False,
            # A proxy of the environment cannot reach a server of this machine.
            trust_env=not is_this_machine(host),
        ) as client:
            answer = await client.request(
                method, url, json=body, headers={"accept": "application/json", **headers}
            )
    except httpx2.TimeoutException:
        raise BoardError(f"{label} did not answer within {PATIENCE:g} s.", _LATER) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
        raise BoardError(
            f"{label} cannot be reached at {host}.", f"Check the address. {_LATER}"
        ) from None
    if not 200 <= answer.status_code < 300:
        remedy = (remedies or {}).get(answer.status_code, _LATER)
        raise BoardError(f"{label} answered with status {answer.status_code}.", remedy)
    if not answer.content:
        return None
    if len(answer.content) > MAX_BYTES:
        raise BoardError(f"{label} sent more than can be read.", _LATER)
    try:
        return answer.json()
    except ValueError:
        raise BoardError(
            f"{label} sent an answer that is not JSON.", "Check its address."
        ) from None


def read_token(env: Mapping[str, str], variable: str, label: str) -> str:
    """The token, read when it is needed; BoardError, without it, if there is none."""
    token = env.get(variable, "").strip()
    if not token:
        raise BoardError(f"{label} needs a token.", f"Set {variable}.")
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise BoardError(f"{variable} holds characters that no token has.", "Copy it once more.")
    return token
