"""A network between a worker and its database, which can be lost without a word: nothing is
refused and nothing is closed, there is only no answer any more."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from types import TracebackType
from urllib.parse import urlsplit


class Network:
    """Forwards to the server of a database while it flows; what was sent meanwhile arrives later,
    as it does over a line that was interrupted."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._flows = asyncio.Event()
        self._flows.set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The address of the same database through it."""
        port = self._server.sockets[0].getsockname()[1]
        user = f"{self._target.username}@" if self._target.username else ""
        return self._target._replace(netloc=f"{user}127.0.0.1:{port}").geturl()

    def is_lost(self) -> None:
        self._flows.clear()

    def is_back(self) -> None:
        self._flows.set()

    async def __aenter__(self) -> Network:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            await self._flows.wait()
            there, answers = await asyncio.open_connection(self._target.hostname, self._target.port)
            with closing(answers):
                await asyncio.gather(self._forward(reader, answers), self._forward(there, writer))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while block := await reader.read(65536):
                await self._flows.wait()
                writer.write(block)
                await writer.drain()
        with suppress(OSError, RuntimeError):
            writer.write_eof()
