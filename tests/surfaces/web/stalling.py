"""Clients that begin a request and do not go on: raw sockets, because no library would do it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .house import PATIENCE, House


class Raw:
    """One connection, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: str | bytes) -> None:
        """Raises ConnectionError once the server has let go."""
        self._writer.write(data.encode("latin-1") if isinstance(data, str) else data)
        await self._writer.drain()

    async def drip(self, piece: bytes, times: int) -> None:
        for _ in range(times):
            await self.send(piece)
            await asyncio.sleep(0)

    async def rest(self) -> bytes:
        """Everything that comes until the server closes the connection."""
        taken = b""
        async with asyncio.timeout(PATIENCE):
            try:
                while piece := await self._reader.read(65_536):
                    taken += piece
            except ConnectionError:
                pass
        return taken

    async def until(self, mark: bytes) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await self._reader.readuntil(mark)

    async def head(self) -> bytes:
        return await self.until(b"\r\n\r\n")

    def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def raw(home: House, sent: str | bytes = b"", *, window: int = 0) -> AsyncIterator[Raw]:
    """A connection on which this was sent; `window` is how little it takes in without reading."""
    host, port = home.url.removeprefix("http://").split(":")
    ours = socket.socket()
    if window:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    ours.setblocking(False)
    await asyncio.get_running_loop().sock_connect(ours, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=ours, limit=65_536)
    made = Raw(reader, writer)
    try:
        if sent:
            await made.send(sent)
        yield made
    finally:
        writer.close()


def head(method: str, path: str, **headers: str) -> str:
    lines = {"host": "localhost", **headers}
    told = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{told}\r\n"
