"""How much work an export is, counted and not timed: each speech is cleaned once and rendered once,
and what was declared is looked through once for all rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from roundtable.core import record as records
from roundtable.core.points import Points
from roundtable.core.state import State
from roundtable.views import citing, report_html, safe_markdown
from roundtable.views.report_html import html_report
from roundtable.views.report_md import markdown_report
from roundtable.views.result import result
from tests.core.declared_table import SEATS, at_table, says, tabled

FORMS: dict[str, Callable[[State], object]] = {
    "md": lambda state: markdown_report(state, "The verdict."),
    "html": lambda state: html_report(state, "The verdict."),
    "json": result,
}
ROUNDS = 12


def table(text: str = "") -> State:
    said = (
        says(seat, "o1", at, text=text, new_points=(f"Point of {seat}.",) if at == 1 else ())
        for at in range(1, ROUNDS + 1)
        for seat in SEATS
    )
    return at_table(tabled(), *said)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], Counter[str]]:
    """Has a function of a module or class counted, which does what it did."""
    calls: Counter[str] = Counter()

    def count(owner: Any, name: str) -> Counter[str]:
        before = getattr(owner, name)

        def called(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            return before(*args, **kwargs)

        monkeypatch.setattr(owner, name, called)
        return calls

    return count


@pytest.mark.parametrize("form", FORMS)
def test_what_was_declared_is_looked_through_once_however_many_rounds_are_told(
    form: str, counted: Callable[[Any, str], Counter[str]]
) -> None:
    calls = counted(records, "_statements")
    counted(Points, "add")
    FORMS[form](table())
    assert calls["_statements"] == 1
    # Once for the record as it is now, once for those of all rounds, the last of which is that one.
    assert calls["add"] <= 2 * ROUNDS * len(SEATS)


@pytest.mark.parametrize("form", ["md", "html"])
def test_each_speech_is_cleaned_once(
    form: str, counted: Callable[[Any, str], Counter[str]]
) -> None:
    state = table()
    calls = counted(citing, "_cleaned")
    for _ in "12":
        FORMS[form](state)
    assert calls["_cleaned"] == len(state.speeches)


@pytest.mark.parametrize("text", ["Plain words.", "A *mark*."])
def test_each_speech_is_rendered_once_and_without_the_parser_where_it_has_no_marks(
    text: str, counted: Callable[[Any, str], Counter[str]]
) -> None:
    state = table(text)
    calls = counted(report_html, "to_html")
    counted(safe_markdown, "_reader")
    html = html_report(state, "")
    assert html.count("A <em>mark</em>." if "*" in text else "Plain words.") == len(state.speeches)
    assert calls["to_html"] == len(state.speeches)
    beside = 1  # what the decision says is Markdown too
    assert calls["_reader"] == beside + (len(state.speeches) if "*" in text else 0)
