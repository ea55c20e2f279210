"""Vectors kept in a file of the cache: what was embedded once is not embedded again.

A file is named after a hash of the texts and of the embedder's name and version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..kept import keep
from ..ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def kept_vectors(
    folder: Path, kind: str, texts: Sequence[str], embedder: Embedder
) -> NDArray[np.float32]:
    """One row for each text, from the file if it is there and whole. `kind` begins its name."""
    import numpy as np

    path = folder / f"{kind}-{_key(texts, embedder.name)}.npz"
    rows = _read(path, len(texts))
    if rows is None:
        rows = np.asarray(embedder.embed(list(texts)), dtype=np.float32).reshape(len(texts), -1)
        keep(path, lambda file: np.savez(file, vectors=rows))
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
