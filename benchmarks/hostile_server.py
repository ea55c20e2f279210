"""A server of its own under those who mean it harm: what it holds, and how it answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.web_feed import Server, server
from roundtable.surfaces.tokens.capability import Capability
from roundtable.surfaces.web.links import load_links

MEBIBYTE = 1024.0


class Target:
    """A server with one meeting to be meddled with."""

    def __init__(self, served: Server) -> None:
        self.port = served.found.port
        self.pid = served.found.pid
        self.home = served.home
        self._links = load_links(served.home)
        self._client, _ = self._links.tokens.add(
            Capability(frozenset(["open"]), discussions=frozenset(), channels=frozenset())
        )
        seats = [{"profile": name, "role": name, "model": "outside"} for name in ("tea", "coffee")]
        body = {"topic": "Tea?", "procedure": "meeting", "options": {"participants": seats}}
        self.discussion_id: str = served.post("/api/discussions", {**body, "run": False})[
            "discussion_id"
        ]

    def link(self, role: str = "viewer", seat: str = "") -> str:
        return f"/api/r/{self._links.token(self.discussion_id, role, seat=seat)}"  # type: ignore[arg-type]

    def head(self, method: str, path: str, **headers: str) -> bytes:
        key = self._client if path.startswith("/v1/") else self._links.owner_key
        lines = {
            "host": "localhost",
            "content_type": "application/json",
            "authorization": f"Bearer {key}",
            **headers,
        }
        told = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{told}\r\n".encode()


@contextmanager
def target() -> Iterator[Target]:
    with TemporaryDirectory() as folder, server(Path(folder) / "home", {}) as served:
        yield Target(served)


def resident(pid: int | str = "self", *, peak: bool = False) -> float:
    """MiB that a process holds now, or has held at most since it was last `rested`."""
    name = "VmHWM:" if peak else "VmRSS:"
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / MEBIBYTE


def rested(pid: int | str = "self") -> float:
    """Forget the peak; what is held now."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", "ascii")
    return resident(pid)


@asynccontextmanager
async def connected(
    port: int, requests: Sequence[bytes]
) -> AsyncIterator[list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]:
    """One connection for each request, which is sent as it is; nothing is read."""
    gate = asyncio.Semaphore(100)

    async def one(request: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        async with gate:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1_024)
                writer.write(request)
                await asyncio.wait_for(writer.drain(), 30)
            except (OSError, TimeoutError):
                return None
            return reader, writer

    made = [each for each in await asyncio.gather(*map(one, requests)) if each is not None]
    try:
        yield made
    finally:
        for _, writer in made:
            writer.transport.abort()


async def answer_time(target: Target, times: int = 20) -> float:
    """The longest of so many answers to somebody else, each on a connection of its own, in s."""
    longest = 0.0
    for _ in range(times):
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
        writer.write(target.head("GET", f"{target.link('host')}", connection="close"))
        told = await asyncio.wait_for(reader.read(), 60)
        assert told.startswith(b"HTTP/1.1 200"), told[:200]
        longest = max(longest, time.perf_counter() - began)
        writer.close()
        await asyncio.sleep(0.05)
    return longest
