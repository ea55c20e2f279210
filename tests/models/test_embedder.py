"""The embedder: vectors of one length, offline, near for one topic and blind to agreement."""

from __future__ import annotations

import subprocess
import sys
from math import hypot
from operator import mul
from pathlib import Path

import pytest

from roundtable.models.embedder import WIDTH, WordLlamaEmbedder
from roundtable.ports import Embedder

pytest.importorskip("wordllama", reason="wordllama is not installed")

EMBEDDER: Embedder = WordLlamaEmbedder()


def cosine(one: str, two: str) -> float:
    a, b = EMBEDDER.embed([one, two])
    dot: float = sum(map(mul, a, b))
    return dot / (hypot(*a) * hypot(*b))


def test_every_text_has_a_vector_of_the_same_length_and_an_empty_one_zeros() -> None:
    vectors = EMBEDDER.embed(["", "tea", " ", "茶"])
    assert [len(vector) for vector in vectors] == [WIDTH] * 4
    assert vectors[0] == vectors[2] == [0.0] * WIDTH
    assert any(vectors[1])
    assert EMBEDDER.embed([]) == []
    assert EMBEDDER.embed([""]) == [[0.0] * WIDTH]
    assert EMBEDDER.name.startswith("wordllama-")


def test_texts_about_one_thing_are_nearer_than_others_even_if_they_disagree() -> None:
    claim = "The database migration is safe"
    assert cosine(claim, "Moving the database carries no risk") > cosine(claim, "I like tea")
    assert cosine(claim, "The database migration is not safe") > 0.8


def test_the_vectors_are_those_of_the_package_that_brings_the_weights() -> None:
    import wordllama

    folder = Path(str(wordllama.__file__)).parent
    package = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    texts = ["Tea or coffee?", "茶とコーヒー", "x" * 3_000, "a b c " * 500, "e\u0301", "🫖"]
    for ours, theirs in zip(EMBEDDER.embed(texts), package.embed(texts).tolist(), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)


def test_loading_it_leaves_the_logging_of_the_process_alone() -> None:
    script = (
        "import logging\n"
        "from roundtable.models.embedder import WordLlamaEmbedder\n"
        "WordLlamaEmbedder().embed(['tea'])\n"
        "logging.getLogger('httpx2').info('HTTP Request: POST')\n"
        "assert not logging.getLogger().handlers"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr == ""
