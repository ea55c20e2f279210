"""Everything that a decision rests on can be reached from its page, by everybody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from roundtable.core.state import fold
from roundtable.surfaces.web.html_export import export_html

from .conftest import Open
from .decisions import QUOTED
from .stage import Stage
from .test_axe import violations
from .test_decision import DESK, PHONE, SIZES, first_of, having

pytestmark = pytest.mark.requirement("Z-34")


def test_the_sections_say_why_who_disagrees_what_would_change_it_and_what_is_to_be_done(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=DESK).open(stage.link(shown["decided"]))
    first_of(page)
    expect(page.locator("#why li")).to_have_count(2)
    expect(page.locator("#why h3").first).to_have_text("Services would multiply the weak part.")
    duel = page.locator("#dissent .duel")
    expect(duel).to_contain_text("DevOps Engineer")
    expect(duel).to_contain_text("The majority")
    expect(page.locator("#change")).to_contain_text("Rollback comes before speed.")
    expect(page.locator("#next")).to_contain_text("Ops")
    expect(page.locator("#next .none")).to_have_text("No owner named")
    expect(page.locator("#record")).to_contain_text("Selective testing is needed anyway.")
    moved = page.locator("#experts .exp > li", has_text="Customer Success Manager")
    expect(moved).to_contain_text("Moved")
    expect(moved).to_contain_text("Demands:")
    expect(page.locator("#experts .slope svg")).to_have_attribute(
        "aria-label", having("Customer Success Manager went from")
    )
    # Wide: beside the text. Narrow: after what is to be done.
    aside = page.locator("#experts").bounding_box()
    why = page.locator("#why").bounding_box()
    assert aside is not None
    assert why is not None
    assert aside["x"] > why["x"] + why["width"]
    page.set_viewport_size({"width": 390, "height": 844})
    below = page.locator("#experts").bounding_box()
    record = page.locator("#record").bounding_box()
    assert below is not None
    assert record is not None
    assert below["y"] > record["y"]


def test_every_citation_shows_its_quotation_on_hover_and_on_focus(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=DESK).open(stage.link(shown["decided"]))
    first_of(page)
    tip = page.locator(".tip")
    cites = page.locator(".cols a.cite[aria-describedby]")
    assert cites.count() >= 5
    for cite in cites.all():
        cite.scroll_into_view_if_needed()
        said = page.locator(f"[id='{cite.get_attribute('aria-describedby')}']").text_content()
        cite.hover()
        expect(tip).to_be_visible()
        words = tip.locator("q").inner_text()
        assert words
        assert words in (said or "")
        page.keyboard.press("Escape")
        expect(tip).to_have_count(0)
        page.mouse.move(0, 0)
        cite.focus()
        expect(tip.locator("q")).to_have_text(words)
        cite.blur()
        expect(tip).to_have_count(0)
    cites.first.hover()
    expect(tip).to_contain_text(QUOTED)
    expect(tip).to_contain_text("word for word in the speech")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_citation_leads_to_its_speech(
    stage: Stage, window: Open, shown: dict[str, str], motion: str
) -> None:
    page = window(viewport=DESK, reduced_motion=motion).open(stage.link(shown["decided"]))
    first_of(page)
    page.locator("#why a.cite").first.click()
    speech = page.locator('[id="turn-1/answer/devops-engineer"]')
    expect(speech).to_be_in_viewport()
    expect(page.locator(".tip")).to_have_count(0)


def test_a_citation_that_stands_in_a_fold_opens_it(stage: Stage, window: Open) -> None:
    page = window(viewport=DESK).open(stage.link("example:rails-monolith"))
    first_of(page)
    page.locator("#why a.cite").first.click()
    page.wait_for_function("CSS.highlights.has('quoted')")
    quoted = "[...CSS.highlights.get('quoted')][0].startContainer.parentElement"
    assert page.evaluate(f"{quoted}.closest('details') !== null"), "this one stands in a fold"
    assert page.evaluate(f"{quoted}.checkVisibility()")


def test_the_drawer_says_how_it_was_made_and_an_unknown_cost_is_not_zero(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=DESK).open(stage.link("example:rails-monolith"))
    opener = first_of(page).get_by_role("button", name="How this was made")
    opener.click()
    drawer = page.get_by_role("dialog", name="How this was made")
    for words in (
        "Weigh a decision",
        "Time and cost",
        "Who spoke with which model",
        "How the confidence came about",
        "Checks",
        "Notes",
        "Every call and its cost",
        "For support",
    ):
        expect(drawer).to_contain_text(words)
    cost = drawer.locator("#spent dd").nth(3)
    expect(cost).to_have_text("unknown (12 calls of unknown cost)")
    expect(drawer).not_to_contain_text("$0")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(opener).to_be_focused()
    page.goto(stage.link(shown["decided"]))
    first_of(page)
    assert page.get_by_text("100 %").count() + page.locator("meter").count() == 0


def test_a_work_is_read_copied_and_downloaded(stage: Stage, window: Open) -> None:
    page = window(viewport=DESK).open(stage.link("example:lift-letter"))
    first_of(page)
    work = page.locator("#works .work")
    expect(work).to_contain_text("No lift in stairwell B")
    with page.expect_download() as coming:
        work.get_by_role("button", name="Download").click()
    assert coming.value.suggested_filename.endswith(".md")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    work.get_by_role("button", name="Copy").click()
    expect(work.get_by_role("button", name="Copied")).to_be_visible()
    assert "No lift in stairwell B" in page.evaluate("navigator.clipboard.readText()")


def test_every_point_and_stance_is_in_one_fold_and_a_link_opens_it(
    stage: Stage, window: Open
) -> None:
    page = window(viewport=DESK).open(stage.link("example:rails-monolith"))
    first_of(page)
    points = page.locator(".points > li")
    expect(points.first).to_be_hidden()
    page.locator(".rail").get_by_role("link", name="All points").click()
    expect(points.first).to_be_visible()
    expect(page.locator(".picture svg[role=img]").first).to_be_visible()


# For everybody


@pytest.mark.requirement("I-22")
@pytest.mark.parametrize("name", ["decided", "split", "absent", "interrupted", "arabic"])
def test_no_state_has_a_violation_at_any_size(
    stage: Stage, window: Open, shown: dict[str, str], axe_script: str, name: str
) -> None:
    page = window(viewport=DESK).open(stage.link(shown[name]))
    first_of(page)
    dark = PHONE if name in ("split", "interrupted") else DESK
    for size in SIZES:
        page.set_viewport_size(size)
        assert violations(page, axe_script, in_the_dark=size == dark) == []
    page.locator(".foot").get_by_role("button", name="How this was made").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page, axe_script) == []


@pytest.mark.requirement("I-22")
def test_all_of_it_can_be_done_with_the_keyboard_alone(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=DESK).open(stage.link(shown["decided"]))
    first_of(page)
    reached: set[str] = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim()"))
        if page.locator("#why a.cite").first.evaluate("e => e === document.activeElement"):
            break
    assert {"Whole question", "How this was made", "1 more vote", "Why"} <= reached
    expect(page.locator(".tip")).to_contain_text(QUOTED)
    page.keyboard.press("Enter")
    expect(page.locator('[id="turn-1/answer/devops-engineer"]')).to_be_in_viewport()
    page.keyboard.press("v")
    expect(page.locator("#decision")).to_be_focused()


def test_paper_begins_as_the_page_does_and_ends_with_the_quotations(
    stage: Stage, window: Open, shown: dict[str, str]
) -> None:
    page = window(viewport=DESK).open(stage.link(shown["decided"]))
    first_of(page)
    notes = page.locator(".paper-notes")
    expect(notes).to_be_hidden()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for gone in (".bar", ".rail", "#decision .link.how"):
        expect(page.locator(gone)).to_be_hidden()
    expect(page.locator(".band")).to_be_visible()
    expect(page.locator(".band .votes").first).to_have_css("print-color-adjust", "exact")
    expect(notes).to_contain_text(QUOTED)
    numbers = page.locator("#why a.cite sup").all_text_contents()
    assert numbers == ["1", "2"]
    assert notes.locator("li").count() >= 3
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_exported_file_shows_the_same_decision(
    stage: Stage, window: Open, shown: dict[str, str], axe_script: str, tmp_path: Path
) -> None:
    served = window(viewport=DESK).open(stage.link(shown["decided"]))
    first_of(served)
    records = stage.do(lambda: stage.app.service.records(shown["decided"]))
    file = tmp_path / "page.html"
    file.write_text(export_html(records, fold(records), "9"), "utf-8")
    guest = window(viewport=DESK, offline=True)
    saved = guest.open(file.as_uri())
    first_of(saved)
    for place in ("#decision", "#why", "#dissent", "#change", "#next", "#experts"):
        expect(saved.locator(place)).to_have_text(
            served.locator(place).inner_text().strip(), use_inner_text=True
        )
    saved.locator("#why a.cite").first.hover()
    expect(saved.locator(".tip")).to_contain_text(QUOTED)
    saved.locator("#why a.cite").first.click()
    expect(saved.locator('[id="turn-1/answer/devops-engineer"]')).to_be_in_viewport()
    assert guest.violations == []
    assert violations(saved, axe_script) == []


def test_the_answer_is_awaited_before_the_discussion_is_shown(stage: Stage, window: Open) -> None:
    page = window().page
    held: list[Route] = []
    page.route("**/derived", lambda route: held.append(route))
    page.goto(stage.link("example:streaming-etl"))
    expect(page.locator("#decision")).to_contain_text("Opening the decision")
    expect(page.locator("h1.q")).to_be_visible()
    expect(page.locator("#discussion")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.locator("#discussion")).to_be_visible()
    expect(page.locator("#decision")).not_to_contain_text("Opening the decision")


def test_an_example_cannot_be_asked_further_but_its_question_can_be_asked(
    stage: Stage, window: Open
) -> None:
    page = window().open(stage.home)
    page.goto(stage.link("example:streaming-etl"))
    expect(page.locator("#follow-up")).to_be_visible()
    expect(page.locator("#further")).to_have_count(0)
    asked = page.locator("h1.q").inner_text()[:30]
    page.get_by_role("button", name="Ask this question yourself").click()
    expect(page.locator("textarea").first).to_have_value(re.compile(re.escape(asked.split()[0])))
