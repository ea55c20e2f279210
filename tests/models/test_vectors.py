"""Kept vectors: made once, never believed when damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from roundtable.kept import KEPT
from roundtable.models.vectors import kept_vectors
from tests.experts.samples import LetterEmbedder

TEXTS = ["tea", "coffee", "water"]


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_what_was_embedded_once_is_not_embedded_again(tmp_path: Path) -> None:
    embedder = LetterEmbedder()
    first = kept_vectors(tmp_path / "cache", "experts", TEXTS, embedder)
    second = kept_vectors(tmp_path / "cache", "experts", TEXTS, embedder)

    assert len(embedder.asked) == 1
    assert [len(row) for row in first] == [26] * 3
    assert first == second
    assert len(files(tmp_path / "cache")) == 1


def test_other_texts_and_other_embedders_have_files_of_their_own(tmp_path: Path) -> None:
    embedder = LetterEmbedder()
    kept_vectors(tmp_path, "experts", TEXTS, embedder)
    kept_vectors(tmp_path, "experts", ["teac", "offee", "water"], embedder)
    embedder.name = "letters-2"
    kept_vectors(tmp_path, "experts", TEXTS, embedder)

    assert len(embedder.asked) == 3


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "wrong", "folder"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: str) -> None:
    embedder = LetterEmbedder()
    good = kept_vectors(tmp_path, "experts", TEXTS, embedder)
    (path,) = files(tmp_path)
    data = path.read_bytes()
    match damage:
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "flipped":
            middle = data.index(b"\x00\x00\x80?")  # a number among the vectors
            path.write_bytes(data[:middle] + b"\x01\x02\x03\x04" + data[middle + 4 :])
        case "wrong":
            path.write_bytes(bytes(4 * 2 * 26))
        case _:
            path.unlink()
            path.mkdir()

    again = kept_vectors(tmp_path, "experts", TEXTS, embedder)

    assert again == good
    assert len(embedder.asked) == 2


def test_a_place_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")

    vectors = kept_vectors(tmp_path / "cache", "experts", TEXTS, LetterEmbedder())

    assert [len(row) for row in vectors] == [26] * 3


def test_old_files_are_forgotten_and_nothing_is_left_behind(tmp_path: Path) -> None:
    (tmp_path / "experts-0.npz").write_bytes(b"as an earlier version kept them")
    for number in range(KEPT + 3):
        kept_vectors(tmp_path, "experts", [*TEXTS, str(number)], LetterEmbedder())

    assert len(files(tmp_path)) == KEPT
    assert all(path.suffix == ".bin" for path in files(tmp_path))
