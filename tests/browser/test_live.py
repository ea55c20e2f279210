"""A discussion in a real browser while it happens: from its start to its verdict."""

from __future__ import annotations

import re
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, Locator, Page, expect

from roundtable.bootstrap import start
from roundtable.core.declaration import Declaration
from roundtable.core.events import (
    DiscussionClosed,
    Event,
    NewEvent,
    PointRaised,
    StageClosed,
    StageOpened,
    StanceTaken,
)
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.web.links import load_links
from tests.surfaces.web.house import MEETING, Process, house_settings
from tests.views.tables import mishaps

from .conftest import Open
from .live_tables import alone, attempt, begun, live, spoken
from .stage import Stage, events_of, overflow, place, visitor
from .test_axe import violations

MOTIONS = ("no-preference", "reduce")
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}
PARAGRAPH = "Every network hop is a failure to handle, and five people handle few. " * 5 + "\n\n"


def more(stage: Stage, discussion_id: str, *events: Event) -> None:
    """Events that come while somebody watches."""
    last = stage.do(lambda: stage.ledger.read(discussion_id))[-1]
    new = [NewEvent(event, last.at) for event in events]
    stage.do(lambda: stage.ledger.append(discussion_id, new))


def follows(page: Page) -> Locator:
    return page.locator("button.follow")


def hidden(page: Page) -> float:
    """By how many pixels the newest words are below what can be seen above the dock."""
    found: float = page.evaluate(
        """() => document.querySelector(".growing").getBoundingClientRect().bottom
             - document.querySelector(".dock").getBoundingClientRect().top"""
    )
    return found


@pytest.mark.requirement("D-61", "I-22")
def test_a_discussion_started_in_the_form_is_followed_to_its_verdict(
    stage: Stage, window: Open
) -> None:
    guest = window()
    page = guest.open(stage.home)
    page.get_by_role("link", name="New decision").or_(
        page.get_by_role("link", name="Start the first decision")
    ).first.click()
    page.get_by_role("textbox", name="What do you want to decide?").fill(
        "Should a team of five build a monolith?"
    )
    page.get_by_role("radio", name="Three angles").check()
    page.get_by_text("More: options to vote on").click()
    page.get_by_label("One model for all experts").fill("scripted/slow")
    expect(page.locator(".estimate")).to_contain_text("about")
    page.get_by_role("button", name="Start the discussion").click()

    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Should a team of five build a monolith?"
    )
    # The decision comes by itself: nobody reloads.
    expect(page.locator("#decision .answer")).to_be_visible()
    expect(page.locator("article.speech")).not_to_have_count(0)
    assert page.evaluate("performance.getEntriesByType('navigation').length") == 1
    assert guest.violations == []


@pytest.mark.requirement("D-61")
def test_a_speech_of_another_process_appears_without_reload(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    page = window().open(stage.link(state.discussion_id))
    expect(page.locator(".now-line")).to_contain_text("Waiting for Tea")
    stage.say(state, "tea", "Tea is **calm**.")
    expect(page.locator(".now-line")).to_contain_text("Waiting for Milk")
    speech = page.locator("article.speech", has_text="Tea is calm.")
    speech.locator(".line").click()
    expect(speech.locator("strong")).to_have_text("calm")
    expect(speech).to_contain_text("Spoken by hand")
    expect(page.locator("[aria-live=polite]").last).to_have_text("New speech: Tea.")


@pytest.mark.requirement("I-22", "Z-10")
def test_who_comes_late_sees_everything_that_was_said(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    early = window().open(stage.link(state.discussion_id))
    expect(early.locator("h1")).to_have_text("Tea or coffee?")
    stage.say(state, "tea", "First words.")
    stage.say(state, "milk", "Second words.")
    stage.say(state, "coordinator", "A remark of the chair.")
    late = window().open(stage.link(state.discussion_id))
    for page in (early, late):
        expect(page.locator("article.speech .pos")).to_have_text(
            ["First words.", "Second words.", "A remark of the chair."]
        )


def test_words_grow_as_markdown_while_somebody_speaks(stage: Stage, window: Open) -> None:
    found = live(stage, "rt_d7af7000", alone())
    turn = "1/discussion/ann"
    page = window().open(stage.link(found))
    voice = page.locator("#live-ann")
    expect(voice).to_contain_text("Thinking")
    expect(page.locator(".navigator .ring")).to_have_count(1)
    begins = stage.draft(page, found, turn, "Tea, ")
    expect(voice.locator(".growing")).to_have_text("Tea, ")
    expect(voice).to_contain_text("Writing")
    begins = stage.draft(page, found, turn, "because <b>it</b> **keeps**.\n\n- one\n- two", begins)
    expect(voice.locator(".growing p")).to_have_text("Tea, because <b>it</b> keeps.")
    expect(voice.locator(".growing strong")).to_have_text("keeps")
    expect(voice.locator(".growing li")).to_have_text(["one", "two"])
    # What is declared at the end is for the program, from its first sign on.
    for piece in ("\n\n`", "``decla", 'ration\n{"votes"', ": []}\n```\n"):
        begins = stage.draft(page, found, turn, piece, begins)
    stage.draft(page, found, turn, "Last words.", begins)
    expect(voice.locator(".growing")).to_contain_text("Last words.")
    expect(voice.locator(".growing")).not_to_contain_text("votes")
    expect(voice.locator(".growing pre")).to_have_count(0)
    more(stage, found, spoken(turn, "Tea, because it keeps."))
    expect(voice.locator(".growing")).to_have_count(0)
    expect(voice).to_contain_text("Has spoken")
    expect(page.locator("article.speech")).to_have_count(1)


def test_nothing_in_a_draft_runs_loads_or_leads_astray(stage: Stage, window: Open) -> None:
    found = live(stage, "rt_d7af7001", alone())
    guest = window(noting=True)
    page = guest.open(stage.link(found))
    hostile = (
        "<script>alert(1)</script>\n\n<img src=x onerror=alert(2)>\n\n"
        "![pixel](https://evil.example/p.png)\n\n[a](javascript:alert(3)) "
        "[b](data:text/html,x) [c](https://example.org/c) [1] plain\n\n"
        "$x$ | `a` <svg onload=alert(4)>\n\n- [x] done\n\n" + "> " * 60 + "deep\n\n```\nunclosed "
    )
    begins = stage.draft(page, found, "1/discussion/ann", hostile)
    growing = page.locator(".growing")
    expect(growing).to_contain_text("unclosed")
    stage.draft(page, found, "1/discussion/ann", "[" + "x" * 1_000_000, begins)
    expect(growing).to_contain_text("xxxx")
    tags = "e => [...new Set([...e.querySelectorAll('*')].map(each => each.localName))]"
    allowed = {"p", "a", "span", "em", "strong", "code", "pre", "ul", "li", "blockquote", "br"}
    assert set(growing.evaluate(tags)) <= allowed
    links = growing.evaluate("e => [...e.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    assert set(links) <= {"https://example.org/c", None}
    assert guest.ran == []
    assert guest.violations == []
    assert not [each for each in guest.requests if "evil.example" in each]


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize("motion", MOTIONS)
def test_following_keeps_the_newest_words_in_sight_until_the_reader_scrolls_away(
    stage: Stage, window: Open, motion: str
) -> None:
    found = live(stage, f"rt_f0110{MOTIONS.index(motion):03}", alone())
    turn = "1/discussion/ann"
    page = window(reduced_motion=motion, viewport=DESK).open(stage.link(found))
    expect(follows(page)).to_have_text("Following")
    begins = stage.draft(page, found, turn, "Begin.\n\n")
    for number in range(1, 51):  # about 3,000 words
        begins = stage.draft(page, found, turn, f"{number}. {PARAGRAPH}", begins)
        if number % 10 == 0:
            page.wait_for_function(
                "many => document.querySelectorAll('.growing li').length >= many", arg=number
            )
            page.wait_for_function(BELOW)
            assert hidden(page) <= 0
    assert page.evaluate("scrollY") > 1_000
    expect(follows(page)).to_have_text("Following")
    # Whoever scrolls away is left alone.
    page.mouse.move(700, 400)
    page.mouse.wheel(0, -1_500)
    expect(follows(page)).to_have_text("Follow")
    here = page.evaluate("scrollY")
    begins = stage.draft(page, found, turn, PARAGRAPH * 5, begins)
    page.wait_for_function("() => document.querySelectorAll('.growing > p').length >= 5")
    assert page.evaluate("scrollY") == here
    other = "1/discussion/bob"
    more(stage, found, spoken(turn, PARAGRAPH * 60), attempt(other))
    expect(follows(page)).to_have_text("1 new, jump")
    stage.draft(page, found, other, PARAGRAPH * 20)
    expect(page.locator(".growing p")).to_have_count(20)
    follows(page).click()
    expect(follows(page)).to_have_text("Following")
    page.wait_for_function(BELOW)
    assert hidden(page) <= 0


BELOW = """() => { const e = document.querySelector(".growing").getBoundingClientRect().bottom;
  const dock = document.querySelector(".dock").getBoundingClientRect().top;
  return e <= dock && e > 0; }"""


@pytest.mark.requirement("Z-34")
def test_who_speaks_at_the_same_time_stands_in_columns_and_on_a_phone_behind_tabs(
    stage: Stage, window: Open
) -> None:
    found = live(stage, "rt_c0100001", begun(["Ann", "Bob", "Cid"]))
    page = window(viewport=DESK).open(stage.link(found))
    voices = page.locator(".columns > .voice")
    expect(voices).to_have_count(3)
    for who in ("ann", "bob"):
        stage.draft(page, found, f"1/answer/{who}", f"The words of *{who}*.")
    held = Declaration(position="The monolith first.", confidence=68)
    more(stage, found, spoken("1/answer/cid", "I would begin with modules.", held))
    expect(voices.nth(2)).to_contain_text("Holds, 68 % sure")
    expect(voices.nth(2)).to_contain_text("The monolith first.")
    expect(voices.nth(0).locator("em")).to_have_text("ann")
    boxes = [each.bounding_box() for each in voices.all()]
    assert all(box is not None for box in boxes)
    tops = {round(box["y"]) for box in boxes if box}
    widths = {round(box["width"] / 10) for box in boxes if box}
    assert (len(tops), len(widths)) == (1, 1)
    expect(page.locator(".now-line")).to_contain_text("Round 1 of 2: first answers")
    expect(page.locator(".now-line")).to_contain_text("2 of 3 still writing")
    expect(page.locator(".itinerary li")).to_have_count(4)
    page.get_by_role("link", name=re.compile("Bob: Thinking|Bob: Writing")).click()
    expect(page.locator("#live-bob")).to_be_focused()

    phone = window(viewport=PHONE).open(stage.link(found))
    tabs = phone.get_by_role("tab")
    expect(tabs).to_have_count(3)
    expect(tabs.nth(0)).to_have_attribute("aria-selected", "true")
    expect(phone.locator(".voice")).to_have_count(1)
    expect(phone.locator("#live-ann .growing")).to_contain_text("The words of ann.")
    tabs.nth(0).focus()
    phone.keyboard.press("ArrowLeft")
    expect(tabs.nth(2)).to_be_focused()
    expect(phone.locator("#live-cid")).to_contain_text("I would begin with modules.")
    assert overflow(phone) <= 0
    box = phone.locator(".now-line").bounding_box()
    assert box is not None
    assert box["y"] < 300  # on the first screen


@pytest.mark.requirement("Z-34")
def test_how_long_it_usually_takes_stands_beside_how_long_it_has_taken(
    stage: Stage, window: Open
) -> None:
    # as many seats as no other discussion on the stage has: only this one is like it
    table = begun([f"Number{each}" for each in range(11)])
    over = DiscussionClosed(status="concluded", stop_reason="verdict")
    stage.put("rt_c0100010", [*table, over], pace=timedelta(minutes=3) / len(table))
    page = window(viewport=DESK).open(stage.link(live(stage, "rt_c0100011", table)))
    expect(page.locator(".meta .usual")).to_have_text("Usually about 3 minutes")


def test_watching_has_no_violation(stage: Stage, window: Open, axe_script: str) -> None:
    found = live(stage, "rt_a0e11000", begun(["Ann", "Bob", "Cid"]))
    for size in (DESK, PHONE):
        page = window(viewport=size).open(stage.link(found, "host"))
        expect(page.locator(".voice").first).to_be_visible()
        text = "### Plan\n\n1. One\n\n# Risks\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
        stage.draft(page, found, "1/answer/ann", text)
        expect(page.locator(".growing td").first).to_be_visible()
        assert violations(page, axe_script) == []


def test_the_lines_of_the_navigator_join_those_who_differ(stage: Stage, window: Open) -> None:
    first = [f"1/answer/{who}" for who in ("ann", "bob", "cid")]
    second = tuple(f"2/critique/{who}" for who in ("ann", "bob", "cid"))
    views: Any = (("ann", "agree"), ("bob", "agree"), ("cid", "disagree"))
    events = [
        *begun(["Ann", "Bob", "Cid"]),
        *(spoken(turn, "Words.") for turn in first),
        PointRaised(point_id="p1", text="It is cheap", turn_id=first[0], round=1),
        *(
            StanceTaken(participant=w, point_id="p1", position=p, turn_id=f"1/answer/{w}", round=1)
            for w, p in views
        ),
        StageClosed(stage="answer", round=1, spoke=("ann", "bob", "cid")),
        StageOpened(stage="critique", round=2, turns=second),
        *map(attempt, second),
    ]
    found = live(stage, "rt_d1ff0001", events)
    page = window(viewport=DESK).open(stage.link(found))
    expect(page.locator(".navigator .apart")).to_have_count(2)
    expect(page.locator(".navigator")).to_contain_text("Ann – Cid; Bob – Cid")
    expect(page.locator(".now-line")).to_contain_text("replies, authors hidden")


@pytest.mark.requirement("Z-34")
def test_when_it_ends_the_page_turns_into_the_decision_without_losing_the_readers_place(
    stage: Stage, window: Open
) -> None:
    events = begun(["Ann", "Bob"])
    found = live(stage, "rt_e2d00001", events)
    watching, reading = (window(viewport=DESK).open(stage.link(found)) for _ in range(2))
    for page in (watching, reading):
        expect(page.locator(".voice")).to_have_count(2)
    more(stage, found, *(spoken(f"1/answer/{who}", PARAGRAPH * 9) for who in ("ann", "bob")))
    for number in range(2):
        reading.locator(".voice .read-on button").nth(number).click()
    expect(follows(watching)).to_have_text("Following")
    reading.mouse.move(700, 400)
    reading.mouse.wheel(0, 700)
    reading.wait_for_function("() => scrollY >= 500")
    if follows(reading).text_content() == "Following":
        follows(reading).click()
    here = reading.evaluate("scrollY")
    closed = DiscussionClosed(status="stopped", stop_reason="stopped_by_user", detail="Enough.")
    more(stage, found, closed)
    expect(watching.locator("#decision")).to_be_visible()
    assert watching.evaluate("scrollY") == 0
    button = reading.get_by_role("button", name="Decided: see the answer")
    expect(button).to_be_visible()
    assert reading.evaluate("scrollY") == here
    button.click()
    expect(reading.locator("#decision")).to_be_in_viewport()
    expect(reading.locator(".dock")).to_have_count(0)


@pytest.mark.requirement("Z-34")
def test_a_killed_server_leaves_an_interrupted_discussion_that_says_so_and_goes_on(
    browser: Browser, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    context = place(browser)
    guest = visitor(context)
    page = guest.page
    with Process(home, "--port", "0") as first:
        port = first.found.port
        key = load_links(home).owner_key
        body = {
            "topic": "Who goes on?",
            "procedure": "council",
            "options": {"all": "scripted/hang", "quick": True},
            "key": "one",
        }
        answer = page.request.post(
            f"http://localhost:{port}/api/discussions",
            data=body,
            headers={"Authorization": f"Bearer {key}"},
        )
        assert answer.ok, answer.text()
        found = answer.json()["discussion_id"]
        page.goto(f"http://localhost:{port}/r/{load_links(home).token(found, 'host')}")
        expect(page.locator(".meta .chip").first).to_have_text("Live")
        first.process.send_signal(signal.SIGKILL)
        first.process.wait(60)
        expect(page.locator(".banner")).to_contain_text("The connection is lost")
    with Process(home, "--port", str(port)):
        expect(page.locator(".meta .chip").first).to_have_text("Interrupted")
        page.get_by_role("button", name="Go on").first.click()
        expect(page.locator(".meta .chip").first).not_to_have_text("Interrupted")
    context.close()
    assert guest.errors == []


@pytest.mark.requirement("I-22")
def test_a_page_reconnects_when_its_server_was_killed_and_nothing_is_missed(
    browser: Browser, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    settings = house_settings(home)
    context = place(browser)
    guest = visitor(context)
    page = guest.page
    request = OpenRequest(topic="Tea or coffee?", procedure="meeting", options=MEETING)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(start(settings, env={})) as app,
    ):
        state = portal.call(app.service.open, request)
        with Process(home, "--port", "0") as first:
            port = first.found.port
            token = load_links(home).token(state.discussion_id)
            page.goto(f"http://localhost:{port}/r/{token}")
            portal.call(app.service.speak, state.discussion_id, "tea", "Before the crash.")
            expect(page.locator("article.speech .pos")).to_have_text(["Before the crash."])
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(60)
            expect(page.locator(".banner")).to_contain_text("The connection is lost")
            portal.call(app.service.speak, state.discussion_id, "coffee", "While it was down.")
        with Process(home, "--port", str(port)):
            expect(page.locator("article.speech .pos")).to_have_text(
                ["Before the crash.", "While it was down."]
            )
            expect(page.locator(".banner")).to_have_count(0)
            portal.call(app.service.speak, state.discussion_id, "tea", "And after.")
            expect(page.locator("article.speech .pos")).to_have_text(
                ["Before the crash.", "While it was down.", "And after."]
            )
        context.close()
    assert guest.errors == []


def test_a_failed_discussion_says_why_and_what_to_do(stage: Stage, window: Open) -> None:
    found = stage.put("rt_fa11ed00", events_of(mishaps))
    page = window().open(stage.link(found))
    expect(page.locator("#decision")).to_contain_text("Check the models.")
    speech = page.locator("article.speech", has_text="No answer").first
    speech.locator(".line").click()
    expect(speech).to_contain_text("Give it more time.")


@pytest.mark.requirement("D-77")
def test_the_conclusion_of_the_chair_is_shown_word_for_word(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    page = window().open(stage.link(state.discussion_id))
    expect(page.locator("h1")).to_be_visible()
    words = "We drink tea until noon, and coffee after it."
    stage.say(state, "tea", "Tea.")
    stage.say(state, "milk", "Both.")
    stage.do(lambda: stage.app.service.conclude(state.discussion_id, words))
    expect(page.locator("#decision .answer")).to_contain_text(words)
    expect(page.locator(".dock")).to_have_count(0)
