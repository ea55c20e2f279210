"""A lock that a process holds for as long as it lives: it cannot be left behind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO


def take_lock(path: Path) -> IO[bytes] | None:
    """The lock, which closing it gives back; None while another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("ab")
    try:
        _lock(file)
    except OSError:
        file.close()
        return None
    return file


if sys.platform == "win32":

    def _lock(file: IO[bytes]) -> None:
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:

    def _lock(file: IO[bytes]) -> None:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
