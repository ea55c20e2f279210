"""A discussion in a real browser while it happens: from its start to its verdict."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, expect

from roundtable.bootstrap import start
from roundtable.core.events import AttemptStarted, StageOpened
from roundtable.core.values import Prompt, Reservation
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.web.links import load_links
from tests.surfaces.web.house import MEETING, Process, house_settings
from tests.views.tables import mishaps, opened, seat

from .conftest import Open
from .stage import Stage, events_of, visitor


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
    page.get_by_role("radio", name="Quick opinions").check()
    page.get_by_text("More: options to vote on").click()
    page.get_by_label("One model for all experts").fill("scripted/slow")
    expect(page.locator(".estimate")).to_contain_text("about")
    page.get_by_role("button", name="Start the discussion").click()

    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Should a team of five build a monolith?"
    )
    expect(page.locator(".seat")).to_have_count(4)
    # The verdict comes by itself: nobody reloads.
    expect(page.locator("#decision .answer")).to_be_visible()
    expect(page.locator("article.speech:not(.draft)")).not_to_have_count(0)
    page.locator(".foot").get_by_role("button", name="How this was made").click()
    expect(page.locator("#spent dd").nth(1)).not_to_have_text("0")
    assert page.evaluate("performance.getEntriesByType('navigation').length") == 1
    assert guest.violations == []


@pytest.mark.requirement("D-61")
def test_a_speech_of_another_process_appears_without_reload(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    page = window().open(stage.link(state.discussion_id))
    expect(page.locator(".middle-of-table .who")).to_have_text("Waiting for Tea")
    stage.say(state, "tea", "Tea is **calm**.")
    speech = page.locator("article.speech", has_text="Tea is calm.")
    expect(speech.locator("strong")).to_have_text("calm")
    expect(speech.locator(".model")).to_have_text("spoken by hand")
    expect(page.locator("[aria-live=polite]").last).to_have_text("Tea has spoken.")


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
        expect(page.locator("article.speech .words")).to_have_text(
            ["First words.", "Second words.", "A remark of the chair."]
        )
    times = "els => els.map(e => e.getAttribute('datetime'))"
    assert early.locator("article time").evaluate_all(times) == late.locator(
        "article time"
    ).evaluate_all(times)


def test_words_grow_in_place_while_somebody_speaks(stage: Stage, window: Open) -> None:
    turn = "1/answer/ann"
    attempt = AttemptStarted(
        turn_id=turn,
        attempt=1,
        stage="answer",
        round=1,
        participant="ann",
        model="m/ann",
        purpose="answer",
        label="x",
        prompt=Prompt(template="t", version=1, hash="f", system="", user=""),
        reserved=Reservation(input_tokens=1, output_tokens=1, cost_usd=0),
    )
    found = stage.put(
        "rt_d7af7000",
        [
            opened([seat("Ann"), seat("Bob")]).model_copy(update={"procedure": "meeting"}),
            StageOpened(stage="discussion", round=1, turns=(turn,)),
            attempt,
        ],
    )
    stage.do(lambda: stage.ledger.take_lease(found, "somebody", ttl=600))
    page = window().open(stage.link(found))
    draft = page.locator("article.draft")
    expect(draft).to_contain_text("thinking")
    expect(page.locator(".seat.is-speaking")).to_have_count(1)

    def post(begins: int, words: str) -> None:
        said = {
            "discussion_id": found,
            "turn_id": turn,
            "participant": "ann",
            "attempt": 1,
            "begins": begins,
            "words": words,
        }
        answer = page.request.post(
            f"{stage.url}/api/drafts",
            data={"drafts": [said]},
            headers={"Authorization": f"Bearer {stage.links.owner_key}"},
        )
        assert answer.ok, answer.text()

    post(0, "Tea, ")
    expect(draft.locator(".growing")).to_have_text("Tea,")
    post(5, "because <b>it</b> keeps.")
    expect(draft.locator(".growing")).to_have_text("Tea, because <b>it</b> keeps.")


@pytest.mark.requirement("I-22")
def test_a_page_reconnects_when_its_server_was_killed_and_nothing_is_missed(
    browser: Browser, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    settings = house_settings(home)
    guest, context = visitor(browser)
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
            expect(page.locator("article.speech .words")).to_have_text(["Before the crash."])
            first.process.send_signal(signal.SIGKILL)
            first.process.wait(60)
            expect(page.locator(".banner")).to_contain_text("The connection is lost")
            portal.call(app.service.speak, state.discussion_id, "coffee", "While it was down.")
        with Process(home, "--port", str(port)):
            expect(page.locator("article.speech .words")).to_have_text(
                ["Before the crash.", "While it was down."]
            )
            expect(page.locator(".banner")).to_have_count(0)
            portal.call(app.service.speak, state.discussion_id, "tea", "And after.")
            expect(page.locator("article.speech .words")).to_have_text(
                ["Before the crash.", "While it was down.", "And after."]
            )
        context.close()
    assert guest.errors == []


def test_a_failed_discussion_says_why_and_what_to_do(stage: Stage, window: Open) -> None:
    found = stage.put("rt_fa11ed00", events_of(mishaps))
    page = window().open(stage.link(found))
    expect(page.locator("#decision .meta .chip").first).to_have_text("Failed")
    expect(page.locator("#decision")).to_contain_text("Check the models.")
    expect(page.locator(".badge.substituted")).to_have_text("in place of m/ann")
    expect(page.locator("article.speech", has_text="No answer in 90 s.")).to_contain_text(
        "Give it more time."
    )
    page.locator(".foot").get_by_role("button", name="How this was made").click()
    expect(page.locator("#notes")).to_contain_text("Ask again.")


@pytest.mark.requirement("D-77")
def test_the_conclusion_of_the_chair_is_shown_word_for_word(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    page = window().open(stage.link(state.discussion_id))
    expect(page.locator("h1")).to_be_visible()
    words = "We drink tea until noon, and coffee after it."
    stage.say(state, "tea", "Tea.")
    stage.say(state, "milk", "Both.")
    stage.do(lambda: stage.app.service.conclude(state.discussion_id, words))
    expect(page.locator("#decision .answer")).to_have_text(words)
    expect(page.locator("#decision .meta .chip").first).not_to_have_text("Live")
