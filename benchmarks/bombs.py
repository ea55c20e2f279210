"""What each bomb takes: the most memory that is held while it goes off, above what is held at rest.

Bombs that come from outside hit a `roundtable serve`; those in answers hit a process of their own,
which asks a hostile server as the program does: through the outgoing client, a list of models, and
the providers' packages.

    python -m benchmarks.bombs KIND        one of those, by itself
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from importlib import import_module
from typing import Any

from tests.hostile import Asked, Hostile, Line, bomb, chunk, hostile

from benchmarks.hostile_server import Target, connected, resident, rested, target
from benchmarks.measured import Measured
from benchmarks.provider import settings
from roundtable import net
from roundtable.bootstrap import start
from roundtable.core.errors import RoundtableError
from roundtable.core.events import NoteAdded
from roundtable.models.asking import MOST_BYTES as LIST_BYTES
from roundtable.models.registry import Registry
from roundtable.ports import SpeakRequest
from roundtable.speakers.api import ApiSpeaker
from roundtable.tasks.base import MAX_BYTES as BOARD_BYTES

GOAL = 64
FEEDS = 10_000
GIGABYTE = 1_000_000_000
DIALECTS = {"openai": "openai/some-model", "anthropic": "anthropic/claude-opus-4-6"}
Attack = Callable[[Hostile], Awaitable[object]]


# --- in answers -----------------------------------------------------------------------------------


async def _packed(_: Asked, line: Line) -> None:
    await line.head(content_type="application/json", content_encoding="gzip")
    for piece in bomb("gzip", 10 * GIGABYTE):
        await line.send(piece)


async def _endless(_: Asked, line: Line) -> None:
    await line.head(content_type="application/json", transfer_encoding="chunked")
    while True:
        await line.send(chunk(b" " * 65_536))


async def _headers(_: Asked, line: Line) -> None:
    await line.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await line.send(b"x-y: " + b"z" * 65_000 + b"\r\n")


async def _nested(_: Asked, line: Line) -> None:
    body = b"[" * 900_000
    await line.head(content_type="application/json", content_length=str(len(body)))
    await line.send(body)


async def _talks(asked: Asked, line: Line) -> None:
    await line.head(content_type="text/event-stream", transfer_encoding="chunked")
    words = "word " * 2_000
    if "messages" in asked.path:
        delta = {"type": "text_delta", "text": words}
        said = {"type": "content_block_delta", "index": 0, "delta": delta}
        usage = {"input_tokens": 1, "output_tokens": 1}
        first = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m"}
        begins: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**first, "usage": usage}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
        ]
        for each in begins:
            await line.send(chunk(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode()))
        frame = f"event: content_block_delta\ndata: {json.dumps(said)}\n\n".encode()
    else:
        choice = {"index": 0, "delta": {"content": words}, "finish_reason": None}
        part = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        frame = f"data: {json.dumps({**part, 'choices': [choice]})}\n\n".encode()
    for _ in range(10 * GIGABYTE // len(frame)):
        await line.send(chunk(frame))


def _fetching(max_bytes: int) -> Attack:
    async def fetch(server: Hostile) -> object:
        answer = await net.request("It", "GET", server.url, timeout=60, max_bytes=max_bytes)
        return answer.json_or_none()

    return fetch


def _asking(model: str) -> Attack:
    async def ask(server: Hostile) -> object:
        key = "sk-" + "0" * 32
        env = {
            "OPENAI_API_KEY": key,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "ANTHROPIC_API_KEY": key,
            "ANTHROPIC_BASE_URL": server.url,
        }
        speaker = ApiSpeaker(Registry.load().providers, lambda *_: 0.0, env)
        try:
            request = SpeakRequest(model, "Be brief.", "Why?", 200, 60, "rt_1/1/opening/a/1")
            return await speaker.speak(request, lambda _: None)
        finally:
            await speaker.close()

    return ask


FETCHES = {
    "a channel or search": net.MAX_BYTES,
    "a task board": BOARD_BYTES,
    "a list of models": LIST_BYTES,
}
ANSWERS = {
    **{
        f"{name}, in {what}": (behave, _fetching(most))
        for name, behave in (
            ("10 GB gzip bomb", _packed),
            ("endless body", _endless),
            ("endless headers", _headers),
            ("nested JSON", _nested),
        )
        for what, most in FETCHES.items()
    },
    **{
        f"{name}, in an answer of {provider}": (behave, _asking(model))
        for name, behave in (
            ("10 GB gzip bomb", _packed),
            ("endless headers", _headers),
            ("10 GB of words", _talks),
        )
        for provider, model in DIALECTS.items()
    },
}


async def _attacked(kind: str) -> float:
    behave, attack = ANSWERS[kind]
    async with hostile(_kind_words) as server:
        with suppress(RoundtableError):  # everything that is loaded at first use
            await attack(server)
    async with hostile(behave) as server:
        before = rested()
        with suppress(RoundtableError):
            await attack(server)
        return resident(peak=True) - before


async def _kind_words(_: Asked, line: Line) -> None:
    await line.head("500 No", content_length="0")


def _alone(kind: str) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bombs", kind], capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    return float(done.stdout)


# --- in requests ----------------------------------------------------------------------------------


async def _post(served: Target, path: str, body: bytes, times: int = 1) -> None:
    request = served.head("POST", path, content_length=str(len(body))) + body
    async with connected(served.port, [request] * times) as lines:
        for reader, _ in lines:
            with suppress(ConnectionError):
                await asyncio.wait_for(reader.read(500), 60)


async def _loud(served: Target) -> None:
    """The meeting has 10 MB to show, more than the machine takes in for somebody who sleeps."""
    async with start(settings(served.home, {}), env={}) as app:
        for _ in range(100):
            note = NoteAdded(code="said", text="x" * 100_000)
            await app.service.record(served.discussion_id, note)
    async with connected(served.port, [served.head("GET", f"{served.link()}/feed")]) as [(line, _)]:
        await line.read(500)


async def _huge(served: Target) -> None:
    endless = served.head("POST", "/api/discussions", transfer_encoding="chunked")
    nobody = (
        b"POST /api/discussions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9000000000\r\n\r\n"
    )
    piece = b"10000\r\n" + bytes(65_536) + b"\r\n"
    async with connected(served.port, [endless, nobody] * 20) as lines:
        for _, writer in lines:
            with suppress(ConnectionError, TimeoutError):
                for _ in range(400):
                    writer.write(piece)
                    await asyncio.wait_for(writer.drain(), 5)


async def _full_bodies(served: Target) -> None:
    document = json.dumps({"source": "a", "text": "x" * 1_900_000}).encode()
    head = served.head("POST", f"{served.link('host')}/material", content_length="2000000")
    async with connected(served.port, [head + document[:-10]] * 200):
        await asyncio.sleep(2)


async def _many_headers(served: Target) -> None:
    lines = b"".join(b"x-%d: y\r\n" % n for n in range(1_500))
    async with connected(served.port, [b"GET / HTTP/1.1\r\n" + lines] * 2_000):
        await asyncio.sleep(1)


async def _nested_bodies(served: Target) -> None:
    for body in (
        b"[" * 2_000_000,
        b"[" * 190_000,
        b'{"a":' * 190_000,
        b"[" + b"{}," * 190_000 + b"{}]",
        b"[" + b"0," * 1_000_000 + b"0]",
    ):
        for path in ("/api/discussions", "/api/tools/list", "/v1/chat/completions"):
            await _post(served, path, body)


async def _many_feeds(served: Target) -> None:
    links = [served.link(), served.link("host"), served.link("seat", "tea")]
    feeds = [served.head("GET", f"{links[n % 3]}/feed") for n in range(FEEDS)]
    async with connected(served.port, feeds):
        await asyncio.sleep(5)


REQUESTS: dict[str, Callable[[Target], Coroutine[Any, Any, None]]] = {
    "40 bodies without end": _huge,
    "200 bodies of 2 MB that do not end": _full_bodies,
    "2,000 heads of 16 kB that do not end": _many_headers,
    "nested JSON in a body": _nested_bodies,
    f"{FEEDS:,} feeds that nobody reads": _many_feeds,
}


def run() -> list[Measured]:
    rows = [Measured(name, _alone(name), "MiB", goal=GOAL) for name in ANSWERS]
    for name, attack in REQUESTS.items():
        with target() as served:
            asyncio.run(_post(served, "/api/tools/list", b"{}"))
            if attack is _many_feeds:
                asyncio.run(_loud(served))
            before = rested(served.pid)
            asyncio.run(attack(served))
            held = resident(served.pid, peak=True) - before
        rows.append(Measured(name, held, "MiB", goal=GOAL))
    return rows


if __name__ == "__main__":
    import_module("roundtable.speakers.api_client")
    sys.stdout.write(str(asyncio.run(_attacked(sys.argv[1]))))
