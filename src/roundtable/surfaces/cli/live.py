"""The live view: some lines at the end of a terminal, redrawn in place while a discussion goes on.

Nothing is left behind but a short trace. What others print meanwhile (news, remarks) goes above it.
No cursor is hidden and no mode is set that a killed process would leave behind.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import ceil
from typing import IO, Any

from ...core.events import StoredEvent
from ...core.state import State
from ...engine.tools import Draft
from .board import Board
from .expected import Expected
from .screen import Screen, cells, is_terminal, screen_of

REDRAWS = 8
"""At most so many a second."""
_TOGETHER, _SHOWN = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know them show what stands between at once; all others ignore them."""
_STYLE = re.compile(r"\x1b\[\d*m")


class Pane:
    """Lines at the end of a terminal that can be drawn anew and taken away."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._drawn: list[int] = []
        """The width of each line that stands there."""

    def draw(self, lines: Sequence[str], columns: int) -> None:
        """Show these in place of those that stand there."""
        text = "\n".join(f"{line}\x1b[K" for line in lines)
        self._write(f"{_TOGETHER}{self._back(columns)}{text}\x1b[J{_SHOWN}")
        self._drawn = [cells(_STYLE.sub("", line)) for line in lines]

    def clear(self, columns: int) -> None:
        if self._drawn:
            self._write(f"{self._back(columns)}\x1b[J")
        self._drawn = []

    def forget(self) -> None:
        """Begin below whatever stands there: somebody else wrote in between."""
        self._drawn = []

    def _back(self, columns: int) -> str:
        """To the first of our lines. A terminal that became narrower has broken them anew."""
        rows = sum(max(1, ceil(width / max(1, columns))) for width in self._drawn)
        return f"\r\x1b[{rows - 1}A" if rows > 1 else "\r"

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # the terminal is gone; the discussion goes on
            self._stream.write(text)
            self._stream.flush()


class LiveProgress:
    """The board in a terminal."""

    def __init__(
        self,
        stream: IO[str],
        expected: Expected,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._now = stream, now
        self._began = now()
        self._board = Board(expected=expected)
        self._pane = Pane(stream)
        self._lock = threading.RLock()
        self._standing = False
        self._over = threading.Event()
        self._above: list[tuple[str, Any, _Above]] = []
        self._start()
        self._ticks = threading.Thread(target=self._tick, daemon=True, name="live view")
        self._ticks.start()

    # What happens

    def on_event(self, record: StoredEvent, state: State) -> None:
        with self._lock:
            self._board.on_event(record, state)

    def on_draft(self, draft: Draft) -> None:
        with self._lock:
            self._board.on_draft(draft)

    def say(self, line: str) -> None:
        """A line for whoever watches, above the view."""
        from .terminal import echo_error

        echo_error(line)

    def pause(self) -> None:
        with self._lock:
            if self._standing:
                self._pane.clear(self._screen().width)
                self._let_go()

    def go_on(self) -> None:
        with self._lock:
            if not self._standing and not self._over.is_set():
                self._start()
                self.draw()

    def close(self) -> None:
        """Take it away; what is left says who spoke and how long it took."""
        self._over.set()
        with self._lock:
            self.pause()
        self._ticks.join(2)

    def trace(self) -> str:
        screen = self._screen()
        return f"{screen.sign('✓')} {self._board.trace(self._now() - self._began)}"

    # Drawing

    def draw(self) -> None:
        """Show how it stands now."""
        with self._lock:
            if not self._standing:
                return
            screen = self._screen()
            lines = self._board.lines(screen, self._now() - self._began)
            self._pane.draw(lines, screen.width)

    def _tick(self) -> None:
        while not self._over.wait(1 / REDRAWS):
            self.draw()

    def _screen(self) -> Screen:
        return screen_of(self._stream, os.environ)

    # Who else writes

    def _start(self) -> None:
        self._standing = True
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if is_terminal(stream):
                beside = _Above(stream, self)
                self._above.append((name, stream, beside))
                setattr(sys, name, beside)
        with suppress(ValueError, AttributeError):  # not in the main thread, or no such signal
            signal.signal(signal.SIGCONT, lambda *_: self._pane.forget())

    def _let_go(self) -> None:
        self._standing = False
        for name, stream, beside in self._above:
            setattr(sys, name, stream)
            beside.end()
        self._above.clear()
        with suppress(ValueError, AttributeError):
            signal.signal(signal.SIGCONT, signal.SIG_DFL)

    def above(self, stream: IO[str], text: str) -> None:
        """Whole lines of somebody else's, above the view."""
        with self._lock:
            if self._standing:
                self._pane.clear(self._screen().width)
            stream.write(text)
            stream.flush()
            self.draw()


class _Above:
    """A stream whose lines go above the view, each when it is whole."""

    def __init__(self, stream: IO[str], live: LiveProgress) -> None:
        self._to, self._live, self._begun = stream, live, ""

    def write(self, text: str) -> int:
        whole, end, self._begun = (self._begun + text).rpartition("\n")
        if end:
            self._live.above(self._to, whole + end)
        return len(text)

    def end(self) -> None:
        """Let go of a line that was only begun."""
        if self._begun:
            self._to.write(self._begun)
            self._begun = ""

    def flush(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._to, name)
