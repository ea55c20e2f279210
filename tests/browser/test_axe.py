"""axe-core finds nothing on any page, in either theme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from roundtable.core.state import fold
from roundtable.surfaces.web.html_export import export_html

from .conftest import Open
from .stage import Stage
from .tables import KINDS

AXE = """() => axe.run(document, {
  resultTypes: ["violations"],
  // Styles and sounds would be fetched once more, for rules that are not in use here.
  preload: false,
  ...(matchMedia("(prefers-color-scheme: dark)").matches
    && { runOnly: ["color-contrast", "link-in-text-block"] }),
})"""


def violations(page: Page, script: str, *, in_the_dark: bool = True) -> list[Any]:
    """In both themes: by every rule where it is light; where it is dark only colours are others.
    A page that is looked at in two sizes need be dark in one of them, where others of its kind are
    in the other one: no rule of its styles asks for a size and a theme at once."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(script)
    dark: Any = {"violations": []}
    if in_the_dark:
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate(AXE)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(AXE)
    return [
        (theme, each["id"], node["html"][:160], node["failureSummary"][:200])
        for theme, found in (("light", light), ("dark", dark))
        for each in found["violations"]
        for node in each["nodes"][:3]
    ]


def ready(page: Page, *, speeches: bool = True) -> None:
    expect(page.locator("#decision .answer")).to_be_visible()
    for record in page.locator("details.whole-record > summary").all():
        record.click()
    if not speeches:
        return
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    # What is not on the screen is not laid out; a checker wants all of it.
    page.evaluate(
        """document.querySelectorAll("article.speech")
             .forEach((each) => { each.style.contentVisibility = "visible"; })"""
    )


@pytest.mark.requirement("I-22")
@pytest.mark.parametrize("kind", ["usual", "twelve seats", "arabic", "failed"])
def test_no_discussion_page_has_a_violation(
    stage: Stage, window: Open, axe_script: str, kind: str
) -> None:
    found = stage.put(f"rt_a0e{list(KINDS).index(kind):05x}", KINDS[kind]())
    page = window().open(stage.link(found, "host"))
    # Twelve give the page other tables and other strips. What a speech can hold, the others show:
    # two dozen more of the same would be most of the work.
    ready(page, speeches=kind != "twelve seats")
    small = kind in ("twelve seats", "failed")
    assert violations(page, axe_script, in_the_dark=not small) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert violations(page, axe_script, in_the_dark=small) == []


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize("width", [390, 1440])
def test_neither_the_list_nor_the_form_has_a_violation(
    stage: Stage, window: Open, axe_script: str, width: int
) -> None:
    stage.meeting("Something to list")
    small = width == 390
    size = {"width": width, "height": 900}
    page = window(viewport=size).open(stage.home)
    expect(page.locator(".discussions > li").first).to_be_visible()
    page.locator("#examples summary").click()
    assert violations(page, axe_script, in_the_dark=small) == []
    page.keyboard.press("n")
    box = page.get_by_role("textbox", name="What do you want to decide?")
    box.fill("Should we build a monolith?")
    expect(page.locator(".cast li").first).to_be_visible()
    page.get_by_role("button", name="Take a seat yourself").click()
    page.get_by_role("button", name="Describe your own").click()
    page.get_by_role("button", name="change").click()
    page.get_by_text("More: options to vote on").click()
    page.locator(".drop input").set_input_files(
        {"name": "plan.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"}
    )
    page.get_by_role("searchbox", name="Add an expert").fill("security")
    expect(page.locator(".hits button").first).to_be_visible()
    expect(page.locator(".estimate")).to_contain_text("about")
    assert violations(page, axe_script, in_the_dark=not small) == []
    box.fill("Should we rotate AKIA" + "IOSFODNN7ABCDEFG now?")
    expect(page.locator(".secrets")).to_be_visible()
    assert violations(page, axe_script, in_the_dark=small) == []
    page.get_by_role("button", name="Add a key").first.click()
    page.get_by_role("button", name="Enter a key of OpenAI").click()
    assert violations(page, axe_script, in_the_dark=not small) == []


def test_no_window_and_no_box_of_a_running_discussion_has_a_violation(
    stage: Stage, window: Open, axe_script: str
) -> None:
    state = stage.meeting()
    seat = window().open(stage.link(state.discussion_id, "seat", "tea"))
    expect(seat.get_by_role("textbox", name="Your speech")).to_be_visible()
    assert violations(seat, axe_script) == []
    chair = window().open(stage.link(state.discussion_id, "host"))
    for name in ("Ask or remark", "Add a document", "Skip a turn", "Share", "Stop"):
        if name in ("Skip a turn", "Stop"):
            chair.get_by_label("More", exact=True).click()
        chair.get_by_role("button", name=name, exact=True).click()
        expect(chair.get_by_role("dialog")).to_be_visible()
        assert violations(chair, axe_script) == [], name
        chair.keyboard.press("Escape")
        expect(chair.get_by_role("dialog")).to_have_count(0)


def test_pages_that_refuse_have_no_violation(stage: Stage, window: Open, axe_script: str) -> None:
    state = stage.meeting()
    locked = window().open(stage.link(state.discussion_id, password="x"))
    expect(locked.get_by_label("Password")).to_be_visible()
    assert violations(locked, axe_script) == []
    for path in ("/r/nothing", "/"):
        page = window().open(f"{stage.url}{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert violations(page, axe_script) == [], path


def test_the_exported_file_has_no_violation(
    stage: Stage, window: Open, axe_script: str, tmp_path: Path
) -> None:
    found = stage.put("rt_a0ef11e0", KINDS["usual"]())
    records = stage.do(lambda: stage.app.service.records(found))
    file = tmp_path / "page.html"
    file.write_text(export_html(records, fold(records), "9"), "utf-8")
    page = window().open(file.as_uri())
    ready(page)
    assert violations(page, axe_script) == []
