"""How a decision turned out: said by every door, shown wherever the discussion is."""

from __future__ import annotations

from pathlib import Path

import pytest

from roundtable import Roundtable
from roundtable.surfaces.toolset.access import Access

from .desk import QUICK, Desk
from .toolset.tables import SEATS, TOPIC, tools
from .web.house import house

pytestmark = pytest.mark.requirement("Z-25")


def _asked(desk: Desk) -> str:
    assert desk("ask", "Tea or coffee?", *QUICK).code == 0
    id_: str = desk("list", "--json").document[0]["discussion_id"]
    return id_


def test_from_the_command_line_by_id_and_for_the_last_one(desk: Desk) -> None:
    id_ = _asked(desk)
    assert desk("list", "--json").document[0]["outcome"] is None
    assert desk("show", id_, "--json").document["outcome"] is None
    said = desk("outcome", id_, "good", "--note", "Nobody complained.")
    assert said.code == 0
    assert f"Recorded for {id_}: it turned out good." in said.err
    assert desk("show", id_, "--json").document["outcome"] == {
        "outcome": "good",
        "note": "Nobody complained.",
        "by": "the user",
    }
    assert "Turned out: good (Nobody complained.)" in desk("show", id_).out
    assert desk("outcome", "last", "mixed").code == 0
    assert desk("list", "--json").document[0]["outcome"] == "mixed"
    assert "[turned out mixed]" in desk("list").out


def test_what_cannot_be_said_is_refused_with_what_can(desk: Desk) -> None:
    none = desk("outcome", "last", "good")
    assert none.code == 2
    assert "There is no discussion" in none.err
    id_ = _asked(desk)
    wrong = desk("outcome", id_, "great")
    assert wrong.code == 2
    assert "Known: bad, good, mixed." in wrong.err
    assert desk("outcome", "rt_00000000", "good").code == 2
    assert desk("outcome", id_).code == 2
    assert desk("show", id_, "--json").document["outcome"] is None


async def test_from_python(tmp_path: Path) -> None:
    async with Roundtable(home=tmp_path, env={}) as table:
        state = await table.open("Tea?", all="scripted/echo", quick=True)
        await table.run(state.discussion_id)
        said = await table.record_outcome(state.discussion_id, "bad", note="Cold.")
        assert said.outcome is not None
        assert said.outcome.outcome == "bad"
        assert [row.outcome for row in await table.discussions()] == ["bad"]


async def test_the_tool_is_the_coordinators(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        made = await toolset.create_discussion(TOPIC, SEATS)
        refused = await _error(toolset.record_outcome(made.discussion_id, "good"))
        assert "is not over yet" in refused
        await toolset.end_discussion(made.discussion_id, conclusion="Tea it is.")
        said = await toolset.call(
            "outcome", {"discussion_id": made.discussion_id, "outcome": "bad"}
        )
        assert said.model_dump()["outcome"] == "bad"
        listed = await toolset.list_discussions()
        assert [row.outcome for row in listed.discussions] == ["bad"]
        toolset.access = Access(profile="arch")
        told = await _error(toolset.record_outcome(made.discussion_id, "good"))
        assert "belongs to the coordinator" in told


async def _error(call: object) -> str:
    from roundtable.core.errors import RoundtableError

    try:
        await call  # type: ignore[misc]
    except RoundtableError as error:
        return error.message
    raise AssertionError("it was not refused")


@pytest.mark.parametrize(
    ("role", "code"), [("viewer", 403), ("seat", 403), ("host", 200), ("stranger", 404)]
)
async def test_over_http_it_is_the_hosts(tmp_path: Path, role: str, code: int) -> None:
    async with house(tmp_path / "home") as home:
        state = await home.council()
        seat = state.participants[0].id if role == "seat" else ""
        at = "/api/r/nothing" if role == "stranger" else home.at(state, role, seat)
        answer = await home.act(f"{at}/outcome", outcome="mixed", note="So so.")
        assert answer.status_code == code
        rows = (await home.client.get("/api/discussions", headers=home.owner)).json()
        assert rows["discussions"][0]["outcome"] == ("mixed" if code == 200 else None)
        if code == 200:
            events = (await home.client.get(f"{at}/events")).json()["events"]
            assert (events[-1]["type"], events[-1]["outcome"]) == ("OutcomeRecorded", "mixed")


async def test_over_http_a_wrong_word_and_a_running_discussion_are_refused(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        over, running = await home.council(), await home.meeting()
        wrong = await home.act(f"{home.at(over, 'host')}/outcome", outcome="great")
        assert wrong.status_code == 422
        assert "'good', 'mixed' or 'bad'" in wrong.text
        early = await home.act(f"{home.at(running, 'host')}/outcome", outcome="good")
        assert early.status_code == 409
        assert "not over yet" in early.json()["error"]
