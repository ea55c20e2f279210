"""One JSON request to a search service. All that can go wrong becomes a SearchError.

What the service says about a failure is never shown: it may repeat the key it was given.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urljoin, urlsplit

from ..core.addresses import host_of, is_this_machine
from ..core.errors import SearchError

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 1_000_000
"""Of an answer. Ten results are some ten thousand."""
PATIENCE = 9.0
"""Seconds: less than the engine waits, so that the message can name the service."""
MAX_REDIRECTS = 3
ELSEWHERE = "Try again later, choose another search in the settings, or ask with --no-search."


@dataclass(frozen=True, slots=True)
class JsonRequest:
    """What is asked of a service, and what to do when it refuses."""

    label: str
    """The service's name, for messages."""
    url: str
    method: Literal["GET", "POST"] = "GET"
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    remedies: Mapping[int, str] = field(default_factory=dict)
    """What to do about a refusal, by HTTP status."""
    not_json: str = ELSEWHERE
    """What to do about an answer in another format."""
    timeout: float = PATIENCE

    async def send(self) -> Any:
        """The parsed answer. SearchError if there is none."""
        import httpx2

        host = _host(self.label, self.url)
        try:
            async with (
                asyncio.timeout(self.timeout),
                httpx2.AsyncClient(
                    timeout=self.timeout,
                    follow_redirects=False,
                    # A proxy of the environment cannot reach a server of this machine.
                    trust_env=not is_this_machine(host),
                ) as client,
            ):
                body = await self._body(client)
        except (TimeoutError, httpx2.TimeoutException):
            raise SearchError(
                f"{self.label} did not answer within {self.timeout:g} s.", ELSEWHERE
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
            # Without the cause: its text may hold the address with a password in it.
            raise SearchError(
                f"{self.label} cannot be reached at {host}.", "Check the address and the network."
            ) from None
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise SearchError(
                f"{self.label} sent an answer that is not valid JSON.", ELSEWHERE
            ) from None

    async def _body(self, client: httpx2.AsyncClient) -> bytes:
        url = self.url
        params: Mapping[str, str] | None = self.params or None
        for _ in range(MAX_REDIRECTS + 1):
            async with client.stream(
                self.method,
                url,
                params=params,
                json=self.body,
                # Unpacked, a small answer could become a very large one.
                headers={
                    "accept": "application/json",
                    "accept-encoding": "identity",
                    **self.headers,
                },
            ) as answer:
                if answer.has_redirect_location:
                    url, params = self._next(url, answer.headers["location"]), None
                    continue
                self._check(answer)
                return await self._read(answer)
        raise SearchError(f"{self.label} redirects in circles.", "Check the address.")

    def _next(self, url: str, location: str) -> str:
        """Where a redirect leads, if it stays in the same place: the key goes nowhere else."""
        target = urljoin(url, location)
        old, new = urlsplit(url), urlsplit(target)
        stays = old.hostname == new.hostname and (
            (old.scheme, old.port) == (new.scheme, new.port)
            or (old.scheme, new.scheme) == ("http", "https")
        )
        if self.method != "GET" or not stays:
            raise SearchError(
                f"{self.label} redirects to another place, which is not followed.",
                "Set the address to where it is now.",
            )
        return target

    def _check(self, answer: httpx2.Response) -> None:
        status = answer.status_code
        if status != 200:
            raise SearchError(
                f"{self.label} {_refusal(status)} (HTTP {status}).",
                self.remedies.get(status, ELSEWHERE),
            )
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and not kind.endswith("+json"):
            raise SearchError(
                f"{self.label} answered with {_plain(kind) or 'an unknown format'}, not with JSON.",
                self.not_json,
            )
        if answer.headers.get("content-encoding", "identity").lower() != "identity":
            raise SearchError(f"{self.label} sent a packed answer unasked.", ELSEWHERE)

    async def _read(self, answer: httpx2.Response) -> bytes:
        body = bytearray()
        async for block in answer.aiter_raw():
            body += block
            if len(body) > MAX_BYTES:
                raise SearchError(
                    f"{self.label} sent more than {MAX_BYTES // 1_000_000} MB.", ELSEWHERE
                )
        return bytes(body)


def _host(label: str, url: str) -> str:
    host = host_of(url)
    if not host:
        raise SearchError(
            f"{label} has no usable address.", "It must begin with http:// or https://."
        )
    return host


def _refusal(status: int) -> str:
    if status in (401, 403):
        return "refused access"
    if status in (402, 429):
        return "allows no more searches for now"
    return "has failed" if status >= 500 else "refused the search"


def _plain(kind: str) -> str:
    """A content type, if it is fit to be shown."""
    return kind if re.fullmatch(r"[a-z0-9.+/-]{1,40}", kind) else ""
