"""One process of a command-line agent: heard to its end, or ended with all its children."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..programs import child

MOST_OUTPUT = 8_000_000
"""Bytes that an agent may write before it is taken to have lost its way."""
KEPT_COMPLAINTS = 4_000
"""Bytes of its standard error that are kept: the last ones."""
POLITE_SECONDS = 0.5
"""How long an agent may take to end after it was asked to; then it is killed."""
LINGERING_SECONDS = 1.0
"""How long children may hold on to the output after the agent itself has ended."""
_REAPED_SECONDS = 5.0


class TooMuchOutput(Exception):
    """It wrote more than anybody could read."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process came to its end."""

    code: int
    complaints: bytes
    """The end of what it wrote to standard error."""


async def run_process(
    arguments: Sequence[str],
    *,
    stdin: Path,
    folder: Path,
    env: Mapping[str, str],
    on_output: Callable[[bytes], None],
    most_output: int = MOST_OUTPUT,
) -> Ended:
    """Run a program with a file as its standard input, and hear what it writes.

    It is never left behind: whatever ends this call, a cancellation included, ends the process and
    its children. TooMuchOutput beyond `most_output` bytes; OSError if it cannot be started.
    """
    hearing = _Hearing(asyncio.get_running_loop(), on_output, most_output)
    # A file and not a pipe: the program can read at leisure, and then there is no more to come.
    with stdin.open("rb") as prompt:
        process = await child(arguments, env, folder=folder).hear(
            lambda: hearing,
            stdin=prompt,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **_OWN_GROUP,
        )
    try:
        await asyncio.wait({hearing.exited, hearing.spoilt}, return_when=asyncio.FIRST_COMPLETED)
        if hearing.spoilt.done():
            hearing.spoilt.result()
        # The rest of its words; a child that keeps the pipe open must not keep us waiting.
        await asyncio.wait({hearing.silent, hearing.spoilt}, timeout=LINGERING_SECONDS)
        if hearing.spoilt.done():
            hearing.spoilt.result()
    finally:
        await _end(process, hearing)
    return Ended(process.get_returncode() or 0, bytes(hearing.complaints))


class _Hearing(asyncio.SubprocessProtocol):
    def __init__(
        self, loop: asyncio.AbstractEventLoop, on_output: Callable[[bytes], None], most: int
    ) -> None:
        self.exited: asyncio.Future[None] = loop.create_future()
        self.silent: asyncio.Future[None] = loop.create_future()
        """Nothing more comes on standard output."""
        self.spoilt: asyncio.Future[None] = loop.create_future()
        """Fails when there is no sense in going on."""
        self.complaints = bytearray()
        self._on_output = on_output
        self._left = most

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.complaints += data
            del self.complaints[:-KEPT_COMPLAINTS]
            return
        self._left -= len(data)
        if self.spoilt.done():
            return
        if self._left < 0:
            self.spoilt.set_exception(TooMuchOutput())
            return
        try:
            self._on_output(data)
        except Exception as error:
            self.spoilt.set_exception(error)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        if fd == 1 and not self.silent.done():
            self.silent.set_result(None)

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)


async def _end(process: asyncio.SubprocessTransport, hearing: _Hearing) -> None:
    """End the process, if it has not ended, and every child of it that is still there."""
    group = process.get_pid()
    try:
        if not hearing.exited.done():
            _signal(group, forcibly=False)
            await asyncio.wait({hearing.exited}, timeout=POLITE_SECONDS)
    finally:
        _signal(group, forcibly=True)
        process.close()
        hearing.spoilt.cancel()
        # Killed, it is gone in no time; whoever waits for it must not be left with a zombie.
        await asyncio.wait({hearing.exited}, timeout=_REAPED_SECONDS)


if sys.platform == "win32":
    _OWN_GROUP: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

    def _signal(group: int, *, forcibly: bool) -> None:
        how = ["/F"] if forcibly else []
        taskkill = str(Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32/taskkill.exe")
        killing = child([taskkill, *how, "/T", "/PID", str(group)], os.environ)
        killing.run(capture_output=True)

else:
    _OWN_GROUP: dict[str, Any] = {"start_new_session": True}

    def _signal(group: int, *, forcibly: bool) -> None:
        # A group keeps its number as long as any of its members lives.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL if forcibly else signal.SIGTERM)
