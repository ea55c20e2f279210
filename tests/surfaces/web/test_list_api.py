"""The list over HTTP: each row says what the decision says, and a search looks through it all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.events import DiscussionOpened, NewEvent
from roundtable.core.state import fold
from roundtable.examples import examples
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.web import rows
from roundtable.views.decision import Decision
from roundtable.views.decision_json import plain

from .house import QUICK, House, house

pytestmark = pytest.mark.anyio


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as opened:
        yield opened


async def put(
    home: House, name: str, discussion_id: str, *, of: int | None = None, **first: Any
) -> None:
    """A recorded discussion as one's own; `of` its events only the first."""
    new = []
    for record in examples()[name].records()[:of]:
        event = record.event
        if isinstance(event, DiscussionOpened):
            event = event.model_copy(update=first)
        new.append(NewEvent(event, record.at, record.key))
    await home.service._ledger.append(discussion_id, new, expected=0)


async def listed(home: House, search: str = "", **chosen: Any) -> dict[str, Any]:
    answer = await home.client.get(
        "/api/discussions", params={"search": search, **chosen}, headers=home.owner
    )
    assert answer.status_code == 200, answer.text
    got: dict[str, Any] = answer.json()
    return got


@pytest.mark.requirement("Z-34")
async def test_a_row_says_what_the_decision_says(home: House) -> None:
    for number, name in enumerate(examples()):
        await put(home, name, f"rt_0000000{number}")
    got = await listed(home)
    found = {each["discussion_id"]: each["row"] for each in got["discussions"]}
    assert got["pending"] == 0
    for number, name in enumerate(examples()):
        row = found[f"rt_0000000{number}"]
        decision = Decision.of(fold(examples()[name].records()))
        assert row["answer"] == decision.answer.first
        assert row["question"] == decision.question.short
        assert row["state"] == decision.state
        assert row["vote"] == (plain(decision.votes[0]) if decision.votes else None)
        assert row["confidence"]["word"] == decision.confidence.word
        assert row["cost_usd"] == decision.made.cost_usd
    assert {row["dissent"] for row in found.values()} == {True, False}


@pytest.mark.requirement("Z-34")
async def test_rows_tell_whose_turn_it_is_what_was_interrupted_and_what_follows(
    home: House,
) -> None:
    meeting = await home.meeting()
    await put(home, "free-buses", "rt_00000001", of=25)
    await put(home, "rails-monolith", "rt_00000002", follows="rt_00000001")
    found = {each["discussion_id"]: each["row"] for each in (await listed(home))["discussions"]}
    assert found[meeting.discussion_id]["kind"] == "turn"
    assert found[meeting.discussion_id]["state"] == "Your turn"
    assert found[meeting.discussion_id]["waits_for"]
    assert found["rt_00000001"]["state"] == "Interrupted"
    assert found["rt_00000002"]["follows"] == "rt_00000001"
    said = await home.act(f"{home.at(meeting, 'seat', 'tea')}/speak", text="Tea, always.")
    assert said.status_code == 200
    again = {each["discussion_id"]: each["row"] for each in (await listed(home))["discussions"]}
    before = found[meeting.discussion_id]["waits_for"]
    assert again[meeting.discussion_id]["waits_for"] != before, "the row follows the discussion"


@pytest.mark.requirement("Z-34")
async def test_a_long_list_comes_at_once_and_its_rows_follow(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "AT_ONCE", 2)
    for number in range(5):
        await put(home, "lift-letter", f"rt_0000000{number}")
    pending = []
    for _ in range(3):
        got = await listed(home)
        assert len(got["discussions"]) == 5
        assert sum(each["row"] is None for each in got["discussions"]) == got["pending"]
        pending.append(got["pending"])
    assert pending == [3, 1, 0]


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("buses", ["rt_00000001"]),
        ("FARES crowding", ["rt_00000001"]),
        ("monolith", ["rt_00000002"]),
        ('"free buses crowding"', []),
        ("turn_id", []),
        ("%", None),
        ("x" * 1_000, []),
        ("\u0000", ["rt_00000001", "rt_00000002"]),
    ],
)
async def test_a_search_looks_through_questions_answers_and_speeches(
    home: House, search: str, found: list[str] | None
) -> None:
    await put(home, "free-buses", "rt_00000001")
    await put(home, "rails-monolith", "rt_00000002")
    got = [each["discussion_id"] for each in (await listed(home, search))["discussions"]]
    if found is not None:
        assert sorted(got) == found


async def test_a_deleted_discussion_is_gone_from_the_list(home: House) -> None:
    await put(home, "free-buses", "rt_00000001")
    assert len((await listed(home))["discussions"]) == 1
    gone = await home.client.delete("/api/discussions/rt_00000001", headers=home.owner)
    assert gone.status_code == 204
    got = await listed(home)
    assert (got["discussions"], got["pending"], got["total"], got["counts"]) == ([], 0, 0, {})


def ids(got: dict[str, Any]) -> list[str]:
    return [each["discussion_id"] for each in got["discussions"]]


@pytest.mark.requirement("Z-34")
async def test_filters_choose_from_all_discussions_and_not_from_those_that_are_shown(
    home: House,
) -> None:
    for number, name in enumerate(examples()):
        await put(home, name, f"rt_0000000{number}")
    await put(home, "free-buses", "rt_00000009", of=25)
    whole = await listed(home)
    rows = {each["discussion_id"]: each["row"] for each in whole["discussions"]}
    assert whole["total"] == len(rows) == sum(whole["counts"].values())
    assert whole["counts"]["unfinished"] == 1
    assert sorted(whole["procedures"]) == sorted(
        {each["procedure"] for each in whole["discussions"]}
    )
    one = await listed(home, group="unfinished", limit=1)
    assert ids(one) == ["rt_00000009"]
    assert one["counts"] == whole["counts"], "the others can still be chosen"
    decided = await listed(home, group="decided", limit=1)
    assert len(ids(decided)) == 1
    assert decided["total"] == whole["counts"]["decided"] > 1
    further = await listed(home, group="decided", limit=100, after=1)
    assert set(ids(decided) + ids(further)) == {
        each for each, row in rows.items() if row["kind"] == "decided"
    }
    dissenting = await listed(home, dissent=True)
    assert set(ids(dissenting)) == {each for each, row in rows.items() if row["dissent"]}
    dearest = await listed(home, sort="dearest")
    costs = [rows[each]["cost_usd"] or 0 for each in ids(dearest)]
    assert costs == sorted(costs, reverse=True)
    assert ids(await listed(home, sort="oldest")) == ids(whole)[::-1]
    council = await listed(home, procedure="council")
    assert {each["procedure"] for each in council["discussions"]} <= {"council"}


@pytest.mark.parametrize("wrong", [{"group": "o1"}, {"sort": "best"}, {"after": -1}])
async def test_a_filter_that_does_not_exist_is_refused(home: House, wrong: dict[str, Any]) -> None:
    answer = await home.client.get("/api/discussions", params=wrong, headers=home.owner)
    assert answer.status_code == 400
    assert answer.json()["remedy"]


WITH_A_MODEL = OpenRequest(
    topic="Tea or milk?",
    procedure="meeting",
    options={
        "participants": [
            {"profile": "tea", "role": "advocate", "model": "outside"},
            {"profile": "milk", "role": "critic", "model": "scripted/echo"},
        ],
        "max_rounds": 1,
        "host": "outside",
    },
)
"""A meeting in which somebody from outside speaks first, and a model after that."""


async def test_a_phrase_in_quotation_marks_is_looked_for_as_a_phrase(home: House) -> None:
    meeting = await home.meeting()
    said = await home.act(f"{home.at(meeting, 'seat', 'tea')}/speak", text="Tea\nat four, always.")
    assert said.status_code == 200
    for search, number in (("four tea", 1), ('"tea at four"', 1), ('"four tea"', 0), ('"', 1)):
        found = (await listed(home, search))["discussions"]
        assert len(found) == number, search


@pytest.mark.requirement("Z-34")
async def test_list_and_page_tell_the_same_stage_and_whether_anybody_drives_it(home: House) -> None:
    state = await home.service.open(WITH_A_MODEL)
    (row,) = [each["row"] for each in (await listed(home))["discussions"]]
    page = (await home.client.get(f"{home.at(state)}/derived")).json()
    assert row["kind"] == page["decision"]["kind"] == "interrupted", "nobody drives it"
    assert row["now"] == {key: page["itinerary"][key] for key in ("now", "rounds")}
    assert [each["until"] for each in page["open_turns"]] == [None], "nobody counts the time"

    await home.service._ledger.take_lease(state.discussion_id, "elsewhere:1:x", ttl=3600)
    (row,) = [each["row"] for each in (await listed(home))["discussions"]]
    page = (await home.client.get(f"{home.at(state)}/derived")).json()
    assert (row["kind"], page["decision"]["kind"]) == ("turn", "live")
    assert page["open_turns"][0]["until"] is not None


async def test_words_that_come_in_take_up_what_nobody_drives(home: House) -> None:
    state = await home.service.open(WITH_A_MODEL)
    said = await home.act(f"{home.at(state, 'seat', 'tea')}/speak", text="Tea.")
    assert said.status_code == 200, said.text
    assert home.web.running.drives(state.discussion_id)


async def test_what_this_server_is_about_to_drive_is_not_told_as_interrupted(home: House) -> None:
    state = await home.service.open(OpenRequest(topic="Tea or coffee?", options=QUICK))
    (before,) = (await listed(home))["discussions"]
    assert before["status"] == "interrupted", "nobody is about to"
    with home.web.running.opening():
        (opening,) = (await listed(home))["discussions"]
    assert (opening["status"], opening["row"]["state"]) == ("running", "Live")
    home.web.running.drive(state.discussion_id)
    assert await home.service.is_driven(state.discussion_id), "before it has begun"
    (row,) = await home.service.summaries()
    assert row.standing == "running"
    await home.web.running.over(state.discussion_id)
    assert not await home.service.is_driven(state.discussion_id)
