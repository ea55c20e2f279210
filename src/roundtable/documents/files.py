"""One file of the user's, opened with care: it may be a pipe that nobody writes to, or a device."""

from __future__ import annotations

import os
import select
import stat
import time
from pathlib import Path

from .limits import MOST_BYTES, MOST_TEXT_BYTES, PIPE_SECONDS, UNWRITTEN_SECONDS
from .read import Unreadable

_PIECE = 1 << 20


def read_file(path: Path, *, follow: bool) -> bytes:
    """Its bytes. Unreadable for what is no file, or too large; OSError if it cannot be opened.
    Without `follow` a link is not followed."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    try:
        # Of what was opened, and not of the name, which may mean something else by now.
        mode = os.fstat(handle).st_mode
        if stat.S_ISREG(mode):
            return _bounded(handle)
        if follow and stat.S_ISFIFO(mode):
            return _piped(handle)
    finally:
        os.close(handle)
    raise Unreadable("is not a file but a device or a socket")


def _bounded(handle: int) -> bytes:
    taken = bytearray()
    while piece := os.read(handle, _PIECE):
        taken += piece
        if len(taken) > MOST_BYTES:
            raise Unreadable(f"is too large: more than {MOST_BYTES // 1_000_000} MB")
    return bytes(taken)


def _piped(handle: int) -> bytes:
    """What a program hands on, as with <(…) in a shell."""
    taken = bytearray()
    begun = time.monotonic()
    while True:
        try:
            piece = os.read(handle, _PIECE)
        except BlockingIOError:  # somebody writes, and has nothing yet
            if not select.select([handle], [], [], PIPE_SECONDS)[0]:
                raise Unreadable("is a pipe that has fallen silent") from None
            continue
        if piece:
            taken += piece
        elif taken:
            return bytes(taken)
        elif time.monotonic() - begun > UNWRITTEN_SECONDS:
            raise Unreadable("is a pipe to which nobody writes")
        else:
            select.select([handle], [], [], 0.05)
            time.sleep(0.01)  # a pipe without anybody at its end is always ready
        if len(taken) > MOST_TEXT_BYTES:
            raise Unreadable(f"brings more than {MOST_TEXT_BYTES // 1_000_000} MB")
