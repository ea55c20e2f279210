"""Serving MCP: over standard input and output, or over HTTP on this machine."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from ...bootstrap import start
from ...core.errors import UsageError
from ...settings import Settings
from ..files import WorkspaceFiles
from ..tokens.capability import Capability
from ..toolset.access import Access
from ..toolset.toolset import Toolset
from ..web.connection import Connection
from ..web.lasting import until_ended
from ..web.links import Links, Refusal, links_of
from .callers import BY, Callers
from .server import make_server, options_of

LARGEST_BODY = 16 * 1024 * 1024
"""So that what is too long is refused by the tool, in words, and not by the transport."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PATH = "/mcp"


@asynccontextmanager
async def toolset_of(
    settings: Settings, access: Access, *, web: bool = True, every: bool = False
) -> AsyncIterator[Toolset]:
    """The toolset of one server process, which drives what the tools start."""
    async with start(
        settings,
        delivery=WorkspaceFiles(settings.workspace),
        progress=lambda words: print(words, file=sys.stderr),  # noqa: T201 - stdout is the client's
    ) as app:
        toolset = Toolset(app, access=access, web=web, created_by="mcp")
        toolset.every = every
        try:
            yield toolset
        finally:
            await toolset.close()


async def serve_stdio(
    settings: Settings, access: Access, *, web: bool = True, token: str = "", every: bool = False
) -> None:
    """Serve the client at the other end of standard input and output until it goes: with the
    user's own rights, or with those of a token; with `every` tool listed, not only the common
    ones."""
    callers = Callers(links_of(settings), token) if token else Callers()
    async with toolset_of(settings, access, web=web, every=every) as toolset:
        server = make_server(toolset, callers)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, options_of(server))


async def serve_http(
    settings: Settings,
    access: Access,
    *,
    host: str,
    port: int,
    allow_hosts: Sequence[str] = (),
    web: bool = True,
    every: bool = False,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve clients over HTTP until the process is told to end; `ready` is told the address.
    `allow_hosts` are further names under which it may be called."""
    links = links_of(settings)
    listening = _listening(host, port)
    async with toolset_of(settings, access, web=web, every=every) as toolset:
        server = _Server(
            uvicorn.Config(
                http_app(toolset, links, (host, *allow_hosts)),
                http=Connection,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=3,
            )
        )
        bound = listening.getsockname()[1]
        server.on_ready = lambda: ready(f"http://{_shown(host)}:{bound}{PATH}")
        await server.serve(sockets=[listening])


def http_app(toolset: Toolset, links: Links | None, hosts: Sequence[str] = ()) -> ASGIApp:
    """The application, for clients that hold a token; without `links`, for whoever guards it
    otherwise. `hosts` are names under which it may be called beside those of this machine."""
    names = list(dict.fromkeys([*LOOPBACK, *hosts]))
    app = make_server(toolset, Callers(links)).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST_BODY,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{name}:*" for name in names],
            allowed_origins=[f"http://{name}:*" for name in names],
        ),
    )
    return app if links is None else _Guarded(app, links)


class _Guarded:
    """Lets nobody in without a token of this installation, and nobody go on whose token ended."""

    def __init__(self, app: ASGIApp, links: Links) -> None:
        self._app = app
        self._links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, token = (given[0] if len(given) == 1 else b"").decode("latin-1").partition(" ")
        token = token.strip()
        found = (
            self._links.held(token, now=datetime.now(UTC)) if scheme.lower() == "bearer" else None
        )
        if not isinstance(found, Capability) or found.locked:
            owners = found is not None and self._links.is_owner(token)
            why = found.why if isinstance(found, Refusal) else ""
            await _unauthorized(send, _OWNERS if owners else f"This token {why}." if why else _NONE)
            return
        scope[BY] = token
        # The transport binds a session to whoever began it.
        who = AccessToken(token=found.id, client_id=found.id, scopes=[])
        scope["user"] = AuthenticatedUser(who)
        answering = asyncio.ensure_future(self._app(scope, receive, send))
        ended = asyncio.ensure_future(until_ended(self._links, token, lambda: datetime.now(UTC)))
        try:
            await asyncio.wait([answering, ended], return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        finally:
            for task in (answering, ended):
                task.cancel()
            await asyncio.gather(answering, ended, return_exceptions=True)


_NONE = "This server needs a token."
_OWNERS = "This is the owner's key, and clients have tokens of their own."


class _Server(uvicorn.Server):
    """Says when it can be reached."""

    on_ready: Callable[[], None] = staticmethod(lambda: None)

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.on_ready()


def _listening(host: str, port: int) -> socket:
    """The socket to listen on. UsageError if it cannot be had."""
    # The protocol is named: only then asyncio sends small answers at once, 40 ms sooner.
    listening = socket(AF_INET6 if ":" in host else AF_INET, SOCK_STREAM, IPPROTO_TCP)
    listening.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        return listening
    except OSError as error:
        listening.close()
        raise UsageError(
            f"{host}:{port} cannot be listened on: {error.strerror}.",
            "Choose another with --port; 0 takes any that is free.",
        ) from None


async def _unauthorized(send: Send, error: str) -> None:
    remedy = "Send Authorization: Bearer TOKEN; `roundtable tokens add NAME` prints one."
    body = json.dumps({"error": error, "remedy": remedy}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _shown(host: str) -> str:
    return "localhost" if host in ("127.0.0.1", "::1") else host
