"""One HTTP request to a chat platform. All that can go wrong becomes a ChannelError.

What the platform says about a failure is shown in few words and redacted: it may repeat what it
was given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ..core.addresses import host_of, is_this_machine
from ..core.errors import ChannelError
from ..core.text import clip, redact

MAX_BYTES = 1_000_000
LONGEST_WAIT = 3600.0
"""Seconds: a platform that wants us to wait longer is asked sooner."""


async def send_json(
    label: str,
    method: str,
    url: str,
    *,
    body: object = None,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float,
) -> Any:
    """The parsed answer; None if it is no JSON. ChannelError if the platform did not take it."""
    import httpx2

    host = _host(label, url)
    try:
        async with httpx2.AsyncClient(
            timeout=timeout,
            follow_redirects=False,
            # A proxy of the environment cannot reach a server of this machine.
            trust_env=not is_this_machine(host),
        ) as client:
            answer = await client.request(
                method, url, params=params, json=body, headers=dict(headers or {})
            )
    except httpx2.TimeoutException:
        raise ChannelError(f"{label} did not answer within {timeout:g} s.") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
        # Without the cause: its text may hold the address with a password in it.
        raise ChannelError(
            f"{label} cannot be reached at {host}.", "Check the address and the network."
        ) from None
    try:
        parsed = json.loads(answer.content[:MAX_BYTES] or b"null")
    except (ValueError, RecursionError):
        parsed = None
    if not 200 <= answer.status_code < 300:
        raise refused(label, answer.status_code, parsed, answer.headers.get("retry-after", ""))
    return parsed


def refused(label: str, status: int, answer: Any, retry_after: str = "") -> ChannelError:
    """What a refusal means: wait, try again, or set something right."""
    said = answer.get("message") or answer.get("msg") if isinstance(answer, dict) else ""
    why = f": {clip(redact(said), 200)}" if isinstance(said, str) and said else "."
    if status == 429:
        seconds = _seconds(retry_after)
        if isinstance(answer, dict) and isinstance(answer.get("retry_after"), int | float):
            seconds = float(answer["retry_after"])
        return ChannelError(
            f"{label} wants fewer messages (HTTP 429){why}",
            retry_after=None if seconds is None else min(seconds, LONGEST_WAIT),
        )
    if status in (401, 403):
        remedy = "Check its token or address, and that it may write there; then send it again."
        return ChannelError(f"{label} refused access (HTTP {status}){why}", remedy, permanent=True)
    if status >= 500 or status in (408, 425):
        return ChannelError(
            f"{label} has failed (HTTP {status}){why}", retry_after=_seconds(retry_after)
        )
    remedy = "Check the channel's address and chat; then send it again."
    return ChannelError(f"{label} refused it (HTTP {status}){why}", remedy, permanent=True)


def _seconds(retry_after: str) -> float | None:
    """A Retry-After header: seconds or a date."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _host(label: str, url: str) -> str:
    host = host_of(url)
    if not host:
        raise ChannelError(
            f"{label} has no usable address.",
            "It must begin with http:// or https://.",
            permanent=True,
        )
    return host
