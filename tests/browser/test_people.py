"""People at the table: whoever holds a seat speaks from the page, whoever chairs leads from it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from roundtable.core.events import DiscussionClosed, MaterialAdded, RoundsExtended
from roundtable.core.state import State
from roundtable.procedures.opening import OpenRequest

from .conftest import Open
from .stage import PLACES, Stage


def act(page: Page, name: str) -> None:
    """One of the acts behind the button for what is seldom needed."""
    page.locator(".dock .more summary").click()
    page.get_by_role("button", name=name, exact=True).click()


def test_a_person_is_called_speaks_from_the_page_and_is_heard_by_all(
    stage: Stage, window: Open
) -> None:
    state = stage.meeting()
    watching = window().open(stage.link(state.discussion_id))
    mine = window().open(stage.link(state.discussion_id, "seat", "milk"))
    box = mine.get_by_role("region", name="Your turn")
    dock = mine.get_by_role("region", name="Controls")
    expect(dock).to_contain_text("You have a seat here, and are called")
    expect(box).to_have_count(0)
    stage.say(state, "tea", "Tea.")
    expect(box).to_contain_text("It is your turn.")
    expect(box).to_contain_text("No hurry")
    expect(mine.locator(".meta .chip").first).to_have_text("Your turn")
    expect(mine).to_have_title(re.compile("^● Your turn"))
    box.get_by_role("textbox", name="Your speech").fill("Milk, with *either* of them.")
    box.get_by_role("button", name="Speak").click()
    for page in (mine, watching):
        expect(page.locator("article.speech .pos").nth(1)).to_have_text(
            "Milk, with either of them."
        )
    expect(mine).not_to_have_title(re.compile("Your turn"))
    assert stage.read(state).speeches[1].model == "outside"


@pytest.mark.requirement("Z-22")
def test_a_person_declares_in_the_fields_of_its_turn(stage: Stage, window: Open) -> None:
    state = stage.meeting("Should we serve tea?", max_rounds=2)
    first = window().open(stage.link(state.discussion_id, "seat", "tea"))
    box = first.get_by_role("region", name="Your turn")
    box.get_by_label("Your speech").fill("I would.")
    expect(box).to_contain_text("heard, and not counted")
    ballot = box.get_by_role("group", name="Should we serve tea?")
    ballot.get_by_label("yes", exact=True).check()
    expect(box).not_to_contain_text("heard, and not counted")
    box.get_by_label("What you would do").fill("Serve it at four.")
    box.get_by_text("More to declare").click()
    box.get_by_label("Conditions without which").fill("There is milk.")
    box.get_by_label("How sure you are").fill("70")
    box.get_by_label("Claims that the others").fill("Tea is cheap.")
    box.get_by_role("button", name="Speak").click()
    expect(first.locator(".told")).to_contain_text("you hold o1")
    said = stage.read(state).speeches[0].declaration
    assert said is not None
    assert [(vote.on, vote.choice) for vote in said.votes] == [("d1", "o1")]
    assert (said.position, said.confidence) == ("Serve it at four.", 70)
    assert [(each.text, each.kind) for each in said.conditions] == [("There is milk.", "demand")]
    assert said.new_points == ("Tea is cheap.",)

    second = window().open(stage.link(state.discussion_id, "seat", "milk"))
    other = second.get_by_role("region", name="Your turn")
    other.get_by_label("Your speech").fill("I would not.")
    ballot = other.get_by_role("group", name="Should we serve tea?")
    ballot.get_by_label("no", exact=True).check()
    ballot.get_by_label("What you think of: yes").select_option("would oppose it")
    point = other.get_by_role("group", name="Tea is cheap.")
    point.get_by_label("disagree", exact=True).check()
    point.get_by_label("Why").fill("Not ours.")
    other.get_by_role("button", name="Speak").click()
    expect(second.locator(".told")).to_contain_text("reject o1")
    said = stage.read(state).speeches[1].declaration
    assert said is not None
    assert (said.votes[0].choice, said.votes[0].rejects) == ("o2", ("o1",))
    assert [(s.id, s.stance, s.text) for s in said.stances] == [("p1", "disagree", "Not ours.")]

    # In the next round the change of a choice asks for its argument.
    expect(box).to_contain_text("So far you hold: yes")
    box.get_by_label("Your speech").fill("You have convinced me.")
    ballot = box.get_by_role("group", name="Should we serve tea?")
    ballot.get_by_label("no", exact=True).check()
    box.get_by_label("Which argument moved you?").fill("Ours is dear.")
    box.get_by_label("Whose was it?").select_option("Milk")
    box.get_by_role("button", name="Speak").click()
    expect(first.locator(".told")).to_contain_text("you hold o2")
    said = stage.read(state).speeches[2].declaration
    assert said is not None
    assert (said.votes[0].before, said.votes[0].choice) == ("o1", "o2")
    assert [(each.participant, each.what) for each in said.moved_by] == [("milk", "Ours is dear.")]


@pytest.mark.requirement("Z-22")
def test_a_person_may_abstain_and_a_refused_declaration_stays_in_the_page(
    stage: Stage, window: Open
) -> None:
    state = stage.meeting("Should we serve tea?")
    mine = window().open(stage.link(state.discussion_id, "seat", "tea"))
    box = mine.get_by_role("region", name="Your turn")
    box.get_by_label("Your speech").fill("Hm.")
    ballot = box.get_by_role("group", name="Should we serve tea?")
    ballot.get_by_label("Something else").check()
    box.get_by_role("button", name="Speak").click()
    expect(box.get_by_role("alert")).to_contain_text("position is missing")
    expect(box.get_by_label("Your speech")).to_have_value("Hm.")
    expect(ballot.get_by_label("Something else")).to_be_checked()
    box.get_by_label("I take no position at all").check()
    box.get_by_label("Why?").fill("I sell tea.")
    box.get_by_role("button", name="Speak").click()
    expect(mine.locator(".told")).to_contain_text("You abstain: I sell tea.")
    declared = stage.read(state).speeches[0].declaration
    assert declared is not None
    assert declared.abstain == "I sell tea."


@pytest.mark.requirement("Z-25")
def test_the_host_says_later_how_it_turned_out(stage: Stage, window: Open) -> None:
    state = stage.meeting("Should we serve tea?", max_rounds=1)
    for who in ("tea", "milk"):
        stage.say(state, who, "Yes.")
    stage.do(lambda: stage.app.service.conclude(state.discussion_id, "Serve it."))
    assert stage.read(state).closed is not None
    chair = window().open(stage.link(state.discussion_id, "host"))
    watching = window().open(stage.link(state.discussion_id))
    expect(watching.locator("#decision")).to_be_visible()
    expect(watching.get_by_role("button", name="Say how it turned out")).to_have_count(0)
    chair.get_by_role("button", name="Say how it turned out").click()
    dialog = chair.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Record it")).to_be_disabled()
    dialog.get_by_label("mixed").check()
    dialog.get_by_label("What came of it").fill("Half of them liked it.")
    dialog.get_by_role("button", name="Record it").click()
    expect(chair.locator("#decision .outcome")).to_have_text(
        "It turned out mixed. Half of them liked it."
    )
    watching.reload()
    expect(watching.locator("#decision .outcome")).to_contain_text("turned out mixed")
    expect(chair.get_by_role("button", name="It turned out otherwise")).to_be_visible()


def test_what_a_person_has_typed_survives_a_reload(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    mine = window().open(stage.link(state.discussion_id, "seat", "tea"))
    words = mine.get_by_role("textbox", name="Your speech")
    words.fill("Half a thought")
    mine.reload()
    expect(words).to_have_value("Half a thought")


def test_the_host_pauses_resumes_and_stops(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    chair = window().open(stage.link(state.discussion_id, "host"))
    seat = window().open(stage.link(state.discussion_id, "seat", "tea"))
    controls = chair.get_by_role("group", name="Lead the discussion")
    controls.get_by_role("button", name="Pause").click()
    pill = chair.locator(".meta .chip").first
    expect(pill).to_have_text("Paused")
    expect(seat.locator(".meta .chip").first).to_have_text("Paused")
    expect(seat.get_by_role("region", name="Your turn")).to_have_count(0)
    controls.get_by_role("button", name="Go on").click()
    expect(pill).to_have_text("Live")
    expect(seat.get_by_role("region", name="Your turn")).to_contain_text("It is your turn.")
    act(chair, "Stop")
    dialog = chair.get_by_role("dialog")
    dialog.get_by_label("Why").fill("It is late.")
    dialog.get_by_role("button", name="Stop it").click()
    expect(pill).to_have_text("Stopped")
    expect(chair.locator("#decision")).to_contain_text("it is late.")
    closed = stage.read(state).closed
    assert isinstance(closed, DiscussionClosed)


def test_the_host_remarks_adds_a_document_skips_and_extends(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    chair = window().open(stage.link(state.discussion_id, "host"))
    controls = chair.get_by_role("group", name="Lead the discussion")
    dialog = chair.get_by_role("dialog")

    controls.get_by_role("button", name="Ask or remark").click()
    dialog.get_by_role("textbox").fill("What about water?")
    dialog.get_by_role("button", name="Say it").click()
    expect(chair.locator("article.speech .pos")).to_have_text(["What about water?"])

    controls.get_by_role("button", name="Add a document").click()
    dialog.get_by_label("Where it comes from").fill("menu.txt")
    dialog.get_by_label("or its words").fill("Water is free.")
    dialog.get_by_role("button", name="Put it on the table").click()
    expect(dialog).to_have_count(0)

    act(chair, "Skip a turn")
    dialog.get_by_role("button", name="Do without it").click()
    expect(chair.locator("article.speech", has_text="No answer")).to_be_visible()

    act(chair, "More rounds")
    dialog.get_by_label("How many more").fill("2")
    dialog.get_by_role("button", name="Give them").click()
    expect(chair.locator(".meta").first).to_contain_text("2 extra rounds")

    assert [s.text for s in stage.read(state).speeches] == ["What about water?"]
    events = [r.event for r in stage.do(lambda: stage.app.service.records(state.discussion_id))]
    assert [e.material.text for e in events if isinstance(e, MaterialAdded)] == ["Water is free."]
    assert [e.rounds for e in events if isinstance(e, RoundsExtended)] == [2]


def test_a_refusal_is_told_with_what_to_do_and_nothing_is_lost(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    chair = window().open(stage.link(state.discussion_id, "host"))
    act(chair, "More rounds")
    dialog = chair.get_by_role("dialog")
    dialog.get_by_label("How many more").evaluate("field => field.removeAttribute('max')")
    dialog.get_by_label("How many more").fill("99")
    dialog.get_by_role("button", name="Give them").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Between 1 and 20")
    expect(dialog.get_by_label("How many more")).to_have_value("99")


@pytest.mark.requirement("I-21")
def test_who_only_watches_can_do_nothing_else(stage: Stage, window: Open) -> None:
    state = stage.meeting()
    page = window().open(stage.link(state.discussion_id))
    expect(page.locator("h1")).to_be_visible()
    expect(page.get_by_role("group", name="Lead the discussion")).to_have_count(0)
    expect(page.get_by_role("region", name="Your turn")).to_have_count(0)


@pytest.mark.requirement("Z-34")
def test_who_leads_takes_up_a_discussion_that_nobody_drives_any_more(
    stage: Stage, window: Open
) -> None:
    request = OpenRequest(
        topic="Who goes on?", options={"all": "scripted/echo", "quick": True}, procedure="council"
    )
    state = stage.do(lambda: stage.app.service.open(request))
    page = window().open(stage.link(state.discussion_id, "host"))
    expect(page.locator(".meta .chip").first).to_have_text("Interrupted")
    watching = window().open(stage.link(state.discussion_id))
    expect(watching.locator(".meta .chip").first).to_have_text("Interrupted")
    expect(watching.get_by_role("button", name="Go on")).to_have_count(0)
    page.get_by_role("button", name="Go on").first.click()
    for each in (page, watching):
        expect(each.locator(".meta .chip").first).not_to_have_text("Interrupted")
        expect(each.locator(".dock")).to_have_count(0)


@pytest.mark.requirement("Z-34")
def test_the_owner_who_holds_a_seat_leads_too_and_speaks_as_either(
    stage: Stage, window: Open
) -> None:
    state = stage.meeting("Who leads?")
    page = window().open(stage.home)
    expect(page.locator("h1, h2").first).to_be_attached()
    page.goto(stage.link(state.discussion_id, "seat", "tea"))
    turn = page.get_by_role("region", name="Your turn")
    controls = page.get_by_role("group", name="Lead the discussion")
    expect(turn).to_contain_text("It is your turn.")
    controls.get_by_role("button", name="Ask or remark").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("As the host.")
    page.get_by_role("button", name="Say it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    turn.get_by_label("Your speech").fill("As tea.")
    turn.get_by_role("button", name="Speak").click()
    expect(turn).to_have_count(0)
    assert [(s.participant, s.text) for s in stage.read(state).speeches] == [
        (state.start.host.id, "As the host."),
        ("tea", "As tea."),
    ]
    # And speaks for others who are from outside, without leaving the page.
    controls.get_by_role("button", name="Speak for Milk").click()
    turn.get_by_label("Your speech").fill("As milk.")
    turn.get_by_role("button", name="Speak").click()
    expect(turn).to_have_count(0)
    assert stage.read(state).speeches[-1].participant == "milk"


def with_a_model(stage: Stage, topic: str) -> State:
    """Tea is called first, and a model after that."""
    milk = {"profile": "milk", "role": "critic", "model": "scripted/echo"}
    return stage.meeting(topic, participants=[PLACES[0], milk], max_rounds=1)


def test_whoever_is_waited_for_only_so_long_sees_how_long(stage: Stage, window: Open) -> None:
    state = with_a_model(stage, "How long is tea waited for?")
    stage.driven(state.discussion_id)
    mine = window().open(stage.link(state.discussion_id, "seat", "tea"))
    box = mine.get_by_role("region", name="Your turn")
    expect(box.get_by_role("timer")).to_contain_text("left to speak")
    expect(box).not_to_contain_text("No hurry")


def test_what_nobody_drives_says_so_and_words_take_it_up_again(stage: Stage, window: Open) -> None:
    state = with_a_model(stage, "Who drives this one?")
    mine = window().open(stage.link(state.discussion_id, "seat", "tea"))
    expect(mine.locator(".meta .chip").first).to_have_text("Interrupted")
    box = mine.get_by_role("region", name="Your turn")
    box.get_by_role("textbox", name="Your speech").fill("Tea.")
    box.get_by_role("button", name="Speak").click()
    expect(mine.locator("article.speech").nth(1)).to_be_attached()


def test_the_row_of_ones_turn_leads_to_the_form_of_ones_seat(stage: Stage, window: Open) -> None:
    state = stage.meeting("Where is the form of my seat?")
    page = window().open(stage.link(state.discussion_id, "seat", "tea"))
    expect(page.get_by_role("region", name="Your turn")).to_be_visible()
    page.goto(stage.home)
    page.locator(".row").filter(has_text="the form of my seat").get_by_role("link").click()
    expect(page.get_by_role("region", name="Your turn")).to_contain_text("It is your turn.")


def test_whoever_is_waited_for_at_a_table_that_nobody_drives_is_in_its_first_round(
    stage: Stage, window: Open
) -> None:
    held = stage.meeting("How many reserve days?", max_rounds=2)
    page = window().open(stage.link(held.discussion_id))
    expect(page.locator(".live")).to_contain_text("Round 1 of 2: discussion")
    expect(page.locator(".live")).to_contain_text("Waiting for Tea")
    expect(page.get_by_text("The table is being set")).to_have_count(0)
