"""Files of the cache: what took a while to make is kept, and not made again.

A file is named after what it holds, `KIND-KEY.SUFFIX`, where the key is a hash of all that it was
made from, and begins with a digest of the rest. Any doubt about one, and it is made anew; a folder
that cannot be written costs only time.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from .private import private_folder

KEPT = 4
"""Files of one kind: those of the last days, not of all times."""


def read_kept(path: Path) -> bytes | None:
    """What was kept there; None if nothing was, or if it was cut or changed since."""
    try:
        digest, _, data = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return data if digest == _digest(data) else None


def keep(path: Path, data: bytes) -> None:
    """All or nothing: whoever reads meanwhile sees the old file, the new one, or none. It is its
    owner's alone, and the oldest of its kind make room for it."""
    with suppress(OSError):
        _written(path, _digest(data) + b"\n" + data)
        kind = path.stem.rpartition("-")[0]
        files = path.parent.glob(f"{kind}-*")
        for file in sorted(files, key=lambda file: file.stat().st_mtime)[:-KEPT]:
            file.unlink(missing_ok=True)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _written(path: Path, data: bytes) -> None:
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
