"""A server that speaks a chat platform's wire: it keeps what it was sent and answers by script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Got:
    """One request."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: str = ""


HANG = Answer(status=0)
"""No answer at all, until the server ends."""
Script = Callable[[Got], Answer]


class Platform:
    """A running server and what it got."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.got: list[Got] = []
        self.url = ""
        self.over = threading.Event()

    def paths(self) -> list[str]:
        return [f"{each.method} {each.path}" for each in self.got]


@contextmanager
def platform(script: Script = lambda _: Answer(body={"ok": True})) -> Iterator[Platform]:
    """Run a platform for the length of a `with` block."""
    desk = Platform(script)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            parts = urlsplit(self.path)
            got = Got(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query)),
                {name.lower(): value for name, value in self.headers.items()},
                _parsed(raw),
            )
            desk.got.append(got)
            answer = desk.script(got)
            if answer.status == 0:
                desk.over.wait(60)
                self.close_connection = True
                return
            body = b"" if answer.body is None else json.dumps(answer.body).encode()
            body = answer.raw.encode() or body
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Tests read what was got, not a log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    desk.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield desk
    finally:
        desk.over.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw or b"null")
    except ValueError:
        return raw.decode("utf-8", "replace")
