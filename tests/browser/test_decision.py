"""The decision page: what came out is understood on the first screen, in every state it can be
in."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from roundtable.core.events import DiscussionClosed, Event
from roundtable.core.values import Budget
from roundtable.examples import examples
from roundtable.procedures.opening import OpenRequest
from tests.views.tables import opened, seat

from .conftest import Open
from .decisions import STATES, split_with
from .stage import Stage, overflow, resize
from .tables import KINDS
from .test_axe import violations

pytestmark = pytest.mark.requirement("Z-34")
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
SIZES = (DESK, PHONE)
UNFINISHED = ("failed", "stopped", "interrupted")
SAID = {
    "split": ("Split", "No answer: two for"),
    "hollow": ("No answer", "nobody chose"),
    "absent": ("Decided", "Invest in CI"),
    "demonstration": ("Demonstration model", "Invest in CI"),
    "failed": ("Failed", "the provider refused the key after round 1"),
    "stopped": ("Stopped", "No answer"),
    "interrupted": ("Interrupted", "No answer yet"),
    "values": ("No vote", "This is yours to decide."),
}
"""The words for a state, and some of those of its answer."""


def first_of(page: Page) -> Locator:
    first = page.locator("#decision")
    expect(first.locator(".answer")).to_be_visible()
    return first


def within(page: Page, *places: str) -> None:
    """Each of these lies wholly in the window, before anybody scrolls."""
    size = page.viewport_size
    assert size is not None
    for place in places:
        box = page.locator(place).first.bounding_box()
        assert box is not None, place
        assert box["y"] >= 0, place
        assert box["y"] + box["height"] <= size["height"], (place, box, size)
        assert box["x"] >= 0, place
        assert box["x"] + box["width"] <= size["width"] + 1, place


# The first screen


@pytest.mark.parametrize("name", STATES)
def test_the_first_screen_holds_question_state_answer_vote_and_confidence(
    stage: Stage, window: Open, shown: dict[str, str], name: str
) -> None:
    # Every other state is opened on a phone, and turned into a desk after that: the page must fit
    # in the size in which it is opened and in one that it is given.
    sizes = SIZES[:: -1 if list(STATES).index(name) % 2 else 1]
    page = window(viewport=sizes[0], reduced_motion="no-preference").open(stage.link(shown[name]))
    for size in sizes:
        resize(page, size)
        holds_everything(page, name)


def holds_everything(page: Page, name: str) -> None:
    """What a state must show before anybody scrolls, in the size that the window has."""
    first = first_of(page)
    if name in SAID:
        state, words = SAID[name]
        expect(first.locator(".meta .chip").first).to_have_text(state)
        expect(first.locator(".answer")).to_contain_text(words)
    if name in UNFINISHED:
        expect(first.locator(".votes, .conf")).to_have_count(0)
    within(page, "#decision .chip", "h1", "#decision .answer")
    if name not in (*UNFINISHED, "values"):
        within(page, ".band", ".band .votes", ".band .sure", ".band .sure p:last-child")
    if page.locator(".flags").count():
        within(page, ".flags li:first-child")
    lines = "h1 => h1.clientHeight / parseFloat(getComputedStyle(h1).lineHeight)"
    assert page.locator("h1").evaluate(lines) < 2.5
    assert overflow(page) <= 0


@pytest.mark.parametrize("name", list(examples()))
def test_the_first_screen_of_every_recorded_example_fits(
    stage: Stage, window: Open, name: str
) -> None:
    sizes = SIZES[:: -1 if list(examples()).index(name) % 2 else 1]
    page = window(viewport=sizes[0]).open(stage.link(f"example:{name}"))
    first_of(page)
    for size in sizes:
        resize(page, size)
        within(page, "h1", "#decision .answer", ".band", ".band .sure", ".flags li:first-child")
        assert overflow(page) <= 0, size


def test_a_decision_says_its_figures_its_question_and_what_more_was_voted_on(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=DESK).open(stage.link(shown["decided"]))
    first = first_of(page)
    expect(first.locator(".meta .chip")).to_have_text("Decided")
    expect(first.locator(".meta")).to_contain_text("3 experts, 2 rounds")
    expect(page.locator("h1")).to_have_text(
        "Should we extract services, or first invest in CI and deployment?"
    )
    whole = page.get_by_role("button", name="Whole question")
    expect(whole).to_have_attribute("aria-expanded", "false")
    whole.click()
    expect(page.get_by_text("We can spend at most two quarters.")).to_be_visible()
    votes = first.locator(".band .vote")
    expect(votes).to_have_count(2)
    expect(votes.nth(0).locator(".vote-h b")).to_have_text("3 : 0")
    expect(votes.nth(1).locator(".vote-h b")).to_have_text("2 : 1")
    expect(votes.nth(1).locator(".key")).to_contain_text("Absent 0")
    expect(votes.nth(1).get_by_role("img")).to_have_attribute("aria-label", having("DevOps"))
    expect(first.locator(".sure .vote-h b")).to_have_text(having("%"))
    first.get_by_role("link", name="1 more vote").click()
    expect(page.locator("#votes")).to_be_in_viewport()
    expect(page.locator("#votes")).to_contain_text("Which licences?")


def having(part: str) -> re.Pattern[str]:
    return re.compile(re.escape(part))


def test_where_nothing_prevails_or_nobody_can_judge_no_piece_has_the_accent(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=DESK).open(stage.link(shown["decided"]))
    first_of(page)
    accent = page.locator(".band .votes > i").first.evaluate(_COLOUR)
    for name in ("split", "demonstration", "hollow"):
        page.goto(stage.link(shown[name]))
        first_of(page)
        expect(page.locator(".sure .vote-h b")).to_have_text("None")
        pieces = page.locator(".band .votes > i")
        found = [each.evaluate(_COLOUR) for each in pieces.all()]
        assert found
        assert accent not in found, name


_COLOUR = "piece => getComputedStyle(piece).backgroundColor"


def test_absent_gave_in_and_contradiction_are_seen_in_vote_strip_and_flags(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=DESK).open(stage.link(shown["absent"]))
    first = first_of(page)
    expect(first.locator(".meta")).to_contain_text("2 of 3 experts")
    expect(first.locator(".votes > .out")).to_have_count(1)
    expect(first.locator(".key")).to_contain_text("Absent 1")
    expect(first.locator(".flags")).to_contain_text("Customer Success Manager did not answer")
    expect(page.locator("#experts .chip", has_text="Absent")).to_have_count(1)
    page.goto(stage.link(shown["gave in"]))
    expect(first_of(page).locator(".flags")).to_contain_text("without naming an argument")
    expect(page.locator("#experts .chip.warn")).to_have_text("Gave in")
    page.goto(stage.link(shown["contradicting"]))
    expect(first_of(page).locator(".flags li").first).to_contain_text("differs from what")


def test_twelve_seats_are_letters_and_one_line_each(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=PHONE).open(stage.link(shown["twelve seats"]))
    first = first_of(page)
    expect(first.locator(".votes > i")).to_have_count(12)
    expect(first.locator(".votes > i > em").first).to_be_visible()
    expect(first.locator(".votes > i > b").first).to_be_hidden()
    expert = page.locator("#experts .exp > li").first
    expect(expert.locator(".path")).to_be_hidden()
    expert.locator("summary").click()
    expect(expert.locator(".path")).to_be_visible()


def test_words_run_from_right_to_left_and_the_interface_keeps_its_own_way(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=DESK).open(stage.link(shown["arabic"]))
    first_of(page)
    way = "(each) => getComputedStyle(each).direction"
    for words in ("#decision .q", "#decision .answer", ".duel blockquote >> nth=0"):
        assert page.locator(words).evaluate(way) == "rtl", words
    for ours in ("#decision .meta", ".band .sure > p >> nth=1", "#dissent .lede", "#discussion"):
        assert page.locator(ours).evaluate(way) == "ltr", ours
    expect(page.locator(".duel blockquote").first).to_have_text(re.compile("^«.*»$"))
    expect(page.locator("#dissent .lede")).to_have_text("ليلى would decide otherwise.")


def test_whoever_leads_goes_on_with_an_interrupted_discussion_and_a_viewer_is_told(
    stage: Stage, window: Open
) -> None:
    left = stage.put("rt_dec1e400", STATES["interrupted"]())
    watching = window(viewport=DESK).open(stage.link(left))
    expect(first_of(watching)).to_contain_text("Whoever leads the discussion can go on with it.")
    expect(watching.get_by_role("button", name="Go on")).to_have_count(0)
    chair = window(viewport=DESK).open(stage.link(left, "host"))
    first_of(chair)
    with chair.expect_response(lambda response: response.url.endswith("/resume")) as answered:
        chair.get_by_role("button", name="Go on").click()
    assert answered.value.request.method == "POST"


@pytest.mark.requirement("Z-35")
def test_the_owner_goes_on_with_a_higher_limit_where_one_ended_it(
    stage: Stage, window: Open, axe_script: str
) -> None:
    echo = {"models": ["scripted/echo"], "host": "scripted/echo"}
    request = OpenRequest(
        "Is the limit too low?", procedure="council", options=echo, budget=Budget(max_calls=5)
    )
    opened = stage.do(lambda: stage.app.service.open(request))
    ended = stage.do(lambda: stage.app.service.run(opened.discussion_id))
    assert ended.exhausted is not None
    offer = "Go on with a higher limit"
    chair = window(viewport=DESK).open(stage.link(ended.discussion_id, "host"))
    first_of(chair)
    expect(chair.get_by_role("button", name=offer)).to_have_count(0)
    visitor = window(viewport=PHONE)
    visitor.open(stage.home)
    page = visitor.open(stage.link(ended.discussion_id, "host"))
    first_of(page)
    limit = page.get_by_label("At most, in calls")
    assert ended.closed is not None
    advised = re.search(r"--max-calls (?P<calls>\d+)", ended.closed.remedy)
    assert advised is not None
    expect(limit).to_have_value(advised["calls"])
    limit.fill("5")
    expect(page.get_by_role("button", name=offer)).to_be_disabled()
    limit.fill("40")
    assert overflow(page) <= 0
    assert violations(page, axe_script) == []
    page.get_by_role("button", name=offer).click()
    expect(page.get_by_role("button", name=offer)).to_have_count(0)
    expect(page.locator("#discussion")).to_contain_text("The limits were set anew by the host")


# What it rests on


@pytest.mark.parametrize("size", SIZES, ids=["1440", "390"])
def test_a_failure_says_why_on_its_first_screen_and_the_list_says_the_same(
    stage: Stage, window: Open, size: ViewportSize
) -> None:
    told = "0 of 3 experts answered, and a deliberation needs at least two."
    why = "Ann: openai/gpt-5.5 has no key. Bob: https://example.org answered 401."
    failed = DiscussionClosed(
        status="failed",
        stop_reason="too_few_answers",
        detail=f"{told} {why}",
        remedy="Enter another key. Or with other models: --models=A,B,C.",
    )
    topic = f"Does the key work at {size['width']}?"
    events: list[Event] = [opened([seat("Ann"), seat("Bob"), seat("Cid")], topic), failed]
    shown = stage.put(f"rt_fa11{size['width']:04d}", events)
    page = window(viewport=size).open(stage.home)
    row = page.locator(".row", has_text=topic)
    expect(row.locator("h2")).to_have_text(f"No answer: {told}")
    row.locator("h2 a").click()
    first = first_of(page)
    expect(first.locator(".answer")).to_have_text(f"No answer: {told} Nothing was said yet.")
    expect(first.locator(".remedied")).to_have_text([why, "Enter another key."])
    within(page, ".remedied + .remedied", "#decision .acts .main")
    # A table that came to nothing cannot be asked further; its question can.
    expect(page.get_by_role("button", name="Ask again with other experts")).to_be_visible()
    expect(page.locator("#further")).to_have_count(0)
    assert shown


def test_a_cause_that_only_makers_understand_is_no_headline_and_is_told_below_it(
    stage: Stage, window: Open
) -> None:
    why = 'maker/model-5 said {"error": "no such model"}.'
    failed = DiscussionClosed(status="failed", stop_reason="too_few_answers", detail=why)
    shown = stage.put("rt_fa110001", [opened([seat("Ann"), seat("Bob")], "Is it there?"), failed])
    first = first_of(window().open(stage.link(shown)))
    expect(first.locator(".answer")).to_contain_text("It failed before there was an answer.")
    expect(first.locator(".remedied")).to_have_text(why)


def test_what_a_writer_says_to_a_split_is_not_the_count_once_more(
    stage: Stage, window: Open
) -> None:
    events = split_with("Impasse: Split 2 : 2: none prevails. Ask the teams first.")
    shown = stage.put("rt_5b110001", events)
    first = first_of(window().open(stage.link(shown)))
    expect(first.locator(".answer > span")).to_have_text("Ask the teams first.")
    expect(first.locator(".sure")).to_contain_text("Split 2 : 2: none prevails.")


def test_many_experts_stand_by_what_they_hold_in_the_end(stage: Stage, window: Open) -> None:
    shown = stage.put("rt_5b110002", KINDS["twelve seats"]())
    page = window(viewport=DESK).open(stage.link(shown))
    first_of(page)
    expect(page.locator(".exp > li")).to_have_count(12)
    against = [each == "Disagrees" for each in page.locator(".exp .chip").all_inner_texts()]
    assert against == sorted(against)
    assert any(against)
    assert not all(against)


def test_fonts_of_other_scripts_come_behind_the_readers_own(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    """They have Latin letters too, with quotation marks as wide as a Chinese character."""
    page = window().open(stage.link(shown["split"]))
    first_of(page)
    for family, generic_name in (("--serif", "serif"), ("--sans", "sans-serif")):
        fonts = page.evaluate(
            "(name) => getComputedStyle(document.documentElement).getPropertyValue(name)", family
        )
        named = [each.strip() for each in fonts.split(",")]
        generic = named.index(generic_name)
        assert not any("CJK" in each or "Arabic" in each for each in named[:generic]), family
        assert any("CJK" in each for each in named[generic:]), family
