"""Limits have the same words wherever they are given, are read in one way, and what is no limit is
refused before anything is opened."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from roundtable import Budget, Roundtable, RoundTableEngine
from roundtable.core.errors import BadSetting, UnknownName, UsageError
from roundtable.core.limits import FLAGS
from roundtable.surfaces.limits import LIMIT_WORDS, LimitValues, read_limits
from roundtable.surfaces.openai.prompt import RoundtableOptions

from .toolset.tables import ENV, tools
from .web.house import house

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("Z-35")]

COUNCIL: dict[str, Any] = {
    "procedure": "council",
    "models": ["scripted/echo"],
    "host": "scripted/echo",
}
ALL = {"max_cost": 0.5, "max_calls": 20, "max_tokens": 30_000, "max_time": 60.0}
STORED = Budget(max_cost_usd=0.5, max_calls=20, max_tokens=30_000, max_seconds=60.0)
OLDER = {"max_cost_usd": 0.5, "max_calls": 20, "max_tokens": 30_000, "max_seconds": 60}
NO_LIMITS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"nonsense": 5}, "nonsense"),
    ({"max_cost": -1}, "max_cost"),
    ({"max_cost": True}, "max_cost"),
    ({"max_cost": "much"}, "max_cost"),
    ({"max_calls": 0}, "max_calls"),
    ({"max_calls": 1.5}, "max_calls"),
    ({"max_time": 0}, "max_time"),
    ({"max_cost": 0.5, "max_cost_usd": 0.6}, "same limit"),
)
"""What is no limit, and what the refusal names."""
NOT_IN_JSON: tuple[tuple[Any, str], ...] = (
    ({"max_cost": float("nan")}, "max_cost"),
    ({"max_time": float("inf")}, "max_time"),
    ({"max_cost": 1e13}, "max_cost"),
    (0.01, "max_cost"),
    ([0.01], "max_cost"),
)


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Roundtable]:
    async with Roundtable(home=tmp_path, env=ENV) as opened:
        yield opened


def test_the_words_are_those_of_the_command_line() -> None:
    assert [f"--{word.replace('_', '-')}" for word in LIMIT_WORDS] == list(FLAGS.values())
    assert set(LIMIT_WORDS) == set(LimitValues.model_fields)
    assert set(LIMIT_WORDS.values()) == set(Budget.model_fields)


@pytest.mark.parametrize(
    "given",
    [ALL, OLDER, {word: str(value) for word, value in ALL.items()}, {**ALL, "max_cost_usd": 0.5}],
)
def test_limits_are_read_under_both_names_and_as_texts(given: dict[str, Any]) -> None:
    assert Budget.model_validate(read_limits(given)) == STORED


@pytest.mark.parametrize("given", [{"budget": ALL}, {"budget": OLDER}, {"budget": STORED}, ALL])
async def test_python_takes_limits_as_words_a_mapping_or_a_budget(
    table: Roundtable, given: dict[str, Any]
) -> None:
    state = await table.open("Tea or coffee?", **COUNCIL, **given)
    assert state.budget == STORED


@pytest.mark.parametrize(("given", "named"), [*NO_LIMITS, *NOT_IN_JSON])
async def test_python_opens_nothing_for_what_is_no_limit(
    table: Roundtable, given: Any, named: str
) -> None:
    for refused in (
        table.open("Tea?", budget=given, **COUNCIL),
        table.follow_up("last", "Tea?", budget=given, **COUNCIL),
        table.schedule("Tea?", cron="@daily", budget=given, options={}),
    ):
        with pytest.raises(UsageError, match=named):
            await refused
    assert await table.discussions() == []
    assert await table.schedules() == []


async def test_a_limit_stands_in_the_budget_or_beside_it(table: Roundtable) -> None:
    with pytest.raises(UsageError, match="one of the two"):
        await table.open("Tea?", budget={"max_calls": 5}, max_cost=1, **COUNCIL)
    state = await table.open("Tea?", budget="low", max_cost=1, **COUNCIL)
    assert state.budget == Budget(max_cost_usd=1)


async def test_a_single_limit_leaves_the_users_others_and_a_whole_budget_does_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "config.toml").write_text("[budget]\nmax_cost_usd = 2.0\n", "utf-8")
    async with Roundtable(home=tmp_path, env=ENV) as table:
        single = await table.open("Tea?", budget={"max_calls": 5}, **COUNCIL)
        whole = await table.open("Tea?", budget=Budget(max_calls=5), **COUNCIL)
    assert single.budget == Budget(max_calls=5, max_cost_usd=2.0)
    assert whole.budget == Budget(max_calls=5)


async def test_a_run_from_python_ends_at_its_limit(table: Roundtable) -> None:
    verdict = await table.ask("Tea or coffee?", max_calls=5, **COUNCIL)
    assert verdict.partial


async def test_a_schedule_from_python_stores_limits_under_the_names_of_a_budget(
    table: Roundtable,
) -> None:
    for given in ({"budget": ALL}, {"budget": STORED}, ALL):
        made = await table.schedule("Tea?", cron="@daily", procedure="council", **given)
        assert made.request["budget"] == STORED.model_dump()
    with pytest.raises(UnknownName, match="max_money"):
        await table.schedule("Tea?", cron="@daily", max_money=1)


async def test_the_five_round_engine_takes_them_too(tmp_path: Path) -> None:
    async with Roundtable(home=tmp_path, env=ENV, model="scripted/echo") as table:
        engine = RoundTableEngine("Tea or coffee?", mode="pre-ac", table=table, max_cost=1)
        await engine.run()
    assert engine.state is not None
    assert engine.state.budget == Budget(max_cost_usd=1)


async def test_http_takes_both_names_and_lays_them_over_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("[budget]\nmax_calls = 90\n", "utf-8")
    body: dict[str, Any] = {
        "topic": "Tea?",
        "procedure": "council",
        "options": {name: COUNCIL[name] for name in ("models", "host")},
        "run": False,
    }
    async with house(tmp_path / "home") as home:

        async def opened(limits: dict[str, Any]) -> Any:
            wish = {**body, "budget": limits}
            return await home.client.post("/api/discussions", json=wish, headers=home.owner)

        for given in (ALL, OLDER):
            made = await opened(given)
            state = await home.service.read(made.json()["discussion_id"])
            assert state.budget == STORED
        made = await opened({"max_cost": "0.5"})
        state = await home.service.read(made.json()["discussion_id"])
        assert state.budget == Budget(max_cost_usd=0.5, max_calls=90)
        for wrong, named in NO_LIMITS:
            refused = await opened(wrong)
            assert refused.status_code == 422, wrong
            assert named in refused.text
        amounts: list[tuple[dict[str, float], Budget]] = [
            ({"max_cost_usd": 0.4}, Budget(max_cost_usd=0.4, max_calls=90)),
            ({"max_cost": 0.3}, Budget(max_cost_usd=0.3, max_calls=90)),
            ({"max_seconds": 4}, Budget(max_cost_usd=0.5, max_calls=90, max_seconds=4)),
        ]
        for given, stored in amounts:
            id_ = (await opened({"max_cost": "0.5"})).json()["discussion_id"]
            path = f"{home.at(await home.service.read(id_), 'host')}/resume"
            taken = await home.client.post(path, json=given, headers=home.owner)
            assert taken.status_code == 200, taken.text
            assert (await home.service.read(id_)).budget == stored
            await home.web.running.over(id_)


def test_the_openai_endpoint_takes_both_names() -> None:
    for given in (ALL, OLDER):
        wish = RoundtableOptions.model_validate({"budget": given})
        assert wish.budget is not None
        assert wish.budget.given == ALL


async def test_the_tools_take_both_names_and_describe_one(tmp_path: Path) -> None:
    env = {**ENV, "ROUNDTABLE_MODEL": "scripted/echo"}
    async with tools(tmp_path, env=env) as toolset:
        for given in (ALL, OLDER, {**ALL, "max_cost": "0.5"}):
            asked = await toolset.call("ask", {"question": "Tea?", "procedure": "council", **given})
            id_ = asked.model_dump()["discussion_id"]
            assert (await toolset.app.service.read(id_)).budget == STORED
        older: dict[str, Any] = {"max_seconds": 60}
        called = await toolset.ask("Tea?", procedure="council", **older)
        state = await toolset.app.service.read(called.discussion_id)
        assert state.budget == Budget(max_seconds=60)
        for name in ("ask", "resume"):
            described = toolset.operations[name].arguments.model_fields
            assert set(LIMIT_WORDS) <= set(described)
            assert not {"max_cost_usd", "max_seconds"} & set(described)
        with pytest.raises(UsageError, match="same limit"):
            await toolset.call("ask", {"question": "Tea?", "max_cost": 1, "max_cost_usd": 2})
        with pytest.raises(BadSetting, match="max_cost"):
            await toolset.call("ask", {"question": "Tea?", "max_cost_usd": -1})
