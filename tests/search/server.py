"""A search service on loopback: it answers as told and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    body: bytes = b""
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    cut: bool = False
    """Promise more than is sent, then go away."""


Reply = Callable[[Asked], Answer]


def answer(document: object, status: int = 200, **headers: str) -> Answer:
    return Answer(json.dumps(document).encode(), status, headers=headers)


def always(one: Answer) -> Reply:
    return lambda _asked: one


@dataclass
class SearchServer:
    url: str
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def search_server(reply: Reply) -> Iterator[SearchServer]:
    over = threading.Event()

    class Desk(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("content-length", "0")))
            asked = Asked(
                self.command,
                parts.path,
                {name: values[0] for name, values in parse_qs(parts.query).items()},
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(raw) if raw else None,
            )
            server.asked.append(asked)
            said = reply(asked)
            if said.hang:
                over.wait(10)
                return
            try:
                self.send_response(said.status)
                if said.kind:
                    self.send_header("content-type", said.kind)
                for name, value in said.headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("content-length", str(len(said.body) + 10 * said.cut))
                self.end_headers()
                self.wfile.write(said.body)
            except ConnectionError:
                pass  # the client has heard enough

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Desk)
    server = SearchServer(f"http://127.0.0.1:{http.server_address[1]}")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        over.set()
        http.shutdown()
        thread.join()
        http.server_close()
