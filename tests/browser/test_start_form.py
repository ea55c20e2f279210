"""Starting in the browser: one box, plain words, seats that can be changed, what it takes before
anything begins. What is chosen comes to the service under the names that each procedure gave."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, Response, Route, expect

from .conftest import Open
from .stage import Stage, Visitor, overflow

MODEL = "scripted/echo"
QUESTION = "Should we drink tea or coffee in the office?"
PHONE = {"width": 390, "height": 844}
pytestmark = pytest.mark.requirement("Z-34")


def form(stage: Stage, guest: Visitor, question: str = QUESTION) -> Page:
    page = guest.open(stage.home)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto(f"{stage.url}/#new")
    box = page.get_by_role("textbox", name="What do you want to decide?")
    expect(box).to_be_focused()
    box.fill(question)
    return page


def asked(answer: Response, path: str = "/api/estimate") -> dict[str, Any]:
    if not answer.url.endswith(path):
        return {}
    body: dict[str, Any] = json.loads(answer.request.post_data or "{}")
    return body


def estimated(page: Page, act: Callable[[], object], when: Callable[[Any], bool]) -> dict[str, Any]:
    """What is asked for once `act` was done."""
    with page.expect_response(lambda each: bool(asked(each)) and when(asked(each))) as found:
        act()
    assert found.value.status == 200, found.value.text()
    return asked(found.value)


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("way", "label", "typed", "name", "sent", "model"),
    [
        ("Weigh a decision", "Choices", "tea, coffee", "choices", "tea, coffee", {}),
        ("Detailed plan", "Depth", "pre-ac", "depth", "pre-ac",
         {"models": [MODEL] * 3 + ["outside"]}),
        ("A meeting I take part in", "Rounds", "2", "rounds", 2, {"models": [MODEL]}),
        ("Three angles", "Template", "decision", "template", "decision", {"engineer": MODEL}),
        ("Work the table plans itself", "Choices", "tea, coffee", "choices", "tea, coffee",
         {"models": [MODEL]}),
    ],
)  # fmt: skip
def test_what_is_chosen_in_the_form_is_asked_for_by_its_name(
    stage: Stage,
    window: Open,
    way: str,
    label: str,
    typed: str,
    name: str,
    sent: object,
    model: dict[str, Any],
) -> None:
    guest = window()
    page = form(stage, guest)
    page.get_by_role("radio", name=way).check()
    page.get_by_text("More: options to vote on").click()
    page.get_by_label("One model for all experts").fill(MODEL)
    if way in ("Weigh a decision", "Detailed plan"):
        expect(page.locator(".cast li")).to_have_count(3)
        page.get_by_role("button", name="Take a seat yourself").click()
    elif way == "Three angles":
        page.get_by_label("Model for Scholar").select_option("outside")
    expect(page.locator(".sum")).to_contain_text("about")
    field = page.get_by_label(label).first

    def fill() -> None:
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(typed)
        else:
            field.fill(typed)

    options = estimated(page, fill, lambda body: name in body["options"])["options"]
    assert options[name] == sent
    assert {each: options.get(each) for each in model} == model, options
    mine: dict[str, Callable[[], bool]] = {
        "Weigh a decision": lambda: (
            options["models"][-1] == "outside" and "You" in options["experts"]
        ),
        "Detailed plan": lambda: "You" in options["experts"],
        "A meeting I take part in": lambda: (
            options["join"] == "You" and len(options["participants"]) > 1
        ),
        "Three angles": lambda: options["scholar"] == "outside",
        "Work the table plans itself": lambda: "outside" not in str(options),
    }
    assert mine[way](), options
    assert guest.violations == []


def _with_a_scripted_model(route: Route) -> None:
    """They are offered only where one is the default."""
    answer = route.fetch()
    route.fulfill(response=answer, json={**answer.json(), "scripted": {MODEL: "says it again"}})


def test_the_cast_is_proposed_with_reasons_and_can_be_changed(stage: Stage, window: Open) -> None:
    guest = window()
    guest.page.context.route(re.compile(r"/api/models$"), _with_a_scripted_model)
    page = form(stage, guest)
    seats = page.locator(".cast li")
    expect(seats).to_have_count(3)
    for place in range(3):
        expect(seats.nth(place).locator("p")).not_to_be_empty()
    first = seats.nth(0).locator("b").inner_text()
    page.get_by_role("button", name=f"Remove {first}").click()
    expect(seats).to_have_count(2)
    search = page.get_by_role("searchbox", name="Add an expert")
    search.fill("security")
    expect(page.locator(".hits button").first).to_be_visible()
    search.press("Enter")  # takes the first, and starts nothing
    expect(seats).to_have_count(3)
    expect(seats.nth(2).locator("b")).to_contain_text("Security")
    replaced = seats.nth(0).locator("b").inner_text()
    page.get_by_role("button", name=f"Replace {replaced}").click()
    by = page.get_by_role("searchbox", name=f"Replace {replaced} by")
    expect(by).to_be_focused()
    by.fill("lawyer")
    page.locator(".hits button").first.click()
    expect(seats).to_have_count(3)
    expect(seats.nth(0).locator("b")).not_to_have_text(replaced)
    page.get_by_role("button", name="Describe your own").click()
    page.get_by_label("Name", exact=True).fill("Beekeeper")
    page.get_by_label("In one sentence").fill("Asks what it does to the bees")
    page.get_by_label("In one sentence").press("Enter")
    expect(seats).to_have_count(4)
    body = estimated(
        page,
        lambda: page.get_by_label("Model for Beekeeper").select_option(MODEL),
        lambda body: MODEL in str(body["options"]),
    )
    assert body["options"]["experts"][-1] == "Beekeeper: Asks what it does to the bees"
    assert body["options"]["models"][-1] == MODEL
    assert len(body["options"]["models"]) == len(body["options"]["experts"]) == 4
    page.get_by_role("button", name="Propose anew").click()
    expect(seats).to_have_count(3)
    expect(seats.filter(has_text="Beekeeper")).to_have_count(0)


def test_documents_are_read_here_and_what_cannot_be_read_is_said(
    stage: Stage, window: Open
) -> None:
    page = form(stage, window())
    files = [
        {"name": "notes.md", "mimeType": "text/markdown", "buffer": "Tea is calm. 茶".encode()},
        {"name": "plan.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7"},
        {"name": "page.html", "mimeType": "text/html", "buffer": b"<h1>Hello</h1><p>Tea.</p>"},
        {"name": "latin.txt", "mimeType": "text/plain", "buffer": b"caf\xe9"},
        {"name": "odd.txt", "mimeType": "text/plain", "buffer": b"a\0b"},
        {"name": "empty.txt", "mimeType": "text/plain", "buffer": b" \n"},
        {"name": "huge.txt", "mimeType": "text/plain", "buffer": b"x" * (2 * 1024 * 1024 + 1)},
        {"name": "<img src=x onerror=alert(1)>.txt", "mimeType": "text/plain", "buffer": b"Hm."},
    ]
    body = estimated(
        page,
        lambda: page.locator(".drop input").set_input_files(files),  # type: ignore[arg-type]
        # What is said of those that cannot be read comes with the rest.
        lambda body: (len(body.get("context", [])), len(body.get("receipts", []))) == (3, 5),
    )
    assert [(each["source"], each["text"]) for each in body["context"]] == [
        ("notes.md", "Tea is calm. 茶"),
        ("page.html", "# Hello\n\nTea."),
        ("<img src=x onerror=alert(1)>.txt", "Hm."),
    ]
    refused = page.locator(".documents .refused")
    expect(refused).to_have_count(5)
    expect(refused.filter(has_text="plan.pdf")).to_contain_text(re.compile("damaged|extra"))
    expect(refused.filter(has_text="latin.txt")).to_contain_text("no text in UTF-8")
    expect(refused.filter(has_text="empty.txt")).to_contain_text("It is empty")
    expect(refused.filter(has_text="huge.txt")).to_contain_text("too large")
    for name in ("plan.pdf", "notes.md"):
        page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.locator(".documents li")).to_have_count(6)


def test_documents_that_are_too_much_together_are_not_sent(stage: Stage, window: Open) -> None:
    page = form(stage, window())
    files = [
        {"name": f"{n}.txt", "mimeType": "text/plain", "buffer": b"y" * 900_000} for n in range(3)
    ]
    body = estimated(
        page,
        lambda: page.locator(".drop input").set_input_files(files),  # type: ignore[arg-type]
        lambda body: body.get("left_out") == ["2.txt"],
    )
    assert [each["source"] for each in body["context"]] == ["0.txt", "1.txt"]
    expect(page.locator(".documents .refused")).to_contain_text("Together they are too large")


def test_dropped_files_are_taken(stage: Stage, window: Open) -> None:
    page = form(stage, window())
    dropped = page.evaluate_handle(
        """() => { const data = new DataTransfer();
        data.items.add(new File(["Dropped words."], "dropped.txt", { type: "text/plain" }));
        return data; }"""
    )
    page.locator(".box").dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.locator(".documents li")).to_contain_text("dropped.txt")


def test_likely_secrets_are_shown_and_the_asker_decides(stage: Stage, window: Open) -> None:
    secret = "AKIA" + "IOSFODNN7ABCDEFG"
    page = form(stage, window(), f"Should we rotate {secret} today?")
    told = page.get_by_role("group", name="This seems to contain secrets")
    expect(told).to_contain_text("the question, line 1")
    expect(told).not_to_contain_text(secret)
    expect(page.locator("aside.sum .alert")).to_have_count(1)
    expect(page.locator("aside.sum")).not_to_contain_text("config.toml")
    body = estimated(
        page,
        lambda: page.get_by_role("radio", name="Take them out").check(),
        lambda body: body.get("secrets") == "redact",
    )
    assert body["topic"]
    expect(page.locator(".sum")).to_contain_text("about")
    expect(page.get_by_role("radio", name="Send nothing")).to_be_visible()


def test_without_a_key_the_page_says_so_and_shows_recorded_decisions(
    stage: Stage, window: Open
) -> None:
    page = form(stage, window())
    expect(page.locator(".sum")).to_contain_text("Only the demonstration model is here")
    links = page.locator(".example-links a")
    expect(links).to_have_count(6)
    page.get_by_role("button", name="Add a key").first.click()
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("It is never shown again")
    dialog.get_by_role("button", name="Enter a key of OpenAI").click()
    field = dialog.get_by_label("Key of OpenAI", exact=True)
    expect(field).to_be_focused()
    assert field.get_attribute("type") == "password"
    field.fill("two words")
    dialog.get_by_role("button", name="Try and keep it").click()
    expect(dialog.get_by_role("alert")).to_contain_text("That is not a key")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Add a key").first).to_be_focused()


def test_the_limit_and_what_it_takes_are_told_before_the_start(stage: Stage, window: Open) -> None:
    page = form(stage, window())
    page.get_by_role("button", name="change").click()
    body = estimated(
        page,
        lambda: page.get_by_label("At most, calls").fill("2"),
        lambda body: "budget" in body,
    )
    assert body["budget"] == {"max_calls": 2}
    expect(page.locator(".sum")).to_contain_text("This may exceed the limits")
    expect(page.locator(".sum dd").nth(4)).to_contain_text("2 calls")


def test_a_decision_is_started_with_the_keyboard_alone(stage: Stage, window: Open) -> None:
    guest = window(reduced_motion="no-preference")
    page = guest.open(stage.home)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_role("textbox", name="What do you want to decide?")).to_be_focused()
    page.keyboard.type("Should a team of five build a monolith?")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="choose files")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name="Weigh a decision")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("radio", name="Three angles")).to_be_checked()
    start = page.get_by_role("button", name="Start the discussion")
    for _ in range(30):
        page.keyboard.press("Tab")
        if start.evaluate("each => each === document.activeElement"):
            break
    expect(start).to_be_focused()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/r/"))
    assert guest.violations == []
    # Nobody waits for what the demonstration model would say: it would go on for half a minute.
    started = page.request.get(page.url.split("#")[0].replace("/r/", "/api/r/")).json()
    stop = partial(stage.app.service.stop, started["discussion_id"], by="the test")
    assert stage.do(stop).stop_requested


def asks(question: str, body: dict[str, Any]) -> bool:
    return bool(body["topic"] == question)


def test_the_form_holds_other_scripts_and_long_words_on_a_phone(stage: Stage, window: Open) -> None:
    page = form(stage, window(viewport=PHONE))
    box = page.get_by_role("textbox", name="What do you want to decide?")
    for question in ("公司应该搬到上海吗？", "هل ننقل المكتب إلى القاهرة؟", "x" * 3_000):
        estimated(page, partial(box.fill, question), partial(asks, question))
        expect(page.locator(".sum")).to_contain_text("about")
        assert overflow(page) <= 0, question[:30]
        expect(page.get_by_role("button", name="Start the discussion")).to_be_in_viewport()


def test_a_question_that_is_too_long_is_told_and_not_sent(stage: Stage, window: Open) -> None:
    page = form(stage, window(), "y" * 100_001)
    expect(page.get_by_role("alert")).to_contain_text("at most 100,000 fit")
    expect(page.get_by_role("button", name="Start the discussion")).to_be_disabled()
