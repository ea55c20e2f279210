"""A lock that a process holds for as long as it lives: it cannot be left behind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO

from ...private import private_folder, private_opener


def take_lock(path: Path) -> IO[bytes] | None:
    """The lock, which closing it gives back; None while another process holds it."""
    private_folder(path.parent)
    file = open(path, "ab", opener=private_opener)  # noqa: SIM115
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
