"""Pieces of words: cut as the library does it that brought the rules, without that library."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.errors import BadSetting
from roundtable.experts.library_files import read_library
from roundtable.kept import read_kept
from roundtable.models.pieces import Pieces, read_pieces
from tests.experts.topics import read_topics

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
wordllama = pytest.importorskip("wordllama", reason="wordllama is not installed")

RULES = Path(wordllama.__file__).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
SOME = "Tea or coffee?"


@cache
def theirs() -> Any:
    tokenizer = tokenizers.Tokenizer.from_file(str(RULES))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@cache
def ours() -> Pieces:
    return read_pieces(RULES, "1")


def expected(text: str) -> list[int]:
    ids: list[int] = theirs().encode(text, add_special_tokens=False).ids
    return ids


def test_every_text_of_the_library_and_every_topic_is_cut_as_by_the_library() -> None:
    experts = read_library().values()
    texts = [*(each.meaning for each in experts), *(each.text for each in read_topics())]
    assert [ours().cut(text) for text in texts] == [expected(text) for text in texts]


@settings(max_examples=400, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    | st.text("aet hinr▁ ", max_size=60)
    | st.lists(
        st.sampled_from(["<s>", "</s>", "<unk>", "<", " ", "▁", "ing", "the", "茶", "🫖", "\n"]),
        max_size=20,
    ).map("".join)
)
def test_any_text_is_cut_as_by_the_library(text: str) -> None:
    assert ours().cut(text) == expected(text)


def test_a_lone_surrogate_is_cut_into_bytes() -> None:
    assert len(ours().cut("a\ud800")) == 1 + 3


def test_the_rules_are_read_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_pieces(RULES, "1", tmp_path)
    (kept,) = tmp_path.iterdir()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", lambda *_: pytest.fail("they are read again"))
        second = read_pieces(RULES, "1", tmp_path)

    assert first.cut(SOME) == second.cut(SOME) == expected(SOME)
    assert kept.stat().st_mode & 0o077 == 0
    read_pieces(RULES, "2", tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "folder"])
def test_damaged_rules_are_read_and_kept_anew(tmp_path: Path, damage: str) -> None:
    read_pieces(RULES, "1", tmp_path)
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    match damage:
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "flipped":
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        case _:
            path.unlink()
            path.mkdir()

    assert read_pieces(RULES, "1", tmp_path).cut(SOME) == expected(SOME)
    if damage != "folder":
        assert read_kept(path) == data.partition(b"\n")[2]


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    assert read_pieces(RULES, "1", tmp_path / "cache").cut(SOME) == expected(SOME)


@pytest.mark.parametrize(
    "change",
    [
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"normalizer": None},
        {"model": {"type": "Unigram", "vocab": {"a": 0}, "merges": []}},
    ],
)
def test_rules_of_another_kind_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    rules = json.loads(RULES.read_text("utf-8"))
    (tmp_path / "rules.json").write_text(json.dumps({**rules, **change}), "utf-8")
    with pytest.raises(BadSetting, match="wordllama"):
        read_pieces(tmp_path / "rules.json", "1")
