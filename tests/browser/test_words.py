"""The page in the reader's language; what was said stays in its own."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from roundtable.core.state import fold
from roundtable.examples import examples
from roundtable.surfaces.web.assets import PAGE
from roundtable.surfaces.web.html_export import export_html

from .conftest import Open
from .live_tables import begun, live
from .stage import Stage, overflow, resize
from .tables import KINDS

pytestmark = pytest.mark.requirement("Z-34")
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1440, "height": 900}


class Told(NamedTuple):
    """What a reader of a language sees."""

    locale: str
    language: str
    experts: str
    discussion: str
    made: str
    decisions: str
    asks: str


GERMAN = Told(
    "de-DE",
    "de",
    "Die Experten",
    "Die Diskussion",
    "Wie das entstand",
    "Entscheidungen",
    "Was ist zu entscheiden?",
)
SPANISH = Told(
    "es-ES",
    "es",
    "Los expertos",
    "La discusión",
    "Cómo se hizo",
    "Decisiones",
    "¿Qué hay que decidir?",
)
CHINESE = Told("zh-CN", "zh", "专家", "讨论", "形成过程", "决定", "你想决定什么？")
ALL = pytest.mark.parametrize("told", [GERMAN, SPANISH, CHINESE], ids=lambda told: told.language)
EXAMPLE = next(iter(examples()))


@ALL
def test_a_decision_is_headed_in_the_readers_language_and_said_in_its_own(
    stage: Stage, window: Open, told: Told
) -> None:
    page = window(locale=told.locale).open(stage.link(f"example:{EXAMPLE}"))
    expect(page.locator("#experts-head")).to_have_text(told.experts)
    expect(page.locator("#discussion-head")).to_have_text(told.discussion)
    expect(page.locator("html")).to_have_attribute("lang", told.language)
    # The examples were held in English: voices and fonts must know.
    expect(page.locator("#decision .answer")).to_have_attribute("lang", "en")
    expect(page.locator("h1.q")).to_have_attribute("lang", "en")
    page.locator("article.speech > h4 > .line").first.click()
    expect(page.locator("article.speech .said > .words").first).to_have_attribute("lang", "en")
    page.locator(".foot").get_by_role("button", name=told.made).click()
    expect(page.locator("#made-head")).to_have_text(told.made)


def fits(page: Page) -> None:
    """On a desk and on a phone."""
    for size in (DESK, PHONE):
        resize(page, size)
        assert overflow(page) <= 0, size


@ALL
def test_no_page_is_too_wide_in_any_language(stage: Stage, window: Open, told: Told) -> None:
    page = window(locale=told.locale, viewport=PHONE).open(stage.link(f"example:{EXAMPLE}"))
    expect(page.locator("#experts-head")).to_have_text(told.experts)
    fits(page)
    page.goto(stage.home)
    expect(page.locator("h1", has_text=told.decisions).or_(page.locator(".empty"))).to_be_visible()
    fits(page)
    page.goto(f"{stage.url}/#new")
    expect(page.locator("h1")).to_have_text(told.asks)
    expect(page.locator(".ways label").first).to_be_visible()
    fits(page)
    number = ("de", "es", "zh").index(told.language)
    found = live(stage, f"rt_1a9{number:05x}", begun(["Ann", "Bob", "Cid"]))
    page.goto(stage.link(found, "host"))
    expect(page.locator(".dock button").first).to_be_visible()
    fits(page)


def test_the_language_is_chosen_in_the_help_and_kept(stage: Stage, window: Open) -> None:
    page = window(locale="en-GB").open(stage.link(f"example:{EXAMPLE}"))
    expect(page.locator("#experts-head")).to_have_text("The experts")
    page.get_by_role("button", name="Keyboard, language, help").click()
    page.get_by_label("Language of this page").select_option("de")
    expect(page.locator("#experts-head")).to_have_text("Die Experten")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.get_by_role("button", name="Tastatur, Sprache, Hilfe").click()
    page.get_by_label("Sprache dieser Seite").select_option("en")
    expect(page.locator("#experts-head")).to_have_text("The experts")


def test_dates_and_amounts_are_written_as_the_language_does(stage: Stage, window: Open) -> None:
    link = stage.link(f"example:{EXAMPLE}")
    page = window(locale="de-DE", timezone_id="UTC").open(link)
    day = page.locator("#decision .when time")
    at = day.get_attribute("datetime") or ""
    month = page.evaluate(
        "(at) => new Date(at).toLocaleDateString('de', {month: 'short', timeZone: 'UTC'})", at
    )
    expect(day).to_contain_text(month)
    # A reader whose browser speaks another language than the page chose.
    other = window(locale="fr-FR", timezone_id="UTC").open(link)
    expect(other.locator("html")).to_have_attribute("lang", "en")
    english = other.evaluate(
        "(at) => new Date(at).toLocaleDateString('en', {month: 'short', timeZone: 'UTC'})", at
    )
    expect(other.locator("#decision .when time")).to_contain_text(english)


@ALL
def test_the_file_speaks_the_readers_language_too(
    stage: Stage, window: Open, tmp_path: Path, told: Told
) -> None:
    number = ("de", "es", "zh").index(told.language)
    found = stage.put(f"rt_f11e100{number}", KINDS["usual"]())
    records = stage.do(lambda: stage.app.service.records(found))
    file = tmp_path / "page.html"
    file.write_text(export_html(records, fold(records), "9"), "utf-8")
    guest = window(locale=told.locale, offline=True, noting=True)
    page = guest.open(file.as_uri())
    expect(page.locator("#discussion-head")).to_have_text(told.discussion)
    expect(page.locator("html")).to_have_attribute("lang", told.language)
    assert guest.requests == [file.as_uri()]
    assert guest.violations == []


def test_without_its_words_the_page_speaks_english(stage: Stage, window: Open) -> None:
    visitor = window(locale="de-DE")
    visitor.page.route("**/assets/words/*.json", lambda route: route.abort())
    page = visitor.open(stage.link(f"example:{EXAMPLE}"))
    expect(page.locator("#experts-head")).to_have_text("The experts")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    assert (PAGE / "words" / "de.json").is_file()
