"""Sharing: one dialog says who can do what with which link, makes links and ends them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .conftest import Open
from .stage import Stage

pytestmark = pytest.mark.requirement("Z-34")


def test_the_address_bar_shows_a_link_to_watch_and_whoever_leads_still_leads(
    stage: Stage, window: Open
) -> None:
    state = stage.meeting("Whose tea?")
    link = stage.link(state.discussion_id, "host")
    chair = window().open(link)
    expect(chair.get_by_role("group", name="Lead the discussion")).to_be_visible()
    assert chair.url != link
    other = window().open(chair.url)
    expect(other.locator("h1")).to_have_text("Whose tea?")
    expect(other.get_by_role("group", name="Lead the discussion")).to_have_count(0)
    chair.reload()
    expect(chair.get_by_role("group", name="Lead the discussion")).to_be_visible()


def test_a_link_with_a_password_is_made_opened_and_ended(stage: Stage, window: Open) -> None:
    state = stage.meeting("Whose tea?")
    chair = window().open(stage.link(state.discussion_id, "host"))
    chair.get_by_role("button", name="Share", exact=True).click()
    dialog = chair.get_by_role("dialog")
    dialog.get_by_label("For whom").fill("Kim")
    dialog.get_by_label("Password").fill("earl grey")
    dialog.get_by_role("button", name="Make a link").click()
    made = dialog.get_by_label("The link; it is shown this once")
    expect(made).to_have_value(re.compile(r"/r/"))
    link = made.input_value()
    other = window().open(link)
    other.get_by_label("Password").fill("wrong")
    other.get_by_role("button", name="Open").click()
    expect(other.get_by_role("alert")).to_contain_text("not its password")
    other.get_by_label("Password").fill("earl grey")
    other.get_by_role("button", name="Open").click()
    expect(other.locator("h1")).to_have_text("Whose tea?")
    row = dialog.get_by_role("row", name="Kim")
    expect(row).to_contain_text("Watches (with a password)")
    row.get_by_role("button", name="End the link for Kim").click()
    expect(dialog.get_by_role("row", name="Kim")).to_have_count(0)
    other.reload()
    expect(other.locator("h1")).not_to_have_text("Whose tea?")


def test_the_address_can_be_made_anew(stage: Stage, window: Open) -> None:
    state = stage.meeting("Whose tea?")
    chair = window().open(stage.link(state.discussion_id, "host"))
    before = chair.url
    chair.get_by_role("button", name="Share", exact=True).click()
    chair.get_by_role("button", name="Make a new address").click()
    chair.wait_for_url(lambda url: url != before)
    expect(chair.get_by_role("group", name="Lead the discussion")).to_be_visible()
    other = window().open(before)
    expect(other.locator("h1")).not_to_have_text("Whose tea?")


@pytest.mark.requirement("Z-34")
def test_a_tab_whose_link_was_ended_says_so_as_soon_as_somebody_looks_at_it(
    stage: Stage, window: Open
) -> None:
    state = stage.meeting("Whose tea?")
    link = stage.link(state.discussion_id)
    page = window().open(link)
    expect(page.locator("h1")).to_have_text("Whose tea?")
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    page.route("**/feed?*", lambda route: route.abort())
    stage.links.tokens.end_given(link.rpartition("/")[2])
    page.evaluate(
        """() => {
          Object.defineProperty(document, "hidden", { value: false, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    expect(page.get_by_role("alert")).to_contain_text("no longer valid", timeout=10_000)
