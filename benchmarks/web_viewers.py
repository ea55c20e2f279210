"""Viewers of feeds as cheap as they can be: raw sockets in a process of their own."""

from __future__ import annotations

import asyncio
import multiprocessing
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

_ID = re.compile(rb"^id: (\d+)$", re.MULTILINE)

Seen = list[tuple[int, float]]
"""The numbers of the events that a viewer got, in order, and when."""


@dataclass(frozen=True)
class Viewers:
    """Viewers that are connected; what they saw is had once their feeds have ended."""

    _pipe: Connection

    def seen(self) -> list[Seen]:
        found: list[Seen] = self._pipe.recv()
        return found


@contextmanager
def viewers(port: int, paths: Sequence[str], until: int | None = None) -> Iterator[Viewers]:
    """One viewer for each path, until its feed ends or it has seen event `until`."""
    ours, theirs = multiprocessing.Pipe()
    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=_main, args=(port, list(paths), until, theirs))
    process.start()
    theirs.close()
    try:
        assert ours.recv() == "connected"
        yield Viewers(ours)
    finally:
        process.join(10)
        if process.is_alive():
            process.kill()
            process.join()


def _main(port: int, paths: list[str], until: int | None, pipe: Connection) -> None:
    asyncio.run(_watch(port, paths, until, pipe))


async def _watch(port: int, paths: list[str], until: int | None, pipe: Connection) -> None:
    up = asyncio.Semaphore(0)
    # Connected a few at a time: a listening socket's queue is short.
    gate = asyncio.Semaphore(32)
    tasks = [asyncio.create_task(_view(port, path, until, up, gate)) for path in paths]
    for _ in paths:
        await up.acquire()
    pipe.send("connected")
    pipe.send(await asyncio.gather(*tasks))


async def _view(
    port: int, path: str, until: int | None, up: asyncio.Semaphore, gate: asyncio.Semaphore
) -> Seen:
    seen: Seen = []
    async with gate:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        begun = await reader.readuntil(b"retry: 1000\n\n")
        assert begun.startswith(b"HTTP/1.1 200"), begun
    up.release()
    rest = b""
    while data := await reader.read(1 << 20):
        now = time.monotonic()
        rest += data
        whole, mark, rest = rest.rpartition(b"\n\n")
        if not mark:
            continue
        seen += [(int(found), now) for found in _ID.findall(whole)]
        if b"event: end" in whole or (until is not None and seen and seen[-1][0] >= until):
            break
    writer.close()
    return seen
