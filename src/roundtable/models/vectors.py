"""Vectors kept in a file: what was embedded once is not embedded again.

A file is named after what it holds: a hash of the texts and of the embedder's name and version.
Any doubt about a file, and it is made anew; a folder that cannot be written costs only time.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..ports import Embedder
from ..private import private_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEPT = 4
"""Files of one kind: libraries with a user's changes of the last days, not of all times."""


def kept_vectors(
    folder: Path, kind: str, texts: Sequence[str], embedder: Embedder
) -> NDArray[np.float32]:
    """One row for each text, from the file if it is there and whole. `kind` begins its name."""
    import numpy as np

    path = folder / f"{kind}-{_key(texts, embedder.name)}.npz"
    rows = _read(path, len(texts))
    if rows is None:
        rows = np.asarray(embedder.embed(list(texts)), dtype=np.float32).reshape(len(texts), -1)
        with suppress(OSError):
            _write(path, rows)
            _forget_old(folder, kind)
    return rows


def _key(texts: Sequence[str], name: str) -> str:
    digest = hashlib.sha256(name.encode())
    for text in texts:
        # The length keeps ["ab", "c"] and ["a", "bc"] apart.
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"\0%d\0" % len(data) + data)
    return digest.hexdigest()[:32]


def _read(path: Path, count: int) -> NDArray[np.float32] | None:
    import zipfile

    import numpy as np

    try:
        # The archive's checksums show a file that was cut or changed.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            rows: NDArray[np.float32] = archive["vectors"]
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None
    sound = rows.ndim == 2 and len(rows) == count and rows.dtype == np.float32
    return rows if sound and bool(np.isfinite(rows).all()) else None


def _write(path: Path, rows: NDArray[np.float32]) -> None:
    """All or nothing: whoever reads meanwhile sees the old file, the new one, or none."""
    import numpy as np

    private_folder(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, vectors=rows)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _forget_old(folder: Path, kind: str) -> None:
    files = sorted(folder.glob(f"{kind}-*.npz"), key=lambda file: file.stat().st_mtime)
    for file in files[:-KEPT]:
        file.unlink(missing_ok=True)
