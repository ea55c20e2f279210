"""The list of decisions: what was decided at a glance, found again, kept up to date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from roundtable.core.events import DiscussionOpened, NewEvent
from roundtable.examples import examples
from roundtable.surfaces.web.assets import PAGE

from .conftest import Open
from .stage import Stage, overflow
from .tables import KINDS

pytestmark = pytest.mark.requirement("Z-34")


def put(stage: Stage, name: str, discussion_id: str, *, of: int | None = None, **first: Any) -> str:
    """A recorded discussion as one's own; `of` its events only the first."""
    records = examples()[name].records()[:of]
    shift = datetime.now(UTC) - timedelta(minutes=1) - records[-1].at
    new = []
    for record in records:
        event = record.event
        if isinstance(event, DiscussionOpened):
            event = event.model_copy(update=first)
        new.append(NewEvent(event, record.at + shift, record.key))
    stage.do(lambda: stage.ledger.append(discussion_id, new, expected=0))
    return discussion_id


def row(page: Page, words: str) -> Locator:
    return page.locator(".row").filter(has_text=words)


def test_a_row_tells_the_answer_the_vote_and_how_sure_it_is(stage: Stage, window: Open) -> None:
    put(stage, "rails-monolith", "rt_11570001", topic="Row test: should we extract services?")
    page = window().open(stage.home)
    told = row(page, "Row test:")
    expect(told.get_by_role("heading")).to_contain_text("Invest in CI and deployment first")
    expect(told.locator(".v")).to_contain_text("3 : 0")
    expect(told.locator(".votes.mini > i")).to_have_count(3)
    assert told.get_by_role("img").get_attribute("aria-label")
    expect(told.locator(".cf")).to_contain_text("High")
    expect(told.locator(".c2")).to_have_text("unknown")


def test_states_are_told_in_words_and_an_interrupted_one_goes_on(
    stage: Stage, window: Open
) -> None:
    put(stage, "free-buses", "rt_11570002", of=25, topic="State test: are buses free?")
    stage.meeting("State test: whose turn is it?")
    page = window().open(stage.home)
    expect(row(page, "are buses free?")).to_contain_text("Interrupted")
    expect(row(page, "are buses free?").get_by_role("button", name="Go on with")).to_be_visible()
    expect(row(page, "whose turn is it?")).to_contain_text("Your turn")
    expect(row(page, "whose turn is it?").get_by_role("heading")).to_contain_text("Tea")


def test_filters_leave_what_fits_and_say_how_many(stage: Stage, window: Open) -> None:
    put(stage, "triage-notes", "rt_11570003", topic="Filter test: notes?")
    put(stage, "lift-letter", "rt_11570004", topic="Filter test: letter?")
    stage.meeting("Filter test: meeting?")
    page = window().open(stage.home)
    expect(row(page, "Filter test:")).to_have_count(3)
    page.get_by_role("button", name="Decided").click()
    expect(row(page, "Filter test:")).to_have_count(2)
    expect(page.get_by_role("button", name="Decided")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="With dissent").click()
    expect(row(page, "Filter test:")).to_have_count(1)
    expect(row(page, "Filter test:")).to_contain_text("notes?")
    page.get_by_role("button", name="With dissent").click()
    page.get_by_role("button", name="All").click()
    page.get_by_label("Way of working").select_option("meeting")
    expect(row(page, "Filter test: meeting?")).to_have_count(1)
    expect(row(page, "Filter test: notes?")).to_have_count(0)


def test_the_list_finds_what_was_asked_said_and_decided(stage: Stage, window: Open) -> None:
    stage.put("rt_11570005", KINDS["twelve seats"]())
    state = stage.meeting("Search test: tea?")
    stage.say(state, "tea", "I would rather have a quixotic samovar.")
    page = window().open(stage.home)
    expect(row(page, "Search test:")).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.type("samovar QUIXOTIC")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row")).to_contain_text("Search test: tea?")
    page.get_by_role("searchbox").fill("twelve people")
    expect(row(page, "Search test:")).to_have_count(0)
    expect(row(page, "What should twelve people decide?").first).to_be_visible()
    page.get_by_role("searchbox").fill("nothing of the kind <b>")
    expect(page.get_by_text("Nothing that was asked, said or decided holds")).to_be_visible()
    page.get_by_role("searchbox").fill("samovar")
    page.get_by_role("heading", name="Coffee").or_(page.locator(".row h2")).get_by_role(
        "link"
    ).first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_follow_ups_stand_under_what_they_follow(stage: Stage, window: Open) -> None:
    put(stage, "lift-letter", "rt_11570006", topic="Follow test: the first?")
    put(stage, "lift-letter", "rt_11570007", topic="Follow test: then?", follows="rt_11570006")
    put(stage, "lift-letter", "rt_11570008", topic="Follow test: later?", follows="rt_11570007")
    page = window().open(stage.home)
    rows = row(page, "Follow test:")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("the first?")
    for place in (1, 2):
        expect(rows.nth(place)).to_contain_text("Follow-up")


def test_new_rows_appear_and_changed_ones_change_without_losing_the_place(
    stage: Stage, window: Open
) -> None:
    state = stage.meeting("Change test: the first?")
    page = window(reduced_motion="no-preference").open(stage.home)
    first = row(page, "Change test: the first?")
    expect(first.get_by_role("heading")).to_contain_text("Tea")
    link = first.get_by_role("link")
    link.focus()
    stage.say(state, "tea", "Tea.")
    expect(first.get_by_role("heading")).to_contain_text("Milk")
    stage.meeting("Change test: the second?")
    expect(row(page, "Change test: the second?")).to_have_count(1)
    expect(link).to_be_focused()


def test_a_decision_is_deleted_for_good_once_that_is_sure(stage: Stage, window: Open) -> None:
    put(stage, "lift-letter", "rt_11570009", topic="Delete test: shall it go?")
    page = window().open(stage.home)
    page.get_by_role("button", name="Delete: Delete test:").click()
    dialog = page.get_by_role("dialog", name="Delete it for good?")
    dialog.get_by_role("button", name="Keep it").click()
    expect(row(page, "Delete test:")).to_have_count(1)
    page.get_by_role("button", name="Delete: Delete test:").click()
    dialog.get_by_role("button", name="Delete it").click()
    expect(row(page, "Delete test:")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1440])
def test_the_list_fits_with_other_scripts_and_long_words(
    stage: Stage, window: Open, width: int
) -> None:
    stage.put(f"rt_1157a{width:03x}", KINDS["arabic"]())
    stage.meeting("z" * 500)
    page = window(viewport={"width": width, "height": 844}).open(stage.home)
    expect(page.locator(".row").first).to_be_visible()
    assert overflow(page) <= 0


def test_a_row_of_what_goes_on_keeps_to_the_columns_of_the_others(
    stage: Stage, window: Open
) -> None:
    put(stage, "rails-monolith", "rt_11570021", topic="Column test: decided?")
    found = put(stage, "free-buses", "rt_11570022", of=25, topic="Column test: live?")
    stage.driven(found)
    page = window(viewport={"width": 1440, "height": 900}).open(stage.home)
    expect(row(page, "Column test: live?").locator(".chip")).to_contain_text("Live")
    places = [
        [
            row(page, f"Column test: {which}?").locator(f":scope > {part}").bounding_box()
            for part in (".asked", ".v", ".when")
        ]
        for which in ("decided", "live")
    ]
    for one, other in zip(*places, strict=True):
        assert one is not None
        assert other is not None
        assert abs(one["x"] - other["x"]) < 2


def test_more_than_fit_are_shown_on_demand_and_the_filters_know_them_all(
    stage: Stage, window: Open
) -> None:
    for number in range(3):
        put(stage, "lift-letter", f"rt_1157003{number}", topic=f"Which zeugmatic letter {number}?")
    visitor = window()
    # As if there were room for two at first.
    visitor.page.route(
        "**/list/list.js",
        lambda route: route.fulfill(
            content_type="text/javascript",
            body=(PAGE / "list/list.js").read_text("utf-8").replace("AT_ONCE = 100", "AT_ONCE = 2"),
        ),
    )
    page = visitor.open(stage.home)
    page.get_by_role("searchbox").fill("zeugmatic")
    expect(page.locator(".discussions > .row")).to_have_count(2)
    expect(page.get_by_role("button", name="All 3")).to_be_visible()
    expect(page.locator(".further")).to_contain_text("2 of 3")
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".discussions > .row")).to_have_count(3)
    expect(page.locator(".further")).to_have_count(0)


def test_all_clears_every_filter_and_a_search_within_one_says_so(
    stage: Stage, window: Open
) -> None:
    put(stage, "rails-monolith", "rt_11570071", topic="Filter test: zyzzyva services?")
    stage.meeting("Filter test: zyzzyva turns?")
    page = window().open(stage.home)
    page.get_by_role("button", name="Your turn").click()
    page.get_by_role("searchbox").fill("zyzzyva services")
    expect(page.locator(".nothing")).to_contain_text("Nothing within this filter")
    page.get_by_role("button", name="Search all decisions").click()
    expect(row(page, "zyzzyva services")).to_be_visible()
    page.get_by_role("button", name="With dissent").click()
    page.get_by_role("button", name="All", exact=False).first.click()
    expect(page.get_by_role("button", name="With dissent")).to_have_attribute(
        "aria-pressed", "false"
    )


def test_a_hit_opens_at_the_words_and_the_way_back_leads_to_the_search(
    stage: Stage, window: Open
) -> None:
    put(stage, "rails-monolith", "rt_11570072", topic="Hit test: should we extract services?")
    page = window().open(stage.home)
    page.get_by_role("searchbox").fill("monolith")
    expect(page.get_by_role("status").filter(has_text="found")).to_have_count(1)
    row(page, "Hit test:").get_by_role("link").click()
    expect(page.locator("#find")).to_have_value("monolith")
    expect(page.locator(".found")).to_contain_text("1 of")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("monolith")
