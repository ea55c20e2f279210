"""Markdown tables, as people and models write them."""

from __future__ import annotations

import pytest

from roundtable.core.tables import Table, is_filled, tables


def test_a_table_is_a_line_with_bars_and_a_rule_below_it() -> None:
    text = (
        "Intro | no table\n\n| A | **B** |\n|:--|--:|\n| 1 | 2 |\n| 3 |\n\n"
        "x | y\n--- | ---\n1 | `2` | 3\nend"
    )
    assert tables(text) == (
        Table(("A", "B"), (("1", "2"), ("3", ""))),
        Table(("x", "y"), (("1", "2"),)),
    )


@pytest.mark.requirement("B-65")
def test_wide_bars_and_escaped_bars_are_understood() -> None:
    assert tables("｜ 周次 ｜ 任务 ｜\n|---|---|\n｜ 第1周 ｜ a\\|b ｜") == (
        Table(("周次", "任务"), (("第1周", "a|b"),)),
    )


@pytest.mark.parametrize(
    "text", ["", "|", "|---|", "| a |\n| b |", "a\n---\nb", "| a |\n|-x-|\n| b |"]
)
def test_what_is_no_table_is_none(text: str) -> None:
    assert tables(text) == ()


def test_a_column_is_found_by_a_word_of_its_heading() -> None:
    table = Table(("Week No.", "Owner (team)"), ())
    assert (table.column("week"), table.column("负责", "owner"), table.column("due")) == (
        0,
        1,
        None,
    )


@pytest.mark.parametrize(
    "cell", ["", "-", "—", "TBD", "tba", "n/a", "None", "待定", "**TBD**", "to be decided", "?"]
)
def test_placeholders_fill_nothing(cell: str) -> None:
    assert not is_filled(cell)


@pytest.mark.parametrize("cell", ["Team A", "张工", "3", "none of the above teams"])
def test_words_do(cell: str) -> None:
    assert is_filled(cell)
