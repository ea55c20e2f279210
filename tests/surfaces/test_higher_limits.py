"""A discussion that a limit ended goes on with a higher one, from every door that can resume: the
command line, the tools, the page's server, Python. Who only leads does not spend more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roundtable import Roundtable
from roundtable.core.errors import NotAllowed, UnknownName
from roundtable.core.events import CostEstimated, LimitsRaised
from roundtable.core.state import State
from roundtable.core.values import Budget
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.toolset import Toolset
from tests.servers import TEST_KEY, ProviderServer, provider_server

from .desk import Desk, obedient
from .toolset.tables import ENV, tools
from .web.house import House, client_token, house

COUNCIL: dict[str, Any] = {"models": ["scripted/echo"], "host": "scripted/echo"}
TRUE: tuple[dict[str, Any], ...] = ({"max_cost": True}, {"max_calls": True}, {"max_time": True})
"""What is no number, though Python takes it for 1."""
FEW = 5
"""Calls after which a council has answers, and no round 2."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with provider_server(obedient, models=["teapot-1", "kettle-2"]) as started:
        monkeypatch.delenv("ROUNDTABLE_MODEL_LISTS", raising=False)
        monkeypatch.setenv("OPENAI_BASE_URL", started.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
        yield started


@pytest.mark.requirement("Z-35")
def test_resume_with_a_higher_cost_limit_comes_to_the_whole_verdict(
    desk: Desk, server: ProviderServer
) -> None:
    asked = ("Tea or coffee?", "--procedure", "council", "--no-log", "--json")
    ended = desk(*asked, "--max-cost", "0.1")
    assert ended.document["stop_reason"] == "budget", ended.err
    calls = len(server.requests)
    id_ = desk.last_id()
    same = desk("resume", id_, "--max-cost", "0.1")
    assert (same.code, "this does not raise it" in same.err) == (2, True)
    assert "Give a higher max_cost (--max-cost on the command line)." in same.err
    assert len(server.requests) == calls, "nothing was asked"
    again = desk("resume", id_, "--max-cost", "50", "--json")
    assert again.code == 0, again.err
    assert again.document["stop_reason"] == "verdict"
    assert len(server.requests) > calls


def _types(state: State) -> tuple[str, bool]:
    return state.status, state.exhausted is not None


@pytest.mark.anyio
@pytest.mark.requirement("Z-35")
async def test_the_tool_resume_raises_limits(tmp_path: Path) -> None:
    env = {**ENV, "ROUNDTABLE_MODEL": "scripted/echo"}
    async with tools(tmp_path, env=env) as toolset:
        opened = await toolset.ask("Tea or coffee?", procedure="council", max_calls=FEW)
        id_ = opened.discussion_id
        assert (await _ended(toolset, id_)).exhausted is not None
        with pytest.raises(NotAllowed, match="this does not raise it"):
            await toolset.resume(id_, max_cost=3)
        went_on = await toolset.resume(id_, max_calls=40)
        assert "It goes on." in went_on.model_dump_json()
        state = await _ended(toolset, id_)
        assert _types(state) == ("concluded", False)
        assert state.budget.max_calls == 40


async def _ended(toolset: Toolset, id_: str) -> State:
    await toolset.collect(id_, wait=50)
    return await toolset.app.service.read(id_)


async def _spent(home: House) -> State:
    request = OpenRequest(
        "Tea or coffee?", procedure="council", options=COUNCIL, budget=Budget(max_calls=FEW)
    )
    opened = await home.service.open(request)
    state = await home.service.run(opened.discussion_id)
    assert state.exhausted is not None
    return state


@pytest.mark.anyio
@pytest.mark.requirement("Z-35")
async def test_the_owner_lets_it_go_on_from_the_page_and_who_only_leads_does_not(
    tmp_path: Path,
) -> None:
    async with house(tmp_path / "home") as home:
        state = await _spent(home)
        path = f"{home.at(state, 'host')}/resume"
        refused = await home.act(path, max_calls=40)
        assert refused.status_code == 403, refused.text
        for wrong in (
            {"max_calls": 0},
            {"max_cost": -1},
            {"max_cost": "much"},
            {"max_speed": 1},
            *TRUE,
        ):
            answer = await home.client.post(path, json=wrong, headers=home.owner)
            assert answer.status_code == 422, wrong
        low = await home.client.post(path, json={"max_calls": FEW}, headers=home.owner)
        assert low.status_code == 409, low.text
        assert "LimitsRaised" not in await home.types(state)
        raised = await home.client.post(path, json={"max_calls": 40}, headers=home.owner)
        assert raised.status_code == 200, raised.text
        await home.web.running.over(state.discussion_id)
        after = await home.service.read(state.discussion_id)
        assert _types(after) == ("concluded", False)


@pytest.mark.anyio
@pytest.mark.requirement("Z-35")
async def test_a_cap_of_the_user_is_not_passed_from_the_page(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("[caps]\nmax_calls = 7\n", "utf-8")
    async with house(tmp_path / "home") as home:
        state = await _spent(home)
        path = f"{home.at(state, 'host')}/resume"
        refused = await home.client.post(path, json={"max_calls": 40}, headers=home.owner)
        assert refused.status_code == 409
        assert "7 calls" in refused.json()["error"]
        assert "LimitsRaised" not in await home.types(state)


@pytest.mark.anyio
@pytest.mark.requirement("Z-35")
async def test_a_token_with_a_limit_raises_no_further_than_that(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        bearer = {
            "Authorization": f"Bearer {client_token(home.app.settings.home, spend=1.0)}",
        }
        wish: dict[str, Any] = {
            "topic": "Tea?",
            "procedure": "council",
            "options": COUNCIL,
            "run": False,
        }
        wish["budget"] = {"max_calls": FEW, "max_cost_usd": 0.5}
        made = (await home.client.post("/api/discussions", json=wish, headers=bearer)).json()
        path = "/api/r/" + made["url"].rpartition("/")[2] + "/resume"
        early = await home.act(path, max_calls=40)
        assert early.status_code == 409, "what is set aside for it is not moved while it runs"
        state = await home.service.run(made["discussion_id"])
        assert state.exhausted is not None
        too_much = await home.act(path, max_calls=40, max_cost=30)
        assert too_much.status_code == 403, too_much.text
        granted = await home.act(path, max_calls=40, max_cost=0.9)
        assert granted.status_code == 200, granted.text


@pytest.mark.anyio
@pytest.mark.requirement("Z-35")
async def test_what_is_opened_from_the_page_keeps_what_was_estimated(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        wish: dict[str, Any] = {
            "topic": "Tea?",
            "procedure": "council",
            "options": COUNCIL,
            "key": "once",
        }
        wish["run"] = False
        ids = set()
        for _ in range(2):
            made = await home.client.post("/api/discussions", json=wish, headers=home.owner)
            ids.add(made.json()["discussion_id"])
        [id_] = ids
        records = await home.service.records(id_)
        told = [each.event for each in records if isinstance(each.event, CostEstimated)]
        assert len(told) == 1
        assert told[0].expected.calls > 0


@pytest.mark.anyio
@pytest.mark.requirement("Z-35")
async def test_python_raises_limits_by_the_same_words(tmp_path: Path) -> None:
    async with Roundtable(home=tmp_path, env=ENV) as table:
        state = await table.open(
            "Tea or coffee?", procedure="council", budget=Budget(max_calls=FEW), **COUNCIL
        )
        await table.run(state.discussion_id)
        with pytest.raises(UnknownName, match="max_money"):
            await table.resume(state.discussion_id, max_money=3)
        await table.resume(state.discussion_id, max_calls=40)
        after = await table.run(state.discussion_id)
        assert after.status == "concluded"
        found = [record.event async for record in table.events(state.discussion_id)]
        assert [each.by for each in found if isinstance(each, LimitsRaised)] == ["library"]
