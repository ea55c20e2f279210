"""The embedder: static word vectors that come inside the wordllama wheel.

Nothing is downloaded, and nothing is loaded but the few rows of the weights that a text needs. The
vectors are good for topics in English, weak in other languages, and blind to agreement in all of
them. Weights and rules are read straight from the wheel: its own package would load a client for
the web, a library for numbers, and all of the weights, for a few words.
"""

from __future__ import annotations

import json
import mmap
import struct
from array import array
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from .pieces import Pieces, read_pieces

WIDTH = 256
"""How many numbers a vector has: the width of the weights in the wheel."""
_WEIGHTS = Path("weights") / "l2_supercat_256.safetensors"
_RULES = Path("tokenizers") / "l2_supercat_tokenizer_config.json"
_ROW = struct.Struct(f"<{WIDTH}e")


def embedder_installed() -> bool:
    """Whether it can be used here: wordllama is an extra, `experts`."""
    return find_spec("wordllama") is not None


class WordLlamaEmbedder:
    """The `Embedder` port on wordllama."""

    def __init__(self, cache: Path | None = None) -> None:
        """In the folder `cache` what it needs of the wheel is kept as it was read."""
        self._cache = cache

    @property
    def name(self) -> str:
        return f"wordllama-{_version(_WEIGHTS, _RULES)}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        if not text.strip():
            # A blank text has a piece of its own, and so a vector: of nothing, which is not zeros.
            return [0.0] * WIDTH
        weights = _weights()
        rows = [weights.row(piece) for piece in _pieces(self._cache).cut(text)]
        # Sums of numbers of half precision are exact in double precision.
        mean = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        return array("f", mean).tolist()


class _Weights:
    """A row for each piece, read from the file as they are asked for."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            (tensor,) = json.loads(file.read(size)).values()
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._begins = 8 + size + tensor["data_offsets"][0]
        count, width = tensor["shape"]
        assert (tensor["dtype"], width) == ("F16", WIDTH), "the weights of this wheel"
        self._last = count - 1

    def row(self, piece: int) -> tuple[float, ...]:
        return _ROW.unpack_from(self._mapped, self._begins + min(piece, self._last) * _ROW.size)


def _wheel() -> Path:
    found = find_spec("wordllama")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


@cache
def _version(*files: Path) -> str:
    """Of some files of the wheel: what differs in them, differs in size or time."""
    stats = [(_wheel() / file).stat() for file in files]
    return "-".join(f"{stat.st_size:x}.{stat.st_mtime_ns:x}" for stat in stats)


@cache
def _pieces(folder: Path | None) -> Pieces:
    """One for all embedders of a process: it is only read."""
    return read_pieces(_wheel() / _RULES, _version(_RULES), folder)


@cache
def _weights() -> _Weights:
    return _Weights(_wheel() / _WEIGHTS)
