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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from rich.cells import chop_cells

from ...core.events import StoredEvent
from ...core.state import State
from ...engine.tools import Draft
from .board import Board
from .expected import Expected
from .screen import Screen, is_terminal, screen_of

REDRAWS = 8
"""At most so many a second."""
_TOGETHER, _SHOWN = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know them show what stands between at once; all others ignore them."""
_EMPTY, _DOWN = "\x1b[2K", "\x1b[B"
_STYLE = re.compile(r"\x1b\[\d*m")
SETTLED = 0.3
"""Seconds for which a terminal has to keep its width before anything is drawn: while somebody pulls
at it, it is narrower than it says (tmux tells of it four times a second)."""


class Pane:
    """Lines at the end of a terminal that can be drawn anew and taken away.

    The cursor waits where the last of them begins: that place stays the same one, however the
    terminal breaks lines anew when it becomes narrower."""

    def __init__(self, stream: IO[str], *, rewraps: bool = True) -> None:
        """`rewraps`: a terminal that becomes narrower breaks its lines anew, as most do."""
        self._stream, self._rewraps = stream, rewraps
        self._drawn: list[str] = []
        """The lines that stand there, without styles."""

    def draw(self, lines: Sequence[str], columns: int) -> None:
        """Show these in place of those that stand there."""
        text = "\n".join(lines)
        self._write(f"{_TOGETHER}{self._wiped(columns)}{text}\r{_SHOWN}")
        self._drawn = [_STYLE.sub("", line) for line in lines]

    def clear(self, columns: int) -> None:
        if self._drawn:
            self._write(self._wiped(columns))
        self._drawn = []

    def forget(self) -> None:
        """Begin below whatever stands there: somebody else wrote in between."""
        self._drawn = []

    def _wiped(self, columns: int) -> str:
        """Our rows made empty, and the cursor in the first of them. Each is emptied by itself: a
        row that was broken anew would otherwise be joined with the next one again, and where they
        are all that is seen, some terminals would keep a copy of what is cleared at once."""
        rows = [self._rows(line, columns) for line in self._drawn]
        if not rows:
            return "\r"
        return f"\r{_up(sum(rows[:-1]))}{_DOWN.join([_EMPTY] * sum(rows))}{_up(sum(rows) - 1)}"

    def _rows(self, line: str, columns: int) -> int:
        return max(1, len(chop_cells(line, max(1, columns)))) if line and self._rewraps else 1

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # the terminal is gone; the discussion goes on
            self._stream.write(text)
            self._stream.flush()


def _up(rows: int) -> str:
    return f"\x1b[{rows}A" if rows else ""


class LiveProgress:
    """The board in a terminal."""

    def __init__(
        self,
        stream: IO[str],
        expected: Expected,
        *,
        opening: Sequence[str] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._now = stream, now
        self._began = now()
        self._board = Board(expected=expected, opening=tuple(opening))
        self._pane = Pane(stream, rewraps=rewraps(os.environ))
        self._width, self._since = 0, 0.0
        """How wide the terminal is, and since when."""
        self._lock = threading.RLock()
        self._standing = False
        self._over = threading.Event()
        self._above: list[tuple[str, Any, _Above]] = []
        self._start()
        self.draw()  # what it may take is seen before anybody is called
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
            if not self._standing or not _in_front(self._stream):
                return
            screen = self._screen()
            if self._has_settled(screen.width):
                lines = self._board.lines(screen, self._now() - self._began)
                self._pane.draw(lines, screen.width)

    def _has_settled(self, width: int) -> bool:
        if width != self._width:
            self._width, self._since = width, self._now() if self._width else self._now() - SETTLED
        return self._now() - self._since >= SETTLED

    def _tick(self) -> None:
        while not self._over.wait(1 / REDRAWS):
            self.draw()

    def _screen(self) -> Screen:
        # What is drawn in place has to know how wide it is, however narrow.
        return screen_of(self._stream, os.environ, narrowest=2)

    # Who else writes

    def _start(self) -> None:
        self._standing = True
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if is_terminal(stream):
                beside = _Above(stream, self)
                self._above.append((name, stream, beside))
                setattr(sys, name, beside)
        self._on_stop(self._stopped)
        self._on_go_on(lambda *_: self._pane.forget())

    def _let_go(self) -> None:
        self._standing = False
        for name, stream, beside in self._above:
            setattr(sys, name, stream)
            beside.end()
        self._above.clear()
        self._on_stop(signal.SIG_DFL)
        self._on_go_on(signal.SIG_DFL)

    @staticmethod
    def _on_go_on(then: Any) -> None:
        with suppress(ValueError, AttributeError):
            signal.signal(signal.SIGCONT, then)

    @staticmethod
    def _on_stop(then: Any) -> None:
        with suppress(ValueError, AttributeError):  # not in the main thread, or no such signal
            if signal.getsignal(signal.SIGTSTP) is not signal.SIG_IGN:
                signal.signal(signal.SIGTSTP, then)

    def _stopped(self, *_: object) -> None:
        """Ctrl-Z: leave the terminal as it was, and begin below whatever was written meanwhile."""
        with self._lock:  # so that nobody draws before it stops
            self._pane.clear(self._screen().width)
            self._on_stop(signal.SIG_DFL)
            # To this very thread, which has stopped when the next line is reached.
            signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
            self._on_stop(self._stopped if self._standing else signal.SIG_DFL)

    def above(self, stream: IO[str], text: str) -> None:
        """Whole lines of somebody else's, above the view."""
        with self._lock:
            if self._standing:
                self._pane.clear(self._screen().width)
            stream.write(text)
            stream.flush()
            self.draw()


def rewraps(env: Mapping[str, str]) -> bool:
    """Whether a terminal that becomes narrower breaks its lines anew. xterm, screen and the console
    of Linux cut them."""
    if "TMUX" in env:
        return True
    return not ("XTERM_VERSION" in env or "STY" in env or env.get("TERM") == "linux")


def _in_front(stream: IO[str]) -> bool:
    """Whether the terminal is ours to draw on: not while the shell has us in the background."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):  # it is no such terminal
        return True


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
