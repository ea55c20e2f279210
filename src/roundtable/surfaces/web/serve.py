"""Serving: bind, announce, answer, and end gracefully when asked to."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from types import FrameType
from typing import IO, Any

import uvicorn

from ...bootstrap import start
from ...core.errors import UsageError
from ...engine.garbage import short_looks
from ...ledger.leases import this_owner
from ...settings import Settings
from ..files import WorkspaceFiles
from ..fleet_figures import shown_figures
from ..schedules.runner import Runner
from .access import Web
from .app import make_app
from .connection import Connection
from .found import LOCK_FILE, PORT, Found, announce, forget
from .links import links_of
from .lock import take_lock

_PORTS_TRIED = 200
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class AlreadyServed(UsageError):
    """Another process serves this installation."""


class PageServer(uvicorn.Server):
    """Ends its feeds first when it is asked to end, so that nobody is cut off."""

    def __init__(
        self,
        config: uvicorn.Config,
        web: Web,
        on_ready: Callable[[], None],
        *,
        drain: float = 0.0,
    ) -> None:
        """`drain` is how many seconds it still serves, and says that it is not ready, after it was
        asked to end: so long a balancer may take to notice."""
        super().__init__(config)
        self._drain = drain
        self._web = web
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Its own would kill the process by the signal once more, before we have cleaned up.
        loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            for sign in (signal.SIGTERM, signal.SIGINT):
                try:
                    loop.add_signal_handler(sign, self.handle_exit, sign, None)
                    stack.callback(loop.remove_signal_handler, sign)
                except (NotImplementedError, RuntimeError):  # Windows; or not the main thread
                    break
            yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Say that we are going, serve for a while whoever has not heard of it, and then end. A
        second signal ends it at once."""
        if self._drain <= 0 or self._web.rooms.draining:
            super().handle_exit(sig, frame)
            return
        self._web.rooms.draining = True
        end = partial(super().handle_exit, sig, frame)
        asyncio.get_running_loop().call_later(self._drain, end)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._web.rooms.draining = True
        await self._web.rooms.close()
        await self._web.running.close()
        await super().shutdown(sockets)


async def serve(
    settings: Settings,
    *,
    port: int = PORT,
    host: str = "127.0.0.1",
    allow_hosts: Sequence[str] = (),
    resume_all: bool = False,
    drain: float = 0.0,
    on_ready: Callable[[Found], None] = lambda _: None,
) -> None:
    """Serve this installation until a signal ends it. AlreadyServed if another process does."""
    with ExitStack() as stack:
        lock = await _lock(settings)
        if lock is None:
            raise AlreadyServed(
                "The page is served already.", "`roundtable serve --status` says where."
            )
        stack.enter_context(closing(lock))
        sockets = bind(host, port)
        for each in sockets:
            stack.enter_context(closing(each))
        real = sockets[0].getsockname()[1]
        shown = "localhost" if host in _LOOPBACK or host in ("0.0.0.0", "::") else host  # noqa: S104
        reached = sockets[0].getsockname()[0]
        found = Found(
            f"http://{shown}:{real}",
            real,
            os.getpid(),
            "127.0.0.1" if reached == "0.0.0.0" else "::1" if reached == "::" else reached,  # noqa: S104
        )
        async with start(settings, delivery=WorkspaceFiles(settings.workspace)) as app:
            service = make_app(app, links_of(settings), host=host, allow_hosts=allow_hosts)
            web: Web = service.state.web

            def ready() -> None:
                announce(settings.home, found, this_owner())
                on_ready(found)

            if resume_all:
                await _take_up(web)
            stack.callback(forget, settings.home, found.pid)
            stack.enter_context(short_looks())
            runner = Runner(app, web.running.drive, who=this_owner())
            async with shown_figures(app), _beside(runner.keep()):
                server = PageServer(server_config(service), web, ready, drain=drain)
                await server.serve(sockets=sockets)


@contextlib.asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Something that goes on beside the server, and ends with it."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _lock(settings: Settings) -> IO[bytes] | None:
    for _ in range(5):  # somebody may only have looked whether it is held
        if lock := take_lock(settings.home / LOCK_FILE):
            return lock
        await asyncio.sleep(0.05)
    return None


async def _take_up(web: Web) -> None:
    """Go on with every discussion that was interrupted; what ended its workers would end us."""
    for row in await web.app.service.summaries():
        if row.standing == "interrupted":
            web.running.drive(row.discussion_id)


def server_config(service: object) -> uvicorn.Config:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
    return uvicorn.Config(
        service,  # type: ignore[arg-type]  # an ASGI application
        http=Connection,
        access_log=False,  # addresses hold tokens
        log_config=None,
        log_level="warning",
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=75,
        ws="none",
    )


def bind(host: str, port: int) -> list[socket.socket]:
    """Sockets on the first free port from `port` on. For loopback both families, where there are
    two: a browser may take either for `localhost`."""
    hosts = ["127.0.0.1", "::1"] if host in _LOOPBACK else [host]
    for number in range(port, port + _PORTS_TRIED) if port else [0]:
        if number > 65_535:
            break
        sockets = _bound(hosts, number)
        if sockets:
            return sockets
    raise UsageError(
        f"There is no free port from {port} on.", "Choose another: roundtable serve --port NUMBER"
    )


def _bound(hosts: Sequence[str], port: int) -> list[socket.socket]:
    """A socket for each host, or none at all if the port is taken on one of them."""
    made: list[socket.socket] = []
    for host in hosts:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        except OSError:
            continue  # no such family on this machine
        try:
            if os.name == "posix":  # elsewhere it would let two servers share a port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.bind((host, port or (made[0].getsockname()[1] if made else 0)))
            listening.listen(512)
            listening.setblocking(False)
        except OSError as error:
            listening.close()
            if made and error.errno == errno.EADDRNOTAVAIL:
                continue  # loopback has only one family here
            for each in made:
                each.close()
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return []
            raise UsageError(
                f"{host} cannot be listened on: {error.strerror}.", "Check --host."
            ) from None
        made.append(listening)
    return made
