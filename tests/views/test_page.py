"""What the page gets: every event without what is nobody's business, and what derives from all."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from roundtable.core.events import (
    DiscussionClosed,
    DiscussionPaused,
    Event,
    MaterialAdded,
    NewsPlanned,
    NewsTried,
    PointRaised,
    SpeechGiven,
    StageOpened,
    StanceTaken,
    StoredEvent,
    VerdictReached,
)
from roundtable.core.state import State, fold
from roundtable.core.values import (
    OUTSIDE_SPEAKER,
    Dissent,
    Material,
    NewsChannel,
    NewsPlan,
    Participant,
    Verdict,
)
from roundtable.procedures.opening import OpenRequest
from roundtable.views.page import derived, headline, page_event
from tests.rehearsal import Table, run_in_virtual_time

from .hostile import TEXTS
from .pages import parsed
from .tables import NOON, call, long_table, mishaps, opened, seat, speech, told

ANN, BOB, CID = seat("Ann", "🔍"), seat("Bob"), seat("Cid")
KEY = "sk-live-0123456789abcdefghij"


def recorded(*events: Event) -> list[StoredEvent]:
    return [
        StoredEvent("rt_0000abcd", n, NOON + timedelta(seconds=n), event)
        for n, event in enumerate(events, 1)
    ]


def sent(*events: Event) -> str:
    """Everything that goes to the page, as it goes."""
    return json.dumps([page_event(record) for record in recorded(*events)])


@pytest.mark.requirement("Z-10", "I-22")
def test_an_event_tells_its_number_its_time_and_its_kind() -> None:
    (record,) = recorded(DiscussionPaused(by="the host", reason="lunch"))
    assert page_event(record) == {
        "seq": 1,
        "at": "2026-01-02T12:00:01+00:00",
        "type": "DiscussionPaused",
        "by": "the host",
        "reason": "lunch",
    }


def test_prompts_and_the_words_of_attempts_stay_with_the_program() -> None:
    events = call("1/answer/ann", "ann", "m/ann", "a first draft, thrown away")
    text = sent(opened([ANN, BOB]), *events)
    assert "thrown away" not in text
    assert "test/answer" not in text
    assert '"input_tokens": 100' in text


def test_where_news_goes_and_what_a_document_says_is_not_for_whoever_watches() -> None:
    plan = NewsPlan(channels=(NewsChannel(platform="lark", chat_id="room-7"),))
    document = Material(source="notes.md", text="the whole secret plan")
    tried = NewsTried(
        message_id="m", kind="speech", channel="lark:room-7", attempt=1, text="told", by="x"
    )
    text = sent(
        opened([ANN, BOB]),
        NewsPlanned(plan=plan),
        tried,
        MaterialAdded(material=document, by="the host"),
    )
    assert "room-7" not in text
    assert "secret plan" not in text
    assert '{"source": "notes.md", "characters": 21}' in text


def test_anything_that_looks_like_a_key_is_redacted_everywhere() -> None:
    state = fold(
        recorded(
            opened([ANN, BOB], f"Is {KEY} safe?"),
            *speech("1/answer/ann", "ann", f"I use {KEY}."),
            VerdictReached(verdict=Verdict(answer=f"Never show {KEY}.")),
        )
    )
    records = recorded(
        opened([ANN, BOB], f"Is {KEY} safe?"), *speech("1/answer/ann", "ann", f"I use {KEY}.")
    )
    everything = json.dumps([[page_event(r) for r in records], derived(state), headline(state)])
    assert KEY not in everything
    assert everything.count("[redacted]") >= 4


@pytest.mark.requirement("I-21")
@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_speech_is_markup_that_can_do_nothing(text: str) -> None:
    given = SpeechGiven(
        turn_id="1/answer/ann", stage="answer", round=1, participant="ann", model="m", text=text
    )
    (record,) = recorded(given)
    for element in parsed(page_event(record)["html"]).all():
        assert element.tag not in ("script", "img", "svg", "iframe", "style", "form", "input")
        assert not [name for name in element.attrs if name.startswith("on") or name == "style"]
        href = element.attrs.get("href")
        assert href is None or href.startswith(("#turn-", "#point-", "http", "mailto:"))


def test_a_speech_leads_to_the_turns_and_points_it_names() -> None:
    (record,) = recorded(
        SpeechGiven(
            turn_id="2/critique/bob",
            stage="critique",
            round=2,
            participant="bob",
            model="m",
            text="Against [1/answer/ann] and [p3], but not [image].",
        )
    )
    links = [e.attrs["href"] for e in parsed(page_event(record)["html"]).all("a")]
    assert links == ["#turn-1/answer/ann", "#point-p3"]


def camps() -> State:
    """Two against two on p1, one between them, and p2 that all of them share."""
    four = [seat(name) for name in ("Ann", "Bob", "Cid", "Dan")]
    events: list[Event] = [opened(four)]
    events.append(
        StageOpened(stage="answer", round=1, turns=tuple(f"1/answer/{p.id}" for p in four))
    )
    for who in four:
        events += speech(f"1/answer/{who.id}", who.id, f"{who.name} has looked at all of it.")
    for number in (1, 2, 3):
        events.append(
            PointRaised(
                point_id=f"p{number}", text=f"Claim {number}", turn_id="1/answer/ann", round=1
            )
        )
    held = {"p1": "yyyn", "p2": "yyyy", "p3": "yynn"}
    for point, row in held.items():
        for who, position in zip(four, row, strict=True):
            events.append(
                StanceTaken(
                    participant=who.id,
                    point_id=point,
                    position="agree" if position == "y" else "disagree",
                    turn_id=f"1/answer/{who.id}",
                    round=1,
                )
            )
    events.append(
        StanceTaken(participant="dan", point_id="p1", position="agree", turn_id="2/x/dan", round=2)
    )
    events.append(DiscussionClosed(status="concluded", stop_reason="verdict"))
    return told(events)


@pytest.mark.requirement("Z-14", "I-22")
def test_points_say_who_holds_what_and_how_that_moved() -> None:
    found = derived(camps())
    points = {point["id"]: point for point in found["points"]}
    assert {name: point["standing"] for name, point in points.items()} == {
        "p1": "agreed",
        "p2": "agreed",
        "p3": "disputed",
    }
    dan = points["p1"]["stances"]["dan"]
    assert (dan["position"], dan["moved"]) == ("agree", True)
    assert [(step["round"], step["position"]) for step in dan["track"]] == [
        (1, "disagree"),
        (2, "agree"),
    ]
    assert [camp["members"] for camp in found["camps"]] == [["ann", "bob"], ["cid", "dan"]]
    assert [picture["kind"] for picture in found["pictures"]] == [
        "opinion-map",
        "agreement",
    ]


def test_a_verdict_has_its_citations_linked_and_its_quotations_verified() -> None:
    state = told(
        [
            opened([ANN, BOB]),
            *speech("1/answer/ann", "ann", "Tea calms the nerves of everybody here."),
            VerdictReached(
                verdict=Verdict(
                    answer="Ann is right [1/answer/ann]: “tea calms the nerves of everybody”. "
                    "Nobody said “coffee is bad for all of us”.",
                    cites=("1/answer/ann", "9/gone/bob"),
                    dissent=(
                        Dissent(participant="bob", position="Coffee.", turn_id="1/answer/ann"),
                    ),
                )
            ),
            DiscussionClosed(status="concluded", stop_reason="verdict"),
        ]
    )
    decision = derived(state)["decision"]
    page = parsed(decision["answer"]["written_html"])
    assert [e.text for e in page.classed("verified")] == ["“tea calms the nerves of everybody”"]
    assert [e.attrs["href"] for e in page.classed("cite")] == ["#turn-1/answer/ann"]
    assert "Council Answer" in decision["made"]["delivered_html"]


@pytest.mark.requirement("D-77")
def test_a_conclusion_given_by_hand_reaches_the_page_word_for_word() -> None:
    words = "We ship on Friday, and nobody works on Saturday."

    async def hold() -> State:
        table = Table()
        places = [
            {"profile": name, "role": "engineer", "model": "outside"} for name in ("tea", "milk")
        ]
        state = await table.service.open(
            OpenRequest(
                topic="Ship?",
                procedure="meeting",
                options={"participants": places, "host": "outside"},
            )
        )
        await table.service.speak(state.discussion_id, "tea", "Friday.")
        await table.service.speak(state.discussion_id, "milk", "Friday.")
        return await table.service.conclude(state.discussion_id, words)

    state = run_in_virtual_time(hold())
    assert words in parsed(derived(state)["decision"]["answer"]["written_html"]).text


def test_whose_turn_it_is_and_what_is_asked_of_a_person() -> None:
    async def open_() -> State:
        table = Table()
        places = [
            {"profile": "tea", "role": "advocate", "model": "outside"},
            {"profile": "milk", "role": "critic", "model": "outside"},
        ]
        state = await table.service.open(
            OpenRequest(
                topic="Tea?",
                procedure="meeting",
                options={"participants": places, "host": "outside"},
            )
        )
        await table.service.speak(state.discussion_id, "tea", "Tea.")
        return await table.service.read(state.discussion_id)

    found = derived(run_in_virtual_time(open_()))
    turns = [(turn["participant"], turn["outside"]) for turn in found["open_turns"]]
    assert turns == [("milk", True)]
    assert found["may"] == {"extend": True, "lead": True}


def test_nobody_is_called_while_it_is_paused_or_when_it_is_over() -> None:
    paused = told([opened([ANN, BOB]), DiscussionPaused(by="the host")])
    assert derived(paused)["open_turns"] == []
    assert derived(mishaps())["open_turns"] == []


def test_notes_come_with_their_remedies() -> None:
    notes = {note["code"]: note for note in derived(mishaps())["decision"]["made"]["notes"]}
    assert notes["degraded"]["remedy"] == "Ask again."
    assert "m/spare spoke for Ann in place of m/ann" in notes["substituted"]["text"]


def test_what_it_cost_is_unknown_and_never_zero() -> None:
    known = derived(long_table([ANN, BOB], 1, lambda n, who: f"{who} {n}"))
    assert known["decision"]["made"]["cost_usd"] == pytest.approx(0.04)
    unknown = derived(mishaps())
    assert unknown["decision"]["made"]["cost_usd"] is None


def test_everything_that_derives_is_json() -> None:
    state = long_table([ANN, BOB, CID], 3, lambda n, who: f"{who} {n}")
    assert json.loads(json.dumps(derived(state)))["seq"] == state.seq


def test_a_seat_that_a_person_holds_is_shown_as_such() -> None:
    you = Participant(id="you", name="You", role="Guest", speakers=(OUTSIDE_SPEAKER,))
    (record,) = recorded(opened([ANN, you]))
    assert page_event(record)["participants"][1]["models"] == ["outside"]


def test_a_headline_is_a_row_of_the_list() -> None:
    row = headline(long_table([ANN, BOB], 2, lambda n, who: f"{who} {n}", "Tea?"))
    assert (row["topic"], row["status"], row["rounds"]) == ("Tea?", "concluded", 2)
    assert row["participants"] == ["Ann", "Bob"]
