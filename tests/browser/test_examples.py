"""Recorded examples on the page: offered to whoever has asked nothing yet, honest about whence."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from roundtable.examples import examples

from .conftest import Open
from .stage import Stage, overflow

pytestmark = pytest.mark.requirement("Z-37")
PHONE = {"width": 360, "height": 740}


def test_an_example_opens_from_the_list_and_says_first_where_it_comes_from(
    stage: Stage, window: Open
) -> None:
    visitor = window(viewport=PHONE)
    page = visitor.open(stage.home)
    folded = page.locator("#examples")
    expect(folded).to_be_visible()
    if folded.get_attribute("open") is None:  # others of this file have asked something
        folded.locator("summary").click()
    expect(folded.locator("li")).to_have_count(len(examples()))
    assert overflow(page) <= 0
    first = next(iter(examples().values()))
    folded.locator("li").filter(has_text=first.title).get_by_role("link").click()
    expect(page.locator("#decision .answer")).to_be_visible()
    said = page.locator("#decision .meta .chip", has_text="Example").get_attribute("title") or ""
    assert first.provenance in said
    expect(page.locator(".controls")).to_have_count(0)
    assert overflow(page) <= 0
    assert visitor.errors == []
    assert visitor.violations == []


@pytest.mark.parametrize("name", list(examples()))
def test_every_example_is_a_whole_page(stage: Stage, window: Open, name: str) -> None:
    visitor = window()
    page = visitor.open(stage.link(f"example:{name}"))
    expect(page.locator("#decision .answer")).to_be_visible()
    page.get_by_role("button", name="How this was made").last.click()
    expect(page.locator("#notes")).to_contain_text("A recorded example")
    expect(page.locator("article.speech").first).to_be_attached()
    assert visitor.errors == []
