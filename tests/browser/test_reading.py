"""Reading a discussion: folded to lines, opened in place, and every link lands where it points."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from roundtable.core.events import DiscussionClosed, Event, VerdictReached
from roundtable.core.values import Verdict
from tests.views.tables import opened, seat
from tests.views.tables import speech as words

from .conftest import Open
from .readings import ARABIC, CHINESE, last_words, long_speech, read_at_length
from .stage import Stage, overflow, resize
from .test_axe import violations

pytestmark = pytest.mark.requirement("Z-34")
MOTIONS = ("no-preference", "reduce")
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
NEAR = 100
THREE = ("Ann", "Bob", "Cid")
OFF = """(place) => {
  const bottom = (name) => { const e = document.querySelector(name);
    return e && getComputedStyle(e).position === "sticky" ? e.offsetHeight : 0; };
  const quoted = CSS.highlights && CSS.highlights.get("quoted");
  const target = quoted && quoted.size ? [...quoted][0] : document.getElementById(place);
  if (!target) return null;
  const { top } = target.getBoundingClientRect();
  const root = document.documentElement;
  const off = top - bottom("header.bar") - bottom(".rail");
  // What stands at the end of the page cannot come further up.
  const end = root.scrollHeight - innerHeight - scrollY < 2 && top < innerHeight;
  return end ? Math.min(Math.max(off, 0), 0) : off;
}"""
FRAMES = 10
"""One after the other, for a place to have stayed."""
LINKS = """() => [...document.querySelectorAll('main a[href^="#"]')]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }))
  .map((each) => each.getAttribute("href"))"""


STAYS = f"""([place, near, frames]) => {{
  const off = ({OFF})(place);
  const stays = off !== null && Math.abs(off) <= near;
  window.stayed = stays ? (window.stayed || 0) + 1 : 0;
  return window.stayed >= frames;
}}"""


def landed(page: Page, place: str) -> None:
    """The place comes to be where it should, right below the bar and the rail, and stays there,
    whatever else of the page still comes."""
    page.evaluate("window.stayed = 0")
    page.wait_for_function(STAYS, arg=[place, NEAR, FRAMES])


def speech(page: Page, turn: str) -> Locator:
    return page.locator(f'[id="turn-{turn}"]')


@pytest.fixture(scope="module")
def long(stage: Stage) -> str:
    return stage.put("rt_4ead0001", read_at_length(THREE))


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("which", ["example:rails-monolith", "long"])
def test_every_link_and_citation_lands_where_it_points(
    stage: Stage, window: Open, long: str, which: str, motion: str
) -> None:
    page = window(viewport=DESK, reduced_motion=motion).open(
        stage.link(long if which == "long" else which)
    )
    expect(page.locator(".rail a").first).to_be_visible()
    page.get_by_role("button", name="Open all").click()
    links = list(dict.fromkeys(page.evaluate(LINKS)))
    assert len([each for each in links if each.startswith("#turn-")]) >= 3
    for href in links:
        place = page.evaluate("(href) => decodeURIComponent(href.slice(1))", href)
        page.evaluate(
            """(href) => { CSS.highlights.delete("quoted");
                 [...document.querySelectorAll(`main a[href^="#"]`)]
                   .find((each) => each.getAttribute("href") === href && each.checkVisibility())
                   .click(); }""",
            href,
        )
        landed(page, place)


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("motion", MOTIONS)
def test_a_citation_opens_the_speech_and_lands_on_its_sentence(
    stage: Stage, window: Open, long: str, motion: str, size: Any
) -> None:
    page = window(viewport=size, reduced_motion=motion).open(stage.link(long))
    chip = page.locator("#why a.cite").first
    expect(chip).to_be_visible()
    expect(speech(page, "1/answer/ann").locator(".words")).to_have_count(0)
    chip.click()
    landed(page, "turn-1/answer/ann")
    quoted = page.evaluate("[...CSS.highlights.get('quoted')].map(String).join()")
    assert quoted == last_words("Ann", 1).replace("**", "")
    expect(speech(page, "1/answer/ann")).to_be_focused()
    # The way back leads to where one was.
    page.go_back()
    expect(chip).to_be_in_viewport()
    assert "#" not in page.url


@pytest.mark.parametrize("motion", MOTIONS)
def test_a_link_in_the_address_bar_lands_likewise(
    stage: Stage, window: Open, long: str, motion: str
) -> None:
    page = window(viewport=DESK, reduced_motion=motion).page
    for place in ("turn-2/critique/cid", "turn-0/synthesis/host", "point-p2", "round-2"):
        page.goto("about:blank")  # or another place in the same page would not open it anew
        page.goto(f"{stage.link(long)}#{place}")
        landed(page, place)


def test_speeches_are_lines_until_they_are_opened(stage: Stage, window: Open, long: str) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    talk = page.locator("#discussion")
    expect(talk.get_by_role("heading", level=3).filter(has_text="Round")).to_have_text(
        [
            "Round 1, first answers, written without seeing the others",
            "Round 2, replies to each other",
        ]
    )
    line = talk.get_by_role("button", name="Bob holds that build services comes first.")
    expect(line).to_contain_text("61 % sure")
    expect(talk.locator(".words")).to_have_count(0)
    line.click()
    expect(line).to_have_attribute("aria-expanded", "true")
    expect(speech(page, "1/answer/bob").locator(".words")).to_contain_text("Bob begins round 1.")
    line.click()
    expect(talk.locator(".words")).to_have_count(0)
    talk.get_by_role("button", name="Open this round").last.click()
    expect(speech(page, "2/critique/ann").locator(".said")).to_be_attached()
    expect(speech(page, "1/answer/ann").locator(".said")).to_have_count(0)
    talk.get_by_role("button", name="Open all").click()
    expect(speech(page, "1/answer/ann").locator(".said")).to_be_attached()
    talk.get_by_role("button", name="Fold all").click()
    expect(talk.locator(".said")).to_have_count(0)


def test_the_host_is_not_among_those_who_speak(stage: Stage, window: Open, long: str) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    expect(page.locator("#discussion .talk-h")).to_contain_text("6 speeches")
    expect(page.locator(".speech", has_text="Host")).to_have_count(0)
    page.get_by_text("What the host did").last.click()
    expect(speech(page, "0/synthesis/host")).to_be_visible()


def test_what_is_declared_is_said_in_words_and_never_as_protocol(
    stage: Stage, window: Open, long: str
) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    turn = speech(page, "2/critique/bob")
    turn.get_by_role("button").first.click()
    declared = turn.locator(".declared").first
    expect(declared).to_contain_text("Votes for")
    expect(declared).to_contain_text("Build one program")
    expect(declared).to_contain_text("Moved by Cid")
    expect(declared).to_contain_text("Two engineers are free for it.")
    turn.locator(".also > summary").click()
    expect(turn.locator(".also")).to_contain_text("Disagrees with 1 point")
    expect(turn.locator(".also")).to_contain_text("The claim number 1 stands by itself.")
    for text in page.locator(".declared").all_inner_texts():
        assert not re.search(r"\b[opd]\d+\b", text)


def test_a_point_that_is_called_by_its_number_says_what_it_is(
    stage: Stage, window: Open, long: str
) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    turn = speech(page, "2/critique/cid")
    turn.get_by_role("button").first.click()
    named = turn.locator("a.named").last
    expect(named).to_have_attribute("title", "The claim number 1 stands by itself.")
    named.click()
    landed(page, "point-p1")


HIT = """() => {
  const now = CSS.highlights.get("found-now");
  if (!now || !now.size) return null;
  const { top, bottom } = [...now][0].getBoundingClientRect();
  const rail = document.querySelector(".rail").getBoundingClientRect().bottom;
  return top >= rail && bottom <= innerHeight && bottom > top;
}"""


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("motion", MOTIONS)
def test_every_hit_of_the_search_comes_into_sight(
    stage: Stage, window: Open, size: Any, motion: str
) -> None:
    page = window(viewport=size, reduced_motion=motion).open(stage.link("example:streaming-etl"))
    expect(page.locator("#decision .answer")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("Airflow")
    found = page.locator(".found")
    expect(found).to_have_text(re.compile(r"^([7-9]|\d\d) found$"))
    for step in range(1, 7):
        page.keyboard.press("Enter")
        expect(found).to_contain_text(f"{step} of")
        page.wait_for_function(HIT)
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_the_way_back_leads_to_each_place_that_one_came_from(stage: Stage, window: Open) -> None:
    page = window(viewport=DESK).open(stage.link("example:streaming-etl"))
    rail = page.locator(".rail")
    for name, place in (
        ("Next steps", "next"),
        ("Discussion", "discussion"),
        ("All points", "points"),
    ):
        rail.get_by_role("link", name=name, exact=True).click()
        landed(page, place)
    for place in ("discussion", "next"):
        page.go_back()
        page.wait_for_url(f"**#{place}")
        landed(page, place)
        page.wait_for_function("() => new Promise((then) => setTimeout(() => then(true), 300))")
        landed(page, place)


def test_the_search_counts_marks_and_goes_from_hit_to_hit(
    stage: Stage, window: Open, long: str
) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    expect(page.locator(".speech").first).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("begins round 2")
    found = page.locator(".found")
    expect(found).to_have_text("3 found")
    page.keyboard.press("Enter")
    expect(found).to_have_text("1 of 3")
    expect(speech(page, "2/critique/ann").locator(".words")).to_be_visible()
    now = "[...CSS.highlights.get('found-now')].map(String).join()"
    page.wait_for_function("() => CSS.highlights.has('found-now')")
    assert page.evaluate(now) == "begins round 2"
    page.keyboard.press("Shift+Enter")
    expect(found).to_have_text("3 of 3")
    expect(speech(page, "2/critique/cid").locator(".words")).to_be_in_viewport()
    expect(page.get_by_role("searchbox")).to_be_focused()
    # Names and positions are looked through too, and nothing is said to be nothing.
    page.get_by_role("searchbox").fill("holds that build services")
    expect(found).to_have_text("1 found")
    page.get_by_role("searchbox").fill("nothing of the kind")
    expect(found).to_have_text("Not found")
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_have_value("")


def test_the_answers_of_a_round_stand_side_by_side(stage: Stage, window: Open, long: str) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    page.get_by_role("button", name="Side by side").first.click()
    for size in (DESK, PHONE):
        resize(page, size)
        boxes = [speech(page, f"1/answer/{each}").bounding_box() for each in ("ann", "bob", "cid")]
        tops = [box["y"] for box in boxes if box]
        lefts = [box["x"] for box in boxes if box]
        assert len(set(tops)) == 1
        assert lefts == sorted(set(lefts))
        expect(speech(page, "1/answer/bob").locator(".words")).to_be_attached()
        assert overflow(page) <= 0


def test_the_rail_marks_what_is_read(stage: Stage, window: Open, long: str) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    page.get_by_role("button", name="Open all").click()
    rail = page.get_by_role("navigation", name="On this page")
    rail.get_by_role("link", name="Round 2").click()
    landed(page, "round-2")
    expect(rail.get_by_role("link", name="Round 2")).to_have_attribute("aria-current", "true")
    expect(rail.get_by_role("link", name="Discussion")).to_have_attribute("aria-current", "true")
    rail.get_by_role("link", name="Why").click()
    expect(rail.get_by_role("link", name="Why")).to_have_attribute("aria-current", "true")


def test_who_moved_is_a_picture_that_says_itself_in_words(
    stage: Stage, window: Open, long: str
) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    course = page.locator(".course")
    expect(course).to_contain_text("Who moved, and when")
    bob = course.get_by_role("row", name="Bob")
    expect(bob.get_by_role("cell")).to_have_count(2)
    expect(bob).to_contain_text("moved by Cid")
    expect(course.get_by_role("row", name="Ann").get_by_role("cell")).to_have_count(1)
    table = course.get_by_role("table")
    expect(table).to_have_accessible_description(
        re.compile("Bob: from round 1 Build services; from round 2 Build one program")
    )


def test_twelve_seats_and_forty_rounds_stay_readable(stage: Stage, window: Open) -> None:
    names = tuple(f"Expert {letter}" for letter in "ABCDEFGHIJKL")
    turns = {(8, 3), (21, 5), (33, 3)}

    def choose(round_: int, place: int) -> str:
        return f"o{1 + sum(r <= round_ and p == place for r, p in turns) % 2}"

    found = stage.put("rt_4ead1240", read_at_length(names, 40, 30, choose=choose))
    page = window(viewport=DESK).page
    for size in (DESK, PHONE):
        resize(page, size)
        page.goto("about:blank")
        page.goto(stage.link(found))
        expect(page.locator(".course tbody tr")).to_have_count(12)
        # Only where somebody moved is a column.
        expect(page.locator(".course thead th")).to_have_text(
            [
                "Expert",
                "Rounds 1 to 7",
                "Rounds 8 to 20",
                "Rounds 21 to 32",
                "Rounds 33 to 40",
            ]
        )
        assert overflow(page) <= 0
        page.goto(f"{page.url.split('#')[0]}#turn-38/critique/expert-k")
        landed(page, "turn-38/critique/expert-k")
        rail = page.get_by_role("navigation", name="On this page")
        rail.get_by_role("link", name="Round 17", exact=True).click()
        landed(page, "round-17")


@pytest.mark.parametrize(
    ("names", "filler", "language", "direction"),
    [
        (("张伟", "李娜", "王芳"), CHINESE, "zh", "ltr"),
        (("سارة", "خالد", "ليلى"), ARABIC, "ar", "rtl"),
    ],
    ids=["chinese", "arabic"],
)
def test_chinese_and_arabic_read_well(
    stage: Stage, window: Open, names: tuple[str, ...], filler: str, language: str, direction: str
) -> None:
    found = stage.put(f"rt_4ead{len(filler):04x}", read_at_length(names, 2, 300, filler))
    page = window(viewport=DESK).open(stage.link(found))
    line = page.locator(".speech .line").first
    line.click()
    words = page.locator(".speech .words").first
    for size in (DESK, PHONE):
        resize(page, size)
        expect(words).to_have_attribute("lang", language)
        expect(words).to_have_css("direction", direction)
        assert overflow(page) <= 0
        page.get_by_role("searchbox").fill("")
        expect(page.locator(".found")).not_to_have_text(re.compile(r"\d+ found"))
        page.get_by_role("searchbox").fill(filler.split("。")[0].split(".")[0])
        expect(page.locator(".found")).to_have_text(re.compile(r"\d+ found"))


def test_nothing_that_is_open_has_a_violation(
    stage: Stage, window: Open, axe_script: str, long: str
) -> None:
    page = window(viewport=PHONE).open(stage.link(long))
    page.get_by_role("button", name="Side by side").first.click()
    speech(page, "2/critique/bob").get_by_role("button").first.click()
    speech(page, "2/critique/bob").locator(".also > summary").click()
    page.get_by_text("What the host did").last.click()
    assert violations(page, axe_script, in_the_dark=False) == []
    resize(page, DESK)
    assert violations(page, axe_script) == []


def test_it_can_be_read_by_keyboard_alone(stage: Stage, window: Open, long: str) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    expect(page.locator(".speech").first).to_be_visible()
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.id")
    page.keyboard.press("j")
    second = page.evaluate("document.activeElement.id")
    assert first.startswith("turn-")
    assert second not in (first, "")
    page.keyboard.press("Enter")
    expect(page.locator("article.unfolded .words")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("article.unfolded")).to_have_count(0)
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.id") == first


def test_everything_that_was_said_is_on_paper(stage: Stage, window: Open, long: str) -> None:
    page = window(viewport=DESK).open(stage.link(long))
    expect(page.locator(".speech").first).to_be_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("article.speech .words")).to_have_count(8)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("article.speech .words")).to_have_count(0)


@pytest.mark.parametrize("motion", MOTIONS)
def test_whom_a_speech_means_is_a_chip_that_leads_there_in_every_way_it_is_written(
    stage: Stage, window: Open, motion: str
) -> None:
    seats = [seat("Ann"), seat("Data Engineer"), seat("张伟")]
    marked = (
        "Fraud first. [@data-engineer R1: partly] Two hold it [1/answer/ann; 1/answer/张伟]. "
        "[@Nobody R1] does not. A list [a; b] stays."
    )
    events: list[Event] = [opened(seats).model_copy(update={"procedure": "five-round"})]
    for each in seats:
        events += words(f"1/answer/{each.id}", each.id, long_speech(each.name, 1, 900))
    events += words("2/critique/ann", "ann", marked)
    events += words("0/synthesis/host", "host", "Drink tea [1/answer/张伟].")
    told = "So it is: [@Data Engineer R1: agree]."
    events.append(VerdictReached(verdict=Verdict(answer=told, author="m/host")))
    events.append(DiscussionClosed(status="concluded", stop_reason="verdict"))
    number = MOTIONS.index(motion)
    shown = stage.put(f"rt_4ead00a{number}", events)
    page = window(viewport=DESK, reduced_motion=motion).open(stage.link(shown))
    expect(page.locator("#why .cite")).to_have_text("Data Engineer, round 1")
    speech(page, "2/critique/ann").locator(".line").click()
    body = speech(page, "2/critique/ann").locator(".words")
    expect(body.locator("a.cite")).to_have_text(
        ["Data Engineer, round 1", "Ann, round 1", "张伟, round 1"]
    )
    assert " ".join(body.inner_text().split()) == (
        "Fraud first. Agrees in part with Data Engineer, round 1 Two hold it Ann, round 1 "
        "张伟, round 1. (Nobody, round 1) does not. A list [a; b] stays."
    )
    page.get_by_role("button", name="Open all").click()
    expect(speech(page, "0/synthesis/host").locator(".line .pos")).to_have_text("Drink tea.")
    for name, turn in (("Data Engineer", "1/answer/data-engineer"), ("张伟", "1/answer/张伟")):
        body.get_by_role("link", name=f"{name}, round 1").click()
        landed(page, f"turn-{turn}")
