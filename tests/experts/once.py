"""The library of experts is read and prepared once by a process, not once for each of its many
homes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from roundtable.experts import selection
from roundtable.experts.expert import Expert
from roundtable.experts.meaning import Meaning
from roundtable.experts.tags import TagIndex, labels
from roundtable.models import embedder
from roundtable.models.embedder import WordLlamaEmbedder
from roundtable.models.pieces import Pieces, read_pieces
from roundtable.ports import Embedder

MANY = 100
"""So many experts, and texts to be embedded at once, can only be the library."""


def read_experts_once(patch: pytest.MonkeyPatch) -> None:
    """Every test has an empty cache, and so would read the embedder's rules and embed the whole
    library of experts anew; and every program would prepare its tags and vectors anew, which are
    only looked up afterwards."""
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

    indices: dict[tuple[tuple[tuple[str, str], ...], ...], TagIndex] = {}

    def index(experts: Sequence[Expert]) -> TagIndex:
        if len(experts) < MANY:
            return TagIndex(experts)
        key = tuple(tuple(labels(expert)) for expert in experts)
        if key not in indices:
            indices[key] = TagIndex(experts)
        return indices[key]

    meant: dict[tuple[tuple[str, ...], tuple[tuple[int, ...], ...]], Meaning] = {}

    def meaning(
        texts: Sequence[str],
        groups: Sequence[Sequence[int]],
        by: Embedder,
        vectors: Sequence[Sequence[float]] | None = None,
    ) -> Meaning:
        if len(texts) < MANY or not isinstance(by, WordLlamaEmbedder):
            return Meaning(texts, groups, by, vectors)
        key = (tuple(texts), tuple(map(tuple, groups)))
        if key not in meant:
            meant[key] = Meaning(texts, groups, by, vectors)
        return meant[key]

    patch.setattr(selection, "TagIndex", index)
    patch.setattr(selection, "Meaning", meaning)
    patch.setattr(WordLlamaEmbedder, "embed", embedded)
    patch.setattr(embedder, "read_pieces", lambda path, version, _folder: rules(path, version))
