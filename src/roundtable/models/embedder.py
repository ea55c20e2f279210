"""The embedder: static word vectors that come inside the wordllama wheel, on numpy.

Nothing is downloaded. Loading takes a moment and happens at the first text. The vectors are good
for topics in English, weak in other languages, and blind to agreement in all of them. Weights and
words are read straight from the wheel: its own package would load a client for the web, and all of
the weights, for a few words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH = 256
"""How many numbers a vector has: the width of the weights in the wheel."""
_WEIGHTS = Path("weights") / "l2_supercat_256.safetensors"
_TOKENIZER = Path("tokenizers") / "l2_supercat_tokenizer_config.json"


def embedder_installed() -> bool:
    """Whether it can be used here: wordllama and numpy are an extra, `experts`."""
    return find_spec("wordllama") is not None


class WordLlamaEmbedder:
    """The `Embedder` port on wordllama."""

    @property
    def name(self) -> str:
        return f"wordllama-{metadata.version('wordllama')}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        import numpy as np

        made: list[list[float]] = []
        for text in texts:
            if not text.strip():
                # A blank text has a token of its own, and so a vector: of nothing, which is not
                # zeros.
                made.append([0.0] * WIDTH)
                continue
            tokens = _tokenizer().encode(text, add_special_tokens=False).ids
            rows = _weights()[np.clip(tokens, 0, len(_weights()) - 1)]
            made.append(rows.mean(axis=0, dtype=np.float32).tolist())
        return made


def _wheel() -> Path:
    found = find_spec("wordllama")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


@cache
def _tokenizer() -> Any:
    """One for all embedders of a process: it is only read."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_wheel() / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@cache
def _weights() -> NDArray[np.float16]:
    """A row for each token, read from the file as they are asked for."""
    import numpy as np

    path = _wheel() / _WEIGHTS
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        (tensor,) = json.loads(file.read(size)).values()
    begins = 8 + size + tensor["data_offsets"][0]
    return np.memmap(path, np.float16, "r", begins, tuple(tensor["shape"]))
