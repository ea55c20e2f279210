"""The embedder: static word vectors that come inside the wordllama wheel, on numpy.

Nothing is downloaded. Loading takes a moment and happens at the first text. The vectors are good
for topics in English, weak in other languages, and blind to agreement in all of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any

WIDTH = 256
"""How many numbers a vector has: the width of the weights in the wheel."""


def embedder_installed() -> bool:
    """Whether it can be used here: wordllama and numpy are an extra, `experts`."""
    return find_spec("wordllama") is not None


class WordLlamaEmbedder:
    """The `Embedder` port on wordllama."""

    @property
    def name(self) -> str:
        return f"wordllama-{metadata.version('wordllama')}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        said = [text for text in texts if text.strip()]
        if not said:
            return [[0.0] * WIDTH for _ in texts]
        # A blank text has a token of its own, and so a vector: of nothing, which is not zeros.
        vectors = iter(_model().embed(said).tolist())
        return [next(vectors) if text.strip() else [0.0] * WIDTH for text in texts]


@cache
def _model() -> Any:
    """One for all embedders of a process: it is only read."""
    from pathlib import Path

    with _own_logging():
        import wordllama

    # The wheel carries weights and tokenizer; without the folder it would look online.
    folder = Path(str(wordllama.__file__)).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


@contextmanager
def _own_logging() -> Iterator[None]:
    """Importing wordllama sends every library's log to standard error; here it does not."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
