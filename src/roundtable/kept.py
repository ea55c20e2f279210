"""Files of the cache: what took a while to make is kept, and not made again.

A file is named after what it holds, `KIND-KEY.SUFFIX`, where the key is a hash of all that it was
made from. Any doubt about one, and it is made anew; a folder that cannot be written costs only
time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from .private import private_folder

KEPT = 4
"""Files of one kind: those of the last days, not of all times."""


def keep(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """All or nothing: whoever reads meanwhile sees the old file, the new one, or none. It is its
    owner's alone, and the oldest of its kind make room for it."""
    with suppress(OSError):
        _written(path, write)
        kind = path.stem.rpartition("-")[0]
        files = path.parent.glob(f"{kind}-*{path.suffix}")
        for file in sorted(files, key=lambda file: file.stat().st_mtime)[:-KEPT]:
            file.unlink(missing_ok=True)


def _written(path: Path, write: Callable[[BinaryIO], object]) -> None:
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
