"""One program, run to its end: heard within bounds, and ended with all its children.

Agents, senders of messages, task boards and pip are all run here. What a program is told stands in
no file that could be left behind, and what it writes is never kept beyond what is wanted of it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .programs import Child, child

MOST_OUTPUT = 10_000_000
"""Bytes that a program may write before it is taken to have lost its way."""
KEPT_COMPLAINTS = 4_000
"""Bytes of its standard error that are kept: the last ones."""
POLITE_SECONDS = 0.5
"""How long a program may take to end after it was asked to; then it is killed."""
LINGERING_SECONDS = 1.0
"""How long children may hold on to the output after the program itself has ended."""
_REAPED_SECONDS = 5.0


class TooMuchOutput(Exception):
    """It wrote more than anybody could read."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program came to its end."""

    code: int
    complaints: bytes
    """The end of what it wrote to standard error."""

    @property
    def last_words(self) -> str:
        """Its last line of complaint that says anything."""
        lines = self.complaints.decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


async def run_program(
    program: Child,
    *,
    stdin: bytes = b"",
    on_output: Callable[[bytes], object] | None = None,
    most_output: int = MOST_OUTPUT,
    timeout: float | None = None,
    on_start: Callable[[int], object] | None = None,
) -> Ended:
    """Run a program with `stdin` on its standard input, and hear what it writes; without
    `on_output` that goes nowhere.

    It is never left behind: whatever ends this call, a cancellation included, ends the process and
    its children, and on Linux so does the end of this process, however sudden. TimeoutError after
    `timeout` seconds, TooMuchOutput beyond `most_output` bytes; OSError if it cannot be started.
    `on_start` is told its process.
    """
    heard = _Hearing(asyncio.get_running_loop(), on_output, most_output)
    # A file and not a pipe: the program can read at leisure, and then there is no more to come. It
    # has no name, so that nobody else reads it and nothing of it stays.
    with tempfile.TemporaryFile() as told:
        told.write(stdin)
        told.seek(0)
        process = await program.hear(
            lambda: heard,
            stdin=told,
            stdout=subprocess.DEVNULL if on_output is None else subprocess.PIPE,
            stderr=subprocess.PIPE,
            **_own_group(),
        )
    try:
        if on_start is not None:
            on_start(process.get_pid())
        async with asyncio.timeout(timeout):
            await heard.until(heard.exited)
            # The rest of its words; a child that keeps the pipe open must not keep us waiting.
            await heard.until(heard.silent, LINGERING_SECONDS)
    finally:
        await _end(process, heard)
    return Ended(process.get_returncode() or 0, bytes(heard.complaints))


class _Hearing(asyncio.SubprocessProtocol):
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_output: Callable[[bytes], object] | None,
        most: int,
    ) -> None:
        self.exited: asyncio.Future[None] = loop.create_future()
        self.silent: asyncio.Future[None] = loop.create_future()
        """Nothing more comes of what is waited for."""
        self.spoilt: asyncio.Future[None] = loop.create_future()
        """Fails when there is no sense in going on."""
        self.complaints = bytearray()
        self._on_output = on_output
        self._left = most

    async def until(self, done: asyncio.Future[None], timeout: float | None = None) -> None:
        """Wait for one of the above. Raises what spoilt the hearing."""
        await asyncio.wait(
            {done, self.spoilt}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
        if self.spoilt.done():
            self.spoilt.result()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.complaints += data
            del self.complaints[:-KEPT_COMPLAINTS]
            return
        self._left -= len(data)
        if self.spoilt.done() or self._on_output is None:
            return
        try:
            # What still fits is heard: an answer that is too long has a beginning.
            self._on_output(data if self._left >= 0 else data[: self._left])
            if self._left < 0:
                raise TooMuchOutput
        except Exception as error:
            self.spoilt.set_exception(error)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        if fd == (2 if self._on_output is None else 1) and not self.silent.done():
            self.silent.set_result(None)

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)


async def _end(process: asyncio.SubprocessTransport, heard: _Hearing) -> None:
    """End the process, if it has not ended, and every child of it that is still there."""
    group = process.get_pid()
    try:
        if not heard.exited.done():
            _signal(group, forcibly=False)
            await asyncio.wait({heard.exited}, timeout=POLITE_SECONDS)
    finally:
        _signal(group, forcibly=True)
        process.close()
        heard.spoilt.cancel()
        # Killed, it is gone in no time; whoever waits for it must not be left with a zombie.
        await asyncio.wait({heard.exited}, timeout=_REAPED_SECONDS)


if sys.platform == "win32":

    def _own_group() -> dict[str, Any]:
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

    def _signal(group: int, *, forcibly: bool) -> None:
        how = ["/F"] if forcibly else []
        taskkill = str(Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32/taskkill.exe")
        killing = child([taskkill, *how, "/T", "/PID", str(group)], os.environ)
        killing.run(capture_output=True)

else:

    def _own_group() -> dict[str, Any]:
        group: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "linux" and (tie := _tie_to_us()) is not None:
            group["preexec_fn"] = tie
        return group

    def _signal(group: int, *, forcibly: bool) -> None:
        # A group keeps its number as long as any of its members lives.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL if forcibly else signal.SIGTERM)


_PR_SET_PDEATHSIG = 1


def _tie_to_us() -> Callable[[], None] | None:
    """What a child does before it becomes the program, so that it dies when we do; None where the
    system's library has no such call. Everything is looked up here: a child that was just forked
    should do as little as it can."""
    import ctypes

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    parent, kill = os.getpid(), int(signal.SIGKILL)

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, kill)
        if os.getppid() != parent:  # we died in between
            os._exit(1)

    return tie
