"""The library of experts is read once by a process, not once for each of its many homes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from roundtable.models import embedder
from roundtable.models.embedder import WordLlamaEmbedder
from roundtable.models.pieces import Pieces, read_pieces

MANY = 100
"""Texts to be embedded at once that can only be a library of experts."""


def read_experts_once(patch: pytest.MonkeyPatch) -> None:
    """Every test has an empty cache, and so would read the embedder's rules and embed the whole
    library of experts anew."""
    embed = WordLlamaEmbedder.embed
    known: dict[tuple[str, ...], list[list[float]]] = {}

    def embedded(self: WordLlamaEmbedder, texts: Sequence[str]) -> list[list[float]]:
        if len(texts) < MANY:
            return embed(self, texts)
        key = tuple(texts)
        if key not in known:
            known[key] = embed(self, texts)
        return known[key]

    @cache
    def rules(path: Path, version: str) -> Pieces:
        return read_pieces(path, version)

    patch.setattr(WordLlamaEmbedder, "embed", embedded)
    patch.setattr(embedder, "read_pieces", lambda path, version, _folder: rules(path, version))
