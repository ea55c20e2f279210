"""Marks of Markdown are told from signs that belong to the words."""

from __future__ import annotations

import re
import time
from html import unescape

import pytest
from markdown_it import MarkdownIt

from roundtable.views.citing import plain
from roundtable.views.emphasis import as_item, as_meant, meant, without_emphasis
from roundtable.views.report_parts import unmarked
from roundtable.views.safe_markdown import to_html
from roundtable.views.spoken import first_line

SIGNS = [
    "__init__ and __main__", "2**3**2 is 512, not 2*3*4", "src/**/x.py or lib/**/y.py",
    "**/*.py and **/*.ts", "f(*args, **kwargs)", "a_b_ or _a", "char *p, *q", "x ** y ** z",
    "Foo.__init__()",
]  # fmt: skip


@pytest.mark.parametrize("words", SIGNS)
def test_names_figures_and_paths_come_out_as_they_went_in(words: str) -> None:
    assert without_emphasis(words) == words
    assert unmarked(words) == words
    assert first_line(f"{words} is what I take.") == f"{words} is what I take."
    assert unescape(re.sub(r"</?p[^>]*>", "", to_html(words))).strip() == words
    read = MarkdownIt("commonmark").parseInline(meant(words))[0].children or []
    assert {token.type for token in read} == {"text"} or "text_special" in str(read)
    assert "".join(token.content for token in read) == words
    assert as_meant(meant(words)) == words


@pytest.mark.parametrize(
    ("words", "bare"),
    [
        ("**Use Postgres.** It is `__init__`.", "Use Postgres. It is __init__."),
        ("**Take `a` now**, __not later__", "Take a now, not later"),
        ("这是**重点**的", "这是重点的"),
        ("**/etc/hosts** is it", "/etc/hosts is it"),
    ],
)
def test_marks_of_emphasis_and_code_are_left_out(words: str, bare: str) -> None:
    assert without_emphasis(words) == bare
    assert meant(words) == words, "they are marks for whoever reads Markdown"


@pytest.mark.parametrize("mark", ["*a ", "**a ", "_a ", "`a ", "__a b ", "`", "*", "__a"])
def test_a_text_of_marks_alone_is_soon_read(mark: str) -> None:
    begun = time.process_time()
    meant(mark * 20_000)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "words", ["- 5 % is lost", "> 80 % want it", "# of seats", "2024. was bad"]
)
def test_what_an_item_begins_with_is_shown_as_it_was_said(words: str) -> None:
    assert unescape(re.sub("<[^>]+>", "", to_html(as_item(words)))).strip() == words
    assert plain(words) == words
