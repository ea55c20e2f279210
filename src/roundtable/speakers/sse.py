"""Server-sent events, read from bytes as they come.

Packets end anywhere: within an event, a line, a character, or between the two bytes of a line's
end. Only what a line of `data` holds is kept; nothing is decoded here.
"""

from __future__ import annotations

from ..core.errors import NetError

LONGEST_EVENT = 12_000_000
"""Bytes between two blank lines. Some providers repeat the whole answer in one such event at the
end."""
MOST_LINES = 2_000
"""Lines of one event."""
_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Takes blocks of bytes, gives back the data of the events that have ended in them."""

    __slots__ = ("_begun", "_bytes", "_data", "_lines", "_open", "_open_bytes", "_skips_newline")

    def __init__(self) -> None:
        self._open: list[bytes] = []
        """The beginning of a line that has not ended yet, as it came."""
        self._open_bytes = 0
        self._data: list[bytes] = []
        self._bytes = self._lines = 0
        self._begun = self._skips_newline = False

    def feed(self, block: bytes) -> list[bytes]:
        """The data of each event that ends in this block. NetError("too_large") if one of them
        has no end."""
        if self._skips_newline and block:
            block = block.removeprefix(b"\n")
            self._skips_newline = False
        if b"\r" in block:
            self._skips_newline = block.endswith(b"\r")
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, *rest = block.split(b"\n")
        if not rest:
            self._hold(first)
            return []
        if self._open:
            first = b"".join((*self._open, first))
            self._open.clear()
            self._open_bytes = 0
        if not self._begun:
            first = first.removeprefix(_MARK)
            self._begun = True
        last = rest.pop()
        ended = self._read([first, *rest])
        self._hold(last)
        return ended

    def _read(self, lines: list[bytes]) -> list[bytes]:
        ended: list[bytes] = []
        for line in lines:
            if not line:
                if self._data:
                    ended.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
                    self._data.clear()
                self._bytes = self._lines = 0
                continue
            self._bytes += len(line)
            self._lines += 1
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
            elif line == b"data":
                self._data.append(b"")
        return ended

    def _hold(self, beginning: bytes) -> None:
        if beginning:
            self._open.append(beginning)
            self._open_bytes += len(beginning)
        if self._bytes + self._open_bytes > LONGEST_EVENT or self._lines > MOST_LINES:
            raise NetError("too_large", "The provider sent more than anybody could read.")
