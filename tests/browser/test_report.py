"""The report in a browser: its first screen, its looks in both themes, and what it is on paper."""

from __future__ import annotations

import unicodedata
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from roundtable.core.state import fold
from roundtable.examples import examples
from roundtable.procedures import procedure_spec
from roundtable.views.decision import Decision
from roundtable.views.report_html import html_report

from . import pdf
from .stage import overflow

pytestmark = pytest.mark.requirement("Z-34", "I-10")
WIDE: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MARGIN = dict.fromkeys(("top", "bottom", "left", "right"), "15mm")


def opened(browser: Browser, folder: Path, name: str, **context: Any) -> tuple[Page, Decision]:
    state = fold(examples()[name].records())
    file = folder / f"{name}.html"
    delivered = procedure_spec(state.start.procedure).deliver(state, "9.9")
    file.write_text(html_report(state, delivered), "utf-8")
    page = browser.new_context(**context).new_page()
    page.goto(file.as_uri())
    return page, Decision.of(state)


def run_together(text: str) -> str:
    """Without white space and ligatures, of which a PDF has its own."""
    return "".join(unicodedata.normalize("NFKC", text).split())


@pytest.mark.parametrize("name", ["rails-monolith", "free-buses"])
def test_the_first_printed_page_holds_question_answer_figure_and_confidence(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    page, decision = opened(browser, tmp_path, name)
    first = page.pdf(format="A4", margin=MARGIN, page_ranges="1")  # type: ignore[arg-type]
    printed = run_together(pdf.words(first))
    for wanted in (
        decision.question.short,
        decision.answer.first,
        decision.votes[0].figure,
        decision.confidence.reason,
    ):
        assert run_together(wanted) in printed
    whole = page.pdf(format="A4", margin=MARGIN)  # type: ignore[arg-type]
    assert pdf.page_count(whole) > 3
    said = run_together(pdf.words(whole))
    quoted = [quote for pair in decision.dissent.pairs for quote in pair.against.quotes]
    assert all(said.count(run_together(quote.words)) > 1 for quote in quoted)
    page.context.close()


@pytest.mark.parametrize("name", list(examples()))
def test_the_answer_is_seen_without_scrolling_and_nothing_is_wider_than_the_window(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    page, decision = opened(browser, tmp_path, name)
    for size in (WIDE, PHONE):  # a report has no script: it is the same at whichever it is opened
        page.set_viewport_size(size)
        for place in (".q", ".answer", ".vote .vote-h"):
            box = page.locator(place).first.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= size["height"], size
        assert overflow(page) <= 0, size
    assert page.locator(".votes").first.locator("> span").count() == decision.facts.seats
    page.context.close()


def test_axe_finds_nothing_in_the_decision(
    browser: Browser, axe_script: str, tmp_path: Path
) -> None:
    page, _ = opened(browser, tmp_path, "rails-monolith", bypass_csp=True)
    page.evaluate(axe_script)
    for size, theme in product((WIDE, PHONE), THEMES):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme)
        found = page.evaluate(
            "async () => (await axe.run({include: [['.first'], ['.part']]})).violations"
        )
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], (size, theme)
    page.context.close()
