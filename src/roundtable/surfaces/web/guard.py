"""The guard at the door: everything that is refused before any route is reached.

Pure ASGI, because it stands in the way of every frame of every feed. It refuses hosts that are not
ours (a foreign name that points at this machine), writes that come from another site, bodies that
are too large or not JSON, and writers who write too often; and it puts the same strict headers on
every answer.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 2 * 1024 * 1024
_THROWN_AWAY = 32 * 1024 * 1024
_FINISHES_WITHIN = 10.0
WRITES_PER_MINUTE = 30
BURST = 10
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_REMEMBERED = 10_000
_HOST = re.compile(
    r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9_][A-Za-z0-9_.-]{0,253}))(?::([0-9]{1,5}))?"
)
_LENGTH = re.compile(r"[0-9]{1,15}")

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
STRICT_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_HEADERS = [(name.encode(), value.encode()) for name, value in STRICT_HEADERS.items()]
_NO_STORE = (b"cache-control", b"no-store")


class Hosts:
    """The names under which this server may be called."""

    def __init__(self, bound: str = "127.0.0.1", more: Iterable[str] = ()) -> None:
        """`bound` is the address it listens on, `more` are further names that lead to it; one that
        is given with a port means that port alone."""
        self._names = {*_LOOPBACK, bound.lower()}
        self._places: set[tuple[str, int]] = set()
        for each in more:
            name, port = _place(each) or (each.lower(), None)
            if port is None:
                self._names.add(name)
            else:
                self._places.add((name, port))
        # Who listens for others is called by its number, and a number is no foreign name.
        self._numbers = bound not in _LOOPBACK

    def allow(self, host: str) -> bool:
        """Whether a request may name this host: `name` or `name:port`, and nothing around it. The
        port can be another than ours, because tunnels and containers lead one to another."""
        place = _place(host)
        if place is None:
            return False
        name, _ = place
        known = name in self._names or place in self._places
        return known or (self._numbers and _is_number(name))


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Rate:
    """So many writes a minute for each token, and so many at once."""

    def __init__(
        self,
        per_minute: float = WRITES_PER_MINUTE,
        burst: int = BURST,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_second = per_minute / 60
        self._burst = burst
        self._monotonic = monotonic
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait(self, token: str) -> float:
        """0 if one more may come now, otherwise the seconds until one may."""
        now = self._monotonic()
        bucket = self._buckets.setdefault(token, _Bucket(self._burst, now))
        self._buckets.move_to_end(token)
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        bucket.left = min(self._burst, bucket.left + (now - bucket.at) * self._per_second)
        bucket.at = now
        if bucket.left < 1:
            return (1 - bucket.left) / self._per_second
        bucket.left -= 1
        return 0.0


class Refused(Exception):
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


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Hosts,
        rate: Rate | None = None,
        admit: Callable[[Scope], bool] = lambda _: True,
    ) -> None:
        """`admit` decides from the head alone, before a body is read: Refused for whoever may not
        ask, False where there is nothing to ask for."""
        self._app = app
        self._hosts = hosts
        self._admit = admit
        self._rate = rate or Rate()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        own = _with_headers(send, stored=scope["path"].startswith("/assets/"))
        try:
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            hosts = [value for name, value in scope["headers"] if name == b"host"]
            if len(hosts) != 1 or not self._hosts.allow(headers[b"host"]):
                raise Refused(
                    421,
                    "This server is not known by that name.",
                    "Open it as http://localhost, or start it with --allow-host NAME.",
                )
            if scope["method"] not in _READS:
                _refuse_other_sites(headers)
                self._refuse_too_many(scope["path"])
            if self._admit(scope) and scope["method"] not in _READS:
                receive = await _whole_body(scope, headers, receive)
        except Refused as refused:
            await _answer(refused, scope["path"], own)
            return
        await self._app(scope, receive, own)

    def _refuse_too_many(self, path: str) -> None:
        if not path.startswith("/api/r/"):
            return
        wait = self._rate.wait(path.split("/")[3])
        if wait:
            seconds = str(ceil(wait))
            raise Refused(
                429,
                "Too many requests came through this link.",
                f"Try again in {seconds} s.",
                headers={"retry-after": seconds},
            )


def _refuse_other_sites(headers: MutableMapping[bytes, str]) -> None:
    """A browser says where a request comes from; a program says nothing, and needs a key."""
    site = headers.get(b"sec-fetch-site", "same-origin")
    origin = headers.get(b"origin")
    host = headers[b"host"].lower()
    foreign = origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")
    if foreign or site not in ("same-origin", "none"):
        raise Refused(
            403, "This request comes from another site.", "Use the page that this server shows."
        )


async def _whole_body(
    scope: Scope, headers: MutableMapping[bytes, str], receive: Receive
) -> Receive:
    """The request's body, read here so that one that is too large never gets further."""
    too_large = Refused(
        413,
        f"The request is too large: at most {LARGEST_BODY // (1024 * 1024)} MiB fit.",
        "Send an excerpt.",
    )
    length = headers.get(b"content-length", "0")
    if not _LENGTH.fullmatch(length) or int(length) > LARGEST_BODY:
        await _let_it_finish(receive)
        raise too_large
    pieces: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > LARGEST_BODY:
            await _let_it_finish(receive)
            raise too_large
        more = message.get("more_body", False)
    kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and (scope["method"] != "DELETE" or size):
        raise Refused(
            415, "The body must be JSON.", "Send it with the header Content-Type: application/json."
        )
    body: list[Message] = [{"type": "http.request", "body": b"".join(pieces), "more_body": False}]

    async def replay() -> Message:
        return body.pop() if body else await receive()

    return replay


async def _let_it_finish(receive: Receive) -> None:
    """Throw the rest of a body away: whoever is still sending would see a broken connection in
    place of our answer. Not without end, and not for ever."""
    left = _THROWN_AWAY
    with suppress(TimeoutError):
        async with asyncio.timeout(_FINISHES_WITHIN):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _with_headers(send: Send, *, stored: bool) -> Send:
    async def own(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = message["headers"] = [*message.get("headers", ()), *_HEADERS]
            if not stored and not any(name == b"cache-control" for name, _ in given):
                given.append(_NO_STORE)
        await send(message)

    return own


def problem(path: str, error: str, remedy: str, **more: Any) -> dict[str, Any]:
    """A refusal as the clients of this path know it."""
    if path.startswith("/v1/"):
        kind = {"type": "invalid_request_error", "param": None, "code": more.get("code")}
        return {"error": {"message": f"{error} {remedy}".strip(), **kind}}
    return {"error": error, "remedy": remedy, **more}


async def _answer(refused: Refused, path: str, send: Send) -> None:
    said = problem(path, refused.error, refused.remedy, **refused.more)
    body = json.dumps(said).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # the rest of its body was not read
        *((name.encode(), value.encode()) for name, value in refused.headers.items()),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _place(host: str) -> tuple[str, int | None] | None:
    """The name in lower case and without the dot of the root, and the port if one is given; None
    for what is not exactly that."""
    found = _HOST.fullmatch(host)
    if found is None:
        return None
    port = int(found[3]) if found[3] else None
    if port is not None and not 0 < port < 65_536:
        return None
    return (found[1] or found[2].removesuffix(".")).lower(), port


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
