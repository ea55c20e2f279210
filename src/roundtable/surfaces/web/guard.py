"""The guard at the door: everything that is refused before any route is reached.

Pure ASGI, because it stands in the way of every frame of every feed. It refuses hosts that are not
ours (a foreign name that points at this machine), writes that come from another site, whoever may
not write here, writers who write too often, bodies that cannot be taken, and more feeds than there
are places; and it puts the same strict headers on every answer. A body is read only once its head
has been let in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from math import ceil
from typing import TYPE_CHECKING

from ...core.errors import RoundtableError
from ...core.text import redact
from ..tokens.capability import Capability
from ..tokens.store import id_of
from .access import HELD, LOOKS
from .hosts import Hosts
from .intake import Intake
from .limits import Places, Rate
from .refusal import Refused, answer, undecided

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FEEDS_PER_LINK = 180
FEEDS_PER_ADDRESS = 190
FEEDS_IN_ALL = 200
HEALTH = frozenset({"/healthz", "/readyz"})
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_PIECE = 64 * 1024
_OWNER = "the owner"

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
_log = logging.getLogger(__name__)
_NO_STORE = (b"cache-control", b"no-store")
_ASK_FIRST = (b"cache-control", b"no-cache")
"""A browser may keep it, and asks before each use whether it has changed: modules of two versions
of the program do not fit together."""


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Hosts,
        rate: Rate | None = None,
        admit: Callable[[Scope], bool] = lambda _: True,
        hand: Callable[[Scope], str] = lambda scope: _link(scope["path"]),
    ) -> None:
        """`admit` decides from the head alone, before a body is read: Refused for whoever may not
        ask, False where there is nothing to ask for. `hand` names the link by which a request
        comes, for counting."""
        self._app = app
        self._hosts = hosts
        self._rate = rate or Rate()
        self._admit = admit
        self._hand = hand
        self._intake = Intake()
        self._feeds = Places(
            "feeds", link=FEEDS_PER_LINK, address=FEEDS_PER_ADDRESS, in_all=FEEDS_IN_ALL
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        kept = _ASK_FIRST if scope["path"].startswith("/assets/") else _NO_STORE
        own = _with_headers(send, kept)
        async with AsyncExitStack() as stack:
            try:
                receive = await self._let_in(scope, receive, stack)
            except Refused as refused:
                await answer(refused, scope["path"], own)
                return
            except RoundtableError as error:
                _log.error("%s: %s", type(error).__name__, redact(str(error)))
                await answer(undecided(error), scope["path"], own)
                return
            await self._app(scope, receive, own)

    async def _let_in(self, scope: Scope, receive: Receive, stack: AsyncExitStack) -> Receive:
        """What the application receives from; what it holds meanwhile is on the stack."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        # A balancer asks by whatever name it has for us, and is told nothing but yes or no.
        known = scope["path"] in HEALTH or self._hosts.allow(headers.get(b"host", ""))
        if len(hosts) != 1 or not known:
            raise Refused(
                421,
                "This server is not known by that name.",
                "Open it as http://localhost, or start it with --allow-host NAME.",
            )
        link, address = self._hand(scope), (scope.get("client") or ("",))[0]
        if scope["method"] in _READS:
            self._admit(scope)
            if link and scope["path"].endswith("/feed"):
                stack.enter_context(self._feeds.one(link, address))
            return receive
        _refuse_other_sites(headers)
        if link:  # before anybody asks whether it opens something: guessing is writing too
            await self._refuse_too_many(link)
        if not self._admit(scope):
            return receive
        held: Capability | None = scope.get(HELD)
        by = held.id if held is not None else link
        # Who asks tables as models is a program, which is bounded by what it may spend.
        asks = scope["path"].startswith("/v1/")
        if by and not link and not asks and not scope.get(LOOKS):
            await self._refuse_too_many(by)
        if held is not None and held.owns:
            address = _OWNER  # whoever else is at this machine cannot take the owner's places
        return await stack.enter_async_context(
            self._intake.body(scope, headers, receive, by=by, address=address)
        )

    async def _refuse_too_many(self, by: str) -> None:
        """`by` is the id of a link or a token; the owner has none, and is not limited."""
        if wait := ceil(await self._rate.until(by)):
            raise Refused(
                429,
                "Too many requests came through this link or token.",
                f"Try again in {wait} s.",
                headers={"retry-after": str(wait)},
            )


def _link(path: str) -> str:
    """The id of the link in an address; empty where it names none."""
    return id_of(path.split("/")[3]) if path.startswith("/api/r/") else ""


def _refuse_other_sites(headers: Mapping[bytes, str]) -> None:
    """A browser says where a request comes from; a program says nothing, and needs a key."""
    site = headers.get(b"sec-fetch-site", "same-origin")
    origin = headers.get(b"origin")
    host = headers[b"host"].lower()
    foreign = origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")
    if foreign or site not in ("same-origin", "none"):
        raise Refused(
            403, "This request comes from another site.", "Use the page that this server shows."
        )


def _with_headers(send: Send, kept: tuple[bytes, bytes]) -> Send:
    """`kept` is whether the answer may be kept, where it does not say so itself."""

    async def own(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = message["headers"] = [*message.get("headers", ()), *_HEADERS]
            if not any(name == b"cache-control" for name, _ in given):
                given.append(kept)
        elif len(body := message.get("body", b"")) > _PIECE:
            # In pieces, each sent when those before were taken: nothing piles up for a slow reader.
            for start in range(0, len(body), _PIECE):
                more = message.get("more_body", False) or start + _PIECE < len(body)
                piece = body[start : start + _PIECE]
                await send({"type": "http.response.body", "body": piece, "more_body": more})
            return
        await send(message)

    return own
