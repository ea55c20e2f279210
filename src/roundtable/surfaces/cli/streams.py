"""The standard streams of a command: one may be closed, and what is written may not arrive.

Whoever runs a discussion pays for it, so a full disk behind a stream must not end it. What could
not be written is remembered, and told when the command has come to its end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any, cast

CLOSED = "it is closed"


class Stream:
    """A stream that remembers what went wrong with it, and goes on."""

    def __init__(self, stream: IO[str], *, closed: bool, beside: bool = False) -> None:
        """`closed` outside, and another in its place. `beside` the answer nothing matters so much
        that the command should end with its reader."""
        self._stream, self._closed, self._beside = stream, closed, beside
        self.lost = ""
        """Why something could not be written; empty where all was."""

    def write(self, text: str) -> int:
        if self._closed and text:
            self.lost = CLOSED
        written: int = self._tried(lambda: self._stream.write(text), len(text))
        return written

    def flush(self) -> None:
        self._tried(self._stream.flush, None)

    def _tried(self, act: Any, otherwise: Any) -> Any:
        try:
            return act()
        except BrokenPipeError as error:
            if not self._beside:
                raise
            self.lost = _why(error)
        except (OSError, ValueError) as error:
            self.lost = _why(error)
        return otherwise

    def let_go(self) -> None:
        """Nobody reads it any more: Python must not try to write the rest at its end."""
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _why(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


@contextmanager
def guarded() -> Iterator[Stream]:
    """Standard output, for as long as a command is at work."""
    before = sys.stdin, sys.stdout, sys.stderr
    with ExitStack() as opened:

        def nothing(mode: str) -> Any:
            number = os.open(os.devnull, os.O_RDONLY if mode == "r" else os.O_WRONLY)
            return opened.enter_context(os.fdopen(number, mode, encoding="utf-8"))

        # In this order each gets the number of the one that is missing: no file of ours may have
        # it, or others would write to that.
        sys.stdin = sys.stdin or nothing("r")
        output = Stream(sys.stdout or nothing("w"), closed=sys.stdout is None)
        beside = Stream(sys.stderr or nothing("w"), closed=sys.stderr is None, beside=True)
        sys.stdout, sys.stderr = cast("Any", output), cast("Any", beside)
        try:
            yield output
        finally:
            for each in (output, beside):
                if each.lost:
                    each.let_go()
            sys.stdin, sys.stdout, sys.stderr = before
