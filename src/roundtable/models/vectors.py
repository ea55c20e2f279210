"""Vectors kept in a file of the cache: what was embedded once is not embedded again.

A file is named after a hash of the texts and of the embedder's name and version.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path

from ..kept import keep, read_kept
from ..ports import Embedder


def kept_vectors(
    folder: Path, kind: str, texts: Sequence[str], embedder: Embedder
) -> list[Sequence[float]]:
    """One row for each text, from the file if it is there and whole. `kind` begins its name. Their
    numbers are kept in single precision, and are so from the beginning."""
    path = folder / f"{kind}-{_key(texts, embedder.name)}.bin"
    data = read_kept(path)
    if data is None:
        data = _packed([number for row in embedder.embed(list(texts)) for number in row])
        keep(path, data)
    return _rows(data, len(texts))


def _packed(numbers: Sequence[float]) -> bytes:
    packed = array("f", numbers)
    if sys.byteorder != "little":
        packed.byteswap()
    return packed.tobytes()


def _rows(data: bytes, count: int) -> list[Sequence[float]]:
    numbers = array("f", data)
    if sys.byteorder != "little":
        numbers.byteswap()
    width = len(numbers) // count if count else 0
    return [numbers[at * width : (at + 1) * width] for at in range(count)]


def _key(texts: Sequence[str], name: str) -> str:
    digest = hashlib.sha256(name.encode())
    for text in texts:
        # The length keeps ["ab", "c"] and ["a", "bc"] apart.
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"\0%d\0" % len(data) + data)
    return digest.hexdigest()[:32]
