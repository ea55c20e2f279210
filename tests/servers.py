"""A provider on loopback that speaks the three wire formats we use, and fails as told.

::

    with provider_server(lambda asked: "Yes." if asked.number > 1 else cut("Half")) as server:
        ...              # call server.base_url, or hand server.env() to a speaker
    server.requests      # what came in, in order, and how each ended

It runs in a thread of its own, or with `process=True` in a process of its own (then `reply` must be
importable by name). `POST …/chat/completions`, `…/responses` and `…/messages` answer as streams;
`GET …/models` and `/api/tags` list `models`.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from tests.wire import FRAMES, REFUSALS, Asked, Dialect, Json, dialect_of, error_body, read_request

if TYPE_CHECKING:
    import pytest

TEST_KEY = "sk-test-0123456789abcdefghijklmnop"
NOBODY = "http://127.0.0.1:9"
"""Where no server is."""
_OF_THIS_MACHINE = ("OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL")


@dataclass(frozen=True)
class Fault:
    """A way to fail. Made by the functions below."""

    kind: Literal["hang", "cut", "status", "garbage", "refusal", "raw"]
    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    clean: bool = False


@dataclass(frozen=True)
class Delayed:
    """An answer, or a fault, that comes late."""

    seconds: float
    then: str | Fault = ""


Answer = str | Fault | Delayed
Reply = Callable[[Asked], Answer | Awaitable[Answer]]
"""What to answer. One that is awaited keeps nobody else waiting."""
Lists = Callable[[str, Mapping[str, str]], object]
"""What to answer to somebody who asks for the list of models, by path and headers: a document, or
a fault."""


def hang(text: str = "") -> Fault:
    """Say `text`, then nothing more, ever."""
    return Fault("hang", text)


def cut(text: str, *, clean: bool = False) -> Fault:
    """Say `text` and drop the connection; `clean` ends the body properly, without a finish."""
    return Fault("cut", text, clean=clean)


def status(code: int, message: str = "It failed.", **headers: str) -> Fault:
    """Answer with an HTTP error; `retry_after="2"` becomes the header `Retry-After: 2`."""
    return Fault("status", message, code, {k.replace("_", "-"): v for k, v in headers.items()})


def garbage() -> Fault:
    """A stream whose events are not JSON."""
    return Fault("garbage")


def refusal(text: str = "I cannot help with that.") -> Fault:
    """The provider's own refusal, not an answer that says no."""
    return Fault("refusal", text)


def raw(body: str, code: int = 200, content_type: str = "text/event-stream") -> Fault:
    """Exactly this body, for recorded traffic."""
    return Fault("raw", body, code, {"content-type": content_type})


def delay(seconds: float, then: str | Fault) -> Delayed:
    return Delayed(seconds, then)


@dataclass
class Received:
    """One request in the log."""

    number: int
    method: str
    path: str
    headers: dict[str, str]
    body: Json
    state: Literal["open", "finished", "broken"] = "open"
    """broken: we dropped the connection, or the client went away."""
    seconds: float = 0.0
    """From its arrival to the end of the answer."""

    @property
    def idempotency_key(self) -> str | None:
        return self.headers.get("idempotency-key")


def shut(headers: Mapping[str, str]) -> Fault | None:
    """As Anthropic does it: a key is read from `x-api-key`, and a token, which begins with `tok-`
    here, only as a bearer's. Each is refused in the other's place."""
    if "anthropic-version" not in headers:
        return None
    key, bearer = headers.get("x-api-key"), headers.get("authorization")
    if key is not None:
        return status(401, "invalid x-api-key") if key.startswith("tok-") else None
    token = bearer is not None and bearer.startswith("Bearer tok-")
    return None if token else status(401, "Invalid bearer token")


def echo(asked: Asked) -> str:
    return f"You said: {asked.user}"


class ProviderServer:
    """A running server, seen from the test."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._last_log: list[Received] = []
        self._connections = 0
        self._looked_up: list[str] = []

    @property
    def openai_url(self) -> str:
        return f"{self.base_url}/v1"

    @property
    def requests(self) -> list[Received]:
        """The calls that came in, in order. Works after the server has ended, too."""
        log = f"{self.base_url}/_log"
        with suppress(OSError), urllib.request.urlopen(log, timeout=10) as answer:
            seen = json.load(answer)
            self._last_log = [Received(**row) for row in seen["requests"]]
            self._connections = seen["connections"]
            self._looked_up = seen["looked_up"]
        return self._last_log

    @property
    def looked_up(self) -> list[str]:
        """The paths that were asked for without a call: lists of models."""
        _ = self.requests
        return self._looked_up

    @property
    def connections(self) -> int:
        """How many connections carried calls."""
        _ = self.requests
        return self._connections

    def wait(self, found: Callable[[list[Received]], bool], *, timeout: float = 10) -> None:
        """Wait until the log satisfies `found`, or fail."""
        deadline = time.monotonic() + timeout
        while not found(self.requests):
            if time.monotonic() > deadline:
                raise AssertionError(f"not seen within {timeout} s in {self._last_log}")
            time.sleep(0.01)

    def env(self, key: str = TEST_KEY) -> dict[str, str]:
        """The variables that send OpenAI, Anthropic and the rest here."""
        return {
            "OPENAI_API_KEY": key,
            "OPENAI_BASE_URL": self.openai_url,
            "ANTHROPIC_API_KEY": key,
            "ANTHROPIC_BASE_URL": self.base_url,
            "BLOCKRUN_PROXY_URL": self.base_url,
            "OLLAMA_HOST": self.base_url,
        }


@contextmanager
def provider_server(
    reply: Reply = echo,
    *,
    latency: float = 0.0,
    pace: float = 0.0,
    models: Sequence[str] = (),
    lists: Lists | None = None,
    shows: Mapping[str, object] = MappingProxyType({}),
    serves: str = "",
    process: bool = False,
) -> Iterator[ProviderServer]:
    """Run a server for the length of a `with` block.

    `latency` comes before every first byte; the pieces of an answer are spread over `pace`. `lists`
    answers in place of `models` who asks for the list; `shows` is what Ollama says of single ones.
    `serves` is the model that answers, whichever was asked for.
    """
    desk = _Desk(reply, latency, tuple(models), pace, lists, shows, serves)
    with _in_process(desk) if process else _in_thread(desk) as port:
        server = ProviderServer(f"http://127.0.0.1:{port}")
        try:
            yield server
        finally:
            _ = server.requests  # the log stays readable


def look_for_local_servers(monkeypatch: pytest.MonkeyPatch, **at: str) -> None:
    """Servers of this machine are looked for at these addresses, by the variables that name them,
    and nowhere else: on a usual port the machine of the test may have one of its own. It may be
    busy, too: how soon they answer is not the question."""
    monkeypatch.setattr("roundtable.models.discovery.PROBE_SECONDS", 30.0)
    monkeypatch.setenv("ROUNDTABLE_LOCAL_SERVERS", "true")
    for name in _OF_THIS_MACHINE:
        monkeypatch.setenv(name, at.get(name, NOBODY))


@contextmanager
def _in_thread(desk: _Desk) -> Iterator[int]:
    ports: list[int] = []
    started = threading.Event()
    loop = asyncio.new_event_loop()

    async def serve(stop: asyncio.Event) -> None:
        async with desk.listening() as port:
            ports.append(port)
            started.set()
            await stop.wait()

    stop = asyncio.Event()
    thread = threading.Thread(target=partial(loop.run_until_complete, serve(stop)), daemon=True)
    thread.start()
    assert started.wait(10), "the server did not start"
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


@contextmanager
def _in_process(desk: _Desk) -> Iterator[int]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_serve_for_ever, args=(desk, theirs), daemon=True)
    child.start()
    assert ours.poll(30), "the server did not start"
    try:
        yield ours.recv()
    finally:
        child.terminate()
        child.join(10)


def _serve_for_ever(desk: _Desk, pipe: Any) -> None:
    async def serve() -> None:
        async with desk.listening() as port:
            pipe.send(port)
            await asyncio.Event().wait()

    asyncio.run(serve())


class _Gone(Exception):
    """The connection is to be dropped."""


@dataclass
class _Desk:
    """Reads requests, asks `reply`, writes answers."""

    reply: Reply
    latency: float
    models: tuple[str, ...]
    pace: float = 0.0
    lists: Lists | None = None
    shows: Mapping[str, object] = field(default_factory=dict)
    serves: str = ""
    log: list[Received] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)
    connections: int = 0

    def listening(self) -> _Listening:
        return _Listening(self)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls = 0
        try:
            while True:
                method, path, headers, raw_body = await _read_request(reader)
                if method == "GET":
                    await self._look_up(path, headers, reader, writer)
                elif path == "/api/show":
                    await self._describe(json.loads(raw_body), writer)
                else:
                    calls += 1
                    self.connections += calls == 1
                    await self._answer(method, path, headers, raw_body, reader, writer)
        except (_Gone, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _describe(self, body: Json, writer: asyncio.StreamWriter) -> None:
        """Ollama says more of one model."""
        self.looked_up.append(f"/api/show {body['model']}")
        known = self.shows.get(body["model"])
        await _send_json(writer, 404 if known is None else 200, known or {"error": "not found"})

    async def _look_up(
        self,
        path: str,
        headers: Mapping[str, str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        if path == "/_log":
            rows = [asdict(received) for received in self.log]
            body: object = {
                "requests": rows,
                "connections": self.connections,
                "looked_up": self.looked_up,
            }
            return await _send_json(writer, 200, body)
        self.looked_up.append(path)
        fault = shut(headers)
        body = self.lists(path, headers) if self.lists is not None and fault is None else fault
        if isinstance(body, Fault):
            asked = read_request("chat", {"model": "", "messages": []}, dict(headers), 0)
            return await _send(body, "chat", asked, reader, writer)
        if self.lists is not None:
            pass
        elif path == "/api/tags":
            body = {"models": [{"name": model} for model in self.models]}
        elif path.endswith("/models"):
            body = {"object": "list", "data": [{"id": model} for model in self.models]}
        else:
            return await _send_json(writer, 404, {"error": {"message": "No such page."}})
        return await _send_json(writer, 200, body)

    async def _answer(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        raw_body: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        body: Json = json.loads(raw_body)
        received = Received(len(self.log) + 1, method, path, headers, body)
        self.log.append(received)
        began = time.monotonic()
        try:
            dialect = dialect_of(path)
            asked = read_request(dialect, body, headers, received.number)
            answer = shut(headers) or self.reply(asked)
            if isinstance(answer, Awaitable):
                answer = await answer
            asked = replace(asked, model=self.serves or asked.model)
            wait = self.latency
            if isinstance(answer, Delayed):
                wait, answer = wait + answer.seconds, answer.then
            if wait:
                await _unless_gone(asyncio.sleep(wait), reader)
            if isinstance(answer, str) and self.pace:
                await _send_slowly(answer, dialect, asked, writer, self.pace)
            else:
                await _send(answer, dialect, asked, reader, writer)
        except BaseException:
            received.state = "broken"
            raise
        received.seconds = time.monotonic() - began
        received.state = "finished"


class _Listening:
    def __init__(self, desk: _Desk) -> None:
        self._desk = desk

    async def __aenter__(self) -> int:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1024)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._desk.serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes transports in its next round


async def _read_request(
    reader: asyncio.StreamReader,
) -> tuple[str, str, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {k.strip().lower(): v.strip() for k, v in (line.split(":", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return method, path.partition("?")[0], headers, body


async def _unless_gone(waiting: Any, reader: asyncio.StreamReader) -> None:
    """Wait, but no longer than the client does."""
    waiter = asyncio.ensure_future(waiting)
    leaving = asyncio.ensure_future(reader.read(1))
    done, _ = await asyncio.wait({waiter, leaving}, return_when=asyncio.FIRST_COMPLETED)
    for task in (waiter, leaving):
        task.cancel()
    await asyncio.gather(waiter, leaving, return_exceptions=True)
    if leaving in done:
        raise _Gone


async def _send(
    answer: str | Fault,
    dialect: Dialect,
    asked: Asked,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    if isinstance(answer, str):
        return await _send_stream(writer, FRAMES[dialect](asked, answer, finish=True))
    match answer.kind:
        case "status":
            return await _send_json(
                writer,
                answer.status,
                error_body(dialect, answer.status, answer.text),
                dict(answer.headers),
            )
        case "raw":
            body = answer.text.encode()
            head = f"HTTP/1.1 {answer.status} Recorded\r\ncontent-length: {len(body)}\r\n"
            head += "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
            writer.write(head.encode() + b"\r\n" + body)
            return await writer.drain()
        case "garbage":
            return await _send_stream(writer, iter(["data: {not json at all\n\n"] * 3))
        case "refusal":
            return await _send_stream(writer, REFUSALS[dialect](asked, answer.text))
        case "cut" | "hang":
            frames = FRAMES[dialect](asked, answer.text, finish=False) if answer.text else iter("")
            if answer.text or answer.kind == "cut":
                await _send_stream(writer, frames, end=answer.clean)
            if answer.kind == "hang":
                await _unless_gone(asyncio.Event().wait(), reader)
            if not answer.clean:
                raise _Gone
    return None


async def _send_slowly(
    answer: str, dialect: Dialect, asked: Asked, writer: asyncio.StreamWriter, pace: float
) -> None:
    frames = list(FRAMES[dialect](asked, answer, finish=True))
    begun = time.monotonic()

    async def due() -> AsyncIterator[str]:
        for number, frame in enumerate(frames):
            await asyncio.sleep(begun + pace * (number + 1) / len(frames) - time.monotonic())
            yield frame

    await _send_stream(writer, due())


async def _send_json(
    writer: asyncio.StreamWriter, code: int, body: object, headers: Mapping[str, str] = {}
) -> None:
    raw_body = json.dumps(body).encode()
    head = f"HTTP/1.1 {code} Status\r\ncontent-type: application/json\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"{head}content-length: {len(raw_body)}\r\n\r\n".encode() + raw_body)
    await writer.drain()


async def _send_stream(
    writer: asyncio.StreamWriter, frames: Iterator[str] | AsyncIterator[str], *, end: bool = True
) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )

    def write(frame: str) -> None:
        chunk = frame.encode()
        writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))

    if isinstance(frames, AsyncIterator):
        async for frame in frames:
            write(frame)
    else:
        for frame in frames:
            write(frame)
    if end:
        writer.write(b"0\r\n\r\n")
    await writer.drain()
