"""The page on a phone and on a wall, with many people, many rounds and many ways to write."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import ViewportSize, expect

from .conftest import Open
from .stage import Stage, overflow, resize
from .tables import KINDS

PHONE: ViewportSize = {"width": 360, "height": 740}
WALL: ViewportSize = {"width": 2560, "height": 1400}
UNFOLD = """async (folds) => {
  for (const each of document.querySelectorAll(`:is(${folds}):not([open]) > summary`))
    if (each.checkVisibility()) each.click();
  // What is in them is drawn when they have told that they are open.
  for (let n = 0; n < 3; n += 1) await new Promise(requestAnimationFrame);
}"""
"""Open every fold that can be seen and is not open yet."""


@pytest.fixture(scope="module")
def shown(stage: Stage) -> dict[str, str]:
    return {
        kind: stage.put(f"rt_1a{number:06x}", tell())
        for number, (kind, tell) in enumerate(KINDS.items(), 1)
    }


@pytest.mark.requirement("I-22")
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wider_than_a_phone_or_a_wall(
    stage: Stage, shown: dict[str, str], window: Open, kind: str
) -> None:
    # Every other kind is opened on a wall, and is brought to a phone after that.
    sizes = (PHONE, WALL)[:: -1 if list(KINDS).index(kind) % 2 else 1]
    page = window(viewport=sizes[0]).open(stage.link(shown[kind]))
    expect(page.locator("#decision .answer")).to_be_visible()
    for size in sizes:
        resize(page, size)
        page.evaluate(UNFOLD, "details:not(.menu)")
        assert overflow(page) <= 0, size
        page.locator(".foot").get_by_role("button", name="How this was made").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.evaluate(UNFOLD, "dialog details")
        assert overflow(page) <= 0, size
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.requirement("Z-14", "I-22")
def test_the_pictures_of_positions_are_drawn_and_described(
    stage: Stage, shown: dict[str, str], window: Open
) -> None:
    page = window().open(stage.link(shown["usual"]))
    page.locator(".whole-record > summary").click()
    pictures = page.locator(".picture svg[role=img]")
    expect(pictures).to_have_count(3)
    titles = pictures.locator("> title").all_text_contents()
    assert titles[0] == "Opinion map"
    expect(page.locator(".points > li")).to_have_count(3)
    expect(page.locator(".stance", has_text="Cid").first).to_contain_text("✗→✓")
    page.locator(".foot").get_by_role("button", name="How this was made").click()
    expect(page.locator("#talk-changed")).not_to_be_empty()


def test_a_citation_of_the_verdict_leads_to_the_speech(
    stage: Stage, shown: dict[str, str], window: Open
) -> None:
    page = window().open(stage.link(shown["usual"]))
    page.locator("#why .cite").first.click()
    speech = page.locator('[id="turn-3/answer/ann"]')
    expect(speech).to_be_in_viewport()
    expect(speech).to_be_focused()


def test_a_link_to_a_speech_opens_at_that_speech(
    stage: Stage, shown: dict[str, str], window: Open
) -> None:
    page = window().open(f"{stage.link(shown['forty rounds'])}#turn-37/answer/bob")
    expect(page.locator('[id="turn-37/answer/bob"]')).to_be_in_viewport()


@pytest.mark.requirement("I-22")
def test_it_can_be_read_with_the_keyboard(
    stage: Stage, shown: dict[str, str], window: Open
) -> None:
    page = window().open(stage.link(shown["usual"]))
    expect(page.locator("#decision .answer")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the discussion")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#discussion")).to_be_focused()
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.id")
    page.keyboard.press("j")
    second = page.evaluate("document.activeElement.id")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.id") == first
    assert first != second
    assert first.startswith("turn-")
    page.keyboard.press("v")
    expect(page.locator("#decision")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("round 2 bob")
    expect(page.locator(".found")).to_have_text("1 found")
    # Letters that are typed are letters, and no commands.
    expect(page.locator("#find")).to_have_value("round 2 bob")


def test_a_closed_window_does_not_take_the_focus_from_what_comes_next(
    stage: Stage, shown: dict[str, str], window: Open
) -> None:
    page = window().open(stage.link(shown["usual"]))
    expect(page.locator("#decision .answer")).to_be_visible()
    page.keyboard.press("v")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    focused = page.evaluate(
        """async () => {
             document.querySelector("dialog .close").click();
             while (document.querySelector("dialog")) await Promise.resolve();
             document.getElementById("find").focus();
             for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
             await new Promise((later) => setTimeout(later, 100));
             return document.activeElement.id;
           }"""
    )
    assert focused == "find"


def test_the_theme_is_the_systems_until_one_is_chosen_and_then_stays(
    stage: Stage, shown: dict[str, str], window: Open
) -> None:
    page = window(color_scheme="dark").open(stage.link(shown["usual"]))
    background = "getComputedStyle(document.body).backgroundColor"
    expect(page.locator("h1")).to_be_visible()
    dark = page.evaluate(background)
    page.get_by_role("button", name="Theme: as the system has it").click()
    light = page.evaluate(background)
    assert light != dark
    page.reload()
    expect(page.locator("h1")).to_be_visible()
    assert page.evaluate(background) == light


def test_everything_is_printed(stage: Stage, shown: dict[str, str], window: Open) -> None:
    page = window().open(stage.link(shown["forty rounds"]))
    expect(page.locator("#decision .answer")).to_be_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("article.speech")).to_have_count(122)
    expect(page.locator(".bar")).to_be_hidden()


def test_who_prints_before_the_answer_is_there_is_told_on_paper(
    stage: Stage, shown: dict[str, str], window: Open
) -> None:
    visitor = window()
    held: list[Any] = []
    visitor.page.route("**/derived", lambda route: held.append(route))
    page = visitor.open(stage.link(shown["usual"]))
    expect(page.locator(".first.coming")).to_be_visible()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".first.coming")).to_contain_text("Print it again.")
    expect(page.locator(".coming > .opening")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    for each in held:
        each.continue_()
    expect(page.locator("#decision .answer")).to_be_visible()


def test_who_prints_at_once_gets_all_of_it_and_then_the_page_as_it_was(
    stage: Stage, shown: dict[str, str], window: Open
) -> None:
    page = window().open(stage.link(shown["usual"]))
    expect(page.locator("#decision .answer")).to_be_visible()
    # In one task, as printing does: whatever is not drawn by then is not on the paper.
    told = page.evaluate(
        """async () => {
          dispatchEvent(new Event("beforeprint"));
          await null; await null; await null; await null; await null; await null;
          const all = document.querySelectorAll("article.speech").length;
          const open = document.querySelectorAll("article.speech > .said > .words").length;
          return [all, open];
        }"""
    )
    assert told[0] > 0
    assert told[1] >= told[0] - 1
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("article.speech > .said")).to_have_count(0)
