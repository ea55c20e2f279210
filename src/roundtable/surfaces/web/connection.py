"""A connection: how long somebody may take to ask, and how many may be connected at once.

uvicorn waits for ever for a head and for a body, and whoever drips a byte now and then is never
late. Here each part of a request has one deadline, which nothing that is sent puts off. Whoever
does not read what we write is let go as well. Where too many are connected, one who asks nothing
makes way for one who might.

What a body still brings when it has been answered is thrown away, not kept: whoever is sending
would otherwise see a broken connection in place of our answer.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from http import HTTPStatus
from typing import Any
from weakref import WeakKeyDictionary

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from .heads import Heads

HEAD_WITHIN = 10.0
BODY_WITHIN = 45.0
"""For what reads no body itself; the deadline of `intake` is shorter, and is told."""
REST_WITHIN = 10.0
READ_WITHIN = 60.0
"""Seconds for the head of a request, its body, what is left of one that was answered, and for
whoever is written to, to take some of it."""
REST_BYTES = 32 * 1024 * 1024
MOST_CONNECTIONS = 2_000
"""At once, if the machine gives us that many files."""
_OTHER_FILES = 200
"""Left for everything else: the ledger, programs, providers."""
_WRITTEN_AHEAD = 8 * 1024
"""Bytes that wait for one reader here; the machine itself keeps more."""


class Connection(H11Protocol):
    """One connection of uvicorn's, with deadlines."""

    conn: Heads
    _deadline: asyncio.TimerHandle | None = None
    _part = ""
    _unread: asyncio.TimerHandle | None = None
    _rest = 0

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = Heads()

    @property
    def spare(self) -> bool:
        """Whether nobody waits for an answer on it."""
        return self.cycle is None or self.cycle.response_complete

    # What asyncio tells

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=_WRITTEN_AHEAD)
        if len(self.connections) > most_connections() and not self._make_way():
            transport.write(_answer("503 Service Unavailable", *_FULL))
            transport.close()
            return
        self._spares[self] = None
        self._begin("head", HEAD_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        self._was_read()
        self._spares.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._part == "rest":
            self._rest += len(data)
            if self._rest > REST_BYTES:
                self.transport.abort()
                return
        super().data_received(data)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._must_be_read()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._was_read()

    # What uvicorn makes of it

    def handle_events(self) -> None:
        super().handle_events()
        if not self.spare:
            self._spares.pop(self, None)
        self._look()

    def send_400_response(self, msg: str) -> None:
        wrong = self.conn.wrong
        if wrong is None or not self.spare:
            super().send_400_response(msg)
            return
        body = _problem(wrong.error, wrong.remedy)
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("cache-control", "no-store"),
            ("connection", "close"),
        ]
        phrase = HTTPStatus(wrong.status).phrase.encode()
        start = h11.Response(status_code=wrong.status, headers=headers, reason=phrase)
        for event in (start, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        self._must_be_read()

    def on_response_complete(self) -> None:
        self._spares[self] = None
        super().on_response_complete()
        if self.transport.is_closing():
            self._must_be_read()  # it is closed once everything was taken, which may be never
        self._look()

    # The deadlines

    def _look(self) -> None:
        """Begin the deadline of what is being waited for; one that runs goes on."""
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            if self.spare:
                self._begin("rest", REST_WITHIN)
            else:
                self._begin("body", BODY_WITHIN)
        elif state is h11.IDLE and self.timeout_keep_alive_task is None:
            self._begin("head", HEAD_WITHIN)
        else:
            self._end()

    def _begin(self, part: str, seconds: float) -> None:
        if self._part == part or self.transport.is_closing():
            return
        self._end()
        self._part = part
        self._rest = 0
        self._deadline = self.loop.call_later(seconds, self._late)

    def _end(self) -> None:
        self._part = ""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        # Where not a byte of a request came nobody expects an answer: browsers connect ahead.
        if self._part == "head" and self.conn.trailing_data[0]:
            self.transport.write(_answer("408 Request Timeout", *_LATE))
            self.transport.close()
            self._must_be_read()
        else:
            self.transport.abort()

    def _must_be_read(self) -> None:
        if self._unread is None:
            self._unread = self.loop.call_later(READ_WITHIN, self.transport.abort)

    def _was_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    # Those who are connected

    @property
    def _spares(self) -> dict[Connection, None]:
        """Those of this server that could be spared, the longest first."""
        return _SPARES.setdefault(self.server_state, {})

    def _make_way(self) -> bool:
        longest = next((each for each in self._spares if not each.transport.is_closing()), None)
        if longest is None:
            return False
        del self._spares[longest]
        longest.transport.abort()
        return True


_SPARES: WeakKeyDictionary[ServerState, dict[Connection, None]] = WeakKeyDictionary()
_LATE = ("The request took too long.", "Send it whole, then wait for the answer.")
_FULL = ("Too many are connected here.", "Try again in some seconds.")


def _answer(status: str, error: str, remedy: str) -> bytes:
    """An answer that no route gives."""
    body = _problem(error, remedy)
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        "cache-control: no-store\r\nconnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body


def _problem(error: str, remedy: str) -> bytes:
    return json.dumps({"error": error, "remedy": remedy}).encode()


@cache
def most_connections() -> int:
    """How many connections there may be: all that we want, or what the machine gives us, which is
    asked for as much as it gives to anybody."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_CONNECTIONS
    wanted = MOST_CONNECTIONS + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    files = wanted if soft == resource.RLIM_INFINITY else soft
    return max(50, min(MOST_CONNECTIONS, files - _OTHER_FILES))
