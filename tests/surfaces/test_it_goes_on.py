"""It goes on, by every door: a further question to the same table, a stage asked again, discussions
side by side, and ids by their beginning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roundtable import Roundtable
from roundtable.core.errors import NotAllowed, RoundtableError, UnknownName, UsageError
from roundtable.core.values import Budget
from roundtable.views.prior import PRIOR
from tests.surfaces.toolset.tables import tools
from tests.surfaces.web.house import house

from .desk import ECHO, QUICK, Desk

pytestmark = pytest.mark.requirement("Z-30")


def _asked(desk: Desk) -> str:
    assert desk.ask().code == 0
    return desk.last_id()


def test_a_follow_up_from_the_command_line(desk: Desk) -> None:
    id_ = _asked(desk)
    before = desk("show", id_, "--json").document
    assert desk("follow-up", "And in winter?", "--no-log").code == 0
    newest = desk.last_id()
    after = desk("show", newest, "--json").document
    assert newest != id_
    assert after["topic"] == "And in winter?"
    assert after["follows"] == id_
    assert [p["id"] for p in after["participants"]] == [p["id"] for p in before["participants"]]
    assert desk("show", id_, "--json").document["follow_ups"] == [newest]
    otherwise = ("--procedure", "five-round", "--depth", "pre-ac", *ECHO, "--no-log")
    assert desk("follow-up", id_, "And now?", *otherwise).code == 0
    assert desk("show", "last", "--json").document["procedure"] == "five-round"


def test_what_cannot_be_followed_is_refused_before_anything_is_spent(desk: Desk) -> None:
    assert "There is no discussion 'last'" in desk("follow-up", "And then?").err
    id_ = _asked(desk)
    assert "There is no question." in desk("follow-up", id_).err
    assert "keeps its models" in desk("follow-up", id_, "And?", "--model", "scripted/echo").err
    assert desk("delete", id_, "--yes").code == 0
    gone = desk("follow-up", id_, "And then?")
    assert gone.code == 2
    assert f"There is no discussion '{id_}'" in gone.err
    assert desk("list", "--json").document == []


def test_any_discussion_is_context_for_any_procedure(desk: Desk) -> None:
    id_ = _asked(desk)
    asked = desk("ask", "Milk?", *QUICK, "--context-from", id_, "--context-from", "no-such-result")
    assert asked.code == 0
    assert "There is no earlier roundtable 'no-such-result'" in asked.err
    shown = desk("export", "last", "--format", "json").document
    assert shown["topic"] == "Milk?"
    assert desk("ask", "Milk?", *QUICK, "--context-from", "rt_ffffffff").code == 2


def test_ids_by_their_beginning_and_two_side_by_side(desk: Desk) -> None:
    one, other = _asked(desk), _asked(desk)
    assert desk("show", other[:8], "--json").document["discussion_id"] == other
    assert desk("show", "last", "--json").document["discussion_id"] == other
    told = desk("show", "rt_")
    assert told.code == 2
    unclear = desk("show", "r")
    assert unclear.code == 2
    found = desk("compare", one, "last", "--json").document
    assert found["discussions"] == [one, other]
    assert {"Answer", "Votes", "Confidence", "Cost"} <= {row["what"] for row in found["rows"]}
    assert one in desk("compare", one, other).out
    assert desk("compare", one, "rt_ffffffff").code == 2


def test_the_last_stage_again_from_the_command_line(desk: Desk) -> None:
    id_ = _asked(desk)
    stages = {speech["stage"] for speech in desk("show", id_, "--json").document["speeches"]}
    assert "synthesis" in stages
    assert desk("resume", id_, "--again", "synthesis", "--no-log").code == 0
    bundle = str(desk.workspace / "again.jsonl")
    assert desk("export", id_, "--bundle", bundle).code == 0
    assert desk("verify", bundle).code == 0
    assert desk("show", id_).code == 0
    wrong = desk("resume", id_, "--again", "answer")
    assert wrong.code == 2
    assert "is not its last stage" in wrong.err
    assert desk("resume", "--again", "synthesis").code == 2


async def test_from_python(tmp_path: Path) -> None:
    async with Roundtable(home=tmp_path, model="scripted/echo", env={}) as table:
        await table.ask("Tea?", all="scripted/echo", quick=True, procedure="council")
        first = (await table.discussions())[0].discussion_id
        verdict = await table.follow_up("last", "And in winter?")
        assert verdict.answer
        second = await table.read("last")
        assert second.start.follows == first
        assert second.start.context[0].source == f"{PRIOR}: {first}"
        assert (await table.read(first[:-1])).discussion_id == first
        compared = await table.compare(first, "last")
        assert compared.discussions == (first, second.discussion_id)
        again = await table.ask_again(first, "synthesis")
        assert again.status == "concluded"
        with pytest.raises(NotAllowed):
            await table.ask_again(first, "answer")
        with pytest.raises(UnknownName, match="max_coffee"):
            await table.ask_again(first, "synthesis", max_coffee=3)
        budget = Budget(max_calls=50)
        limited = await table.open("Tea?", all="scripted/echo", quick=True, budget=budget)
        await table.run(limited.discussion_id)
        higher = await table.ask_again(limited.discussion_id, "synthesis", max_calls=60)
        assert (higher.status, higher.budget.max_calls) == ("concluded", 60)
        for given in ({"max_calls": 70}, Budget(max_calls=70)):
            same = await table.ask_again(limited.discussion_id, "synthesis", budget=given)
            assert same.budget.max_calls == 70
        with pytest.raises(UsageError, match="Give all limits in one of the two"):
            await table.ask_again(first, "synthesis", budget={"max_calls": 70}, max_calls=3)
        wrong: Any = 0.5
        with pytest.raises(UsageError, match="contains no limits"):
            await table.resume(first, budget=wrong)
        waiting = await table.open("Tea?", all="scripted/echo", quick=True, max_cost=-0.0)
        assert str(waiting.budget.max_cost_usd) == "0.0"
        resumed = await table.resume(waiting.discussion_id, budget={"max_cost": 2})
        assert resumed.budget.max_cost_usd == 2


async def test_by_the_tools(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        options = {"all": "scripted/echo", "quick": True}
        first = await toolset.ask("Tea?", procedure="council", options=options)
        assert (await toolset.collect("last", wait=50)).done
        second = await toolset.call("ask", {"question": "And then?", "follows": "last"})
        done = await toolset.collect("last", wait=50)
        assert done.done
        state = await toolset.app.service.read(done.discussion_id)
        assert state.start.follows == first.discussion_id
        assert [p.id for p in state.participants] == [p.profile for p in first.participants]
        short = {"discussion_id": first.discussion_id[:-1], "other": "last"}
        found = (await toolset.call("compare", short)).model_dump()
        assert found["discussion_ids"] == [first.discussion_id, done.discussion_id]
        assert found["rows"]["Question"] == ["Tea?", "And then?"]
        assert len(str(found)) < 8_000
        assert second.model_dump()["discussion_id"] == done.discussion_id
        with pytest.raises(RoundtableError, match="There is no discussion"):
            await toolset.call("ask", {"question": "And?", "follows": "rt_ffffffff"})


async def test_over_http(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        state, running = await home.council(), await home.meeting()
        body = {"topic": "And in winter?", "follows": state.discussion_id, "run": False}
        assert (await home.client.post("/api/discussions", json=body)).status_code == 401
        made = await home.client.post("/api/discussions", json=body, headers=home.owner)
        assert made.status_code == 201
        opened = await home.service.read(made.json()["discussion_id"])
        assert opened.start.participants == state.start.participants
        early = {**body, "follows": running.discussion_id}
        refused = await home.client.post("/api/discussions", json=early, headers=home.owner)
        assert refused.status_code == 409
        assert "is not over yet" in refused.json()["error"]
        query = f"/api/compare?one={state.discussion_id}&other=last"
        assert (await home.client.get(query)).status_code == 401
        found = (await home.client.get(query, headers=home.owner)).json()
        assert found["discussions"][0] == state.discussion_id
        at = home.at(state, "host")
        stage, _ = list(state.stages)[-1]
        assert (await home.act(f"{at}/again", stage="coda")).status_code == 409
        assert (await home.act(f"{home.at(state)}/again", stage=stage)).status_code == 403
        assert (await home.act(f"{at}/again", stage=stage, max_cost=3.0)).status_code == 403
        assert (await home.act(f"{at}/again", stage=stage, max_cost=-1)).status_code == 422
        assert (await home.act(f"{at}/again", stage=stage)).status_code == 200
        await home.web.running.over(state.discussion_id)
        after = await home.service.read(state.discussion_id)
        assert after.status == "concluded"
        assert {turn.again for turn in after.turns.values() if f"/{stage}/" in turn.id} == {1}
        within = {"stage": stage, "max_cost": 3.0}
        limited = await home.client.post(f"{at}/again", json=within, headers=home.owner)
        assert limited.status_code == 200, limited.text
        await home.web.running.over(state.discussion_id)
        assert (await home.service.read(state.discussion_id)).budget.max_cost_usd == 3.0
        events = (await home.client.get(f"{at}/events")).json()["events"]
        assert "StageReopened" in [each["type"] for each in events]


def test_time_and_effort_from_the_command_line(desk: Desk) -> None:
    flags = ("--first-word", "120", "--silence", "30", "--effort", "high")
    assert desk.ask(*flags).code == 0
    bundle = desk.workspace / "b.jsonl"
    assert desk("export", "last", "--bundle", str(bundle)).code == 0
    assert '"pace":{"effort":"high","first_word":120' in bundle.read_text("utf-8")
    notes = desk("show", "last", "--json").document["notes"]
    assert "effort_unheeded" in {note["code"] for note in notes}, "scripts do not think"
    assert desk.ask("--first-word", "0").code == 2
    assert desk.ask("--first-word", "nan").code == 2
    assert desk.ask("--effort", "huge").code == 2
