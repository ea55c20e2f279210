"""One library and one selector for all tests of this folder: loading them takes a second."""

from __future__ import annotations

import pytest

from roundtable.experts.expert import Expert
from roundtable.experts.library_files import read_library
from roundtable.experts.selection import Selector
from roundtable.models.embedder import WordLlamaEmbedder


@pytest.fixture(scope="session")
def library() -> dict[str, Expert]:
    return read_library()


@pytest.fixture(scope="session")
def selector(library: dict[str, Expert]) -> Selector:
    return Selector(list(library.values()), WordLlamaEmbedder())
