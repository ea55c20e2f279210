"""A server on loopback that does whatever it likes with a connection.

::

    async with hostile(lambda asked, writer: writer.write(…)) as server:
        ...              # call server.url
    server.asked         # the requests that came
    server.sent          # bytes that were taken from it
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Behave = Callable[[Asked, "Line"], Awaitable[None]]


@dataclass
class Hostile:
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    sent: int = 0


class Line:
    """The way back to the client."""

    def __init__(self, writer: asyncio.StreamWriter, server: Hostile) -> None:
        self._writer = writer
        self._server = server

    async def send(self, data: bytes) -> None:
        """Raises ConnectionError once the client has gone."""
        self._writer.write(data)
        await self._writer.drain()
        await asyncio.sleep(0)  # let the client look at it
        self._server.sent += len(data)

    async def head(self, status: str = "200 OK", **headers: str) -> None:
        lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
        await self.send(f"HTTP/1.1 {status}\r\n{''.join(lines)}\r\n".encode())


@asynccontextmanager
async def hostile(behave: Behave) -> AsyncIterator[Hostile]:
    server = Hostile()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await _request(reader)
            server.asked.append(asked)
            await behave(asked, Line(writer, server))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has heard enough
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 20)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        left = list(tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.sleep(0)


async def _request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {}
    for line in filter(None, lines):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, path, headers, body)


def bomb(form: str, size: int, unit: bytes = bytes(1 << 20)) -> Iterator[bytes]:
    """`size` bytes, packed, piece by piece."""
    bits = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS, "raw": -zlib.MAX_WBITS}[form]
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    for _ in range(size // len(unit)):
        if piece := packer.compress(unit):
            yield piece
    yield packer.flush()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
