"""Budgets of a month: for a token, for everybody; set aside at the opening, counted at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from roundtable.bootstrap import App, start
from roundtable.core.errors import Forbidden, RoundtableError
from roundtable.core.state import State
from roundtable.core.values import Budget
from roundtable.ledger import open_ledger
from roundtable.ledger.purses import purses_beside
from roundtable.ports import Purses
from roundtable.procedures.opening import OpenRequest
from roundtable.settings import MonthlySetting, Settings
from roundtable.surfaces.tokens.capability import OWNER, Capability
from roundtable.surfaces.tokens.monthly import allow, told_of
from roundtable.surfaces.tokens.opening import open_as
from roundtable.surfaces.tokens.store import Tokens
from tests.surfaces.desk import Desk
from tests.surfaces.web.house import QUICK, client_token, house, house_settings


def with_months(settings: Settings, **monthly: float) -> Settings:
    choices = settings.choices.model_copy(update={"monthly": MonthlySetting(**monthly)})
    return settings.model_copy(update={"choices": choices})


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with start(house_settings(tmp_path / "home"), env={}) as app:
        yield app


def token(app: App, **more: Any) -> Capability:
    found = Tokens(app.settings.home).find(client_token(app.settings.home, **more))
    assert found is not None
    return found


async def opened(app: App, held: Capability, most: float | None = None) -> State:
    budget = Budget(max_cost_usd=most)
    state, _ = await open_as(app, held, OpenRequest("Why?", options=QUICK, budget=budget))
    return state


@pytest.mark.requirement("Z-21")
async def test_a_token_spends_no_more_than_its_month_allows(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 1.0)
    first = await opened(app, ada, 0.6)
    second = await opened(app, ada)
    assert second.budget.max_cost_usd == pytest.approx(0.4)
    assert second.limits_from["max_cost_usd"] == "what is left of the month's budget"
    with pytest.raises(Forbidden, match="renews on"):
        await opened(app, ada, 0.1)
    # Scripts cost nothing: once one is over, what was set aside for it is there again.
    await app.service.run(first.discussion_id)
    assert (await opened(app, ada, 0.5)).budget.max_cost_usd == 0.5
    assert "of $1 left this month" in await told_of(app, ada)


async def test_the_owner_raises_it(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 0.0)
    with pytest.raises(Forbidden):
        await opened(app, ada)
    await allow(app, ada.id, 2.0)
    assert (await opened(app, ada)).budget.max_cost_usd == 2.0


async def test_what_is_given_out_through_a_token_counts_in_its_month(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 1.0)
    _, below = Tokens(app.settings.home).add(
        Capability(ada.acts, discussions=frozenset(), channels=frozenset()), ada
    )
    await opened(app, below, 0.8)
    assert (await opened(app, ada)).budget.max_cost_usd == pytest.approx(0.2)


async def test_the_settings_limit_each_token_and_all_together(tmp_path: Path) -> None:
    settings = with_months(house_settings(tmp_path / "home"), each_usd=1.0, all_usd=1.5)
    async with start(settings, env={}) as app:
        ada, bob = token(app), token(app)
        assert (await opened(app, ada)).budget.max_cost_usd == 1.0
        assert (await opened(app, bob)).budget.max_cost_usd == pytest.approx(0.5)
        with pytest.raises(Forbidden):
            await opened(app, OWNER)


async def test_an_opening_that_fails_takes_nothing(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 1.0)
    with pytest.raises(RoundtableError):
        await open_as(app, ada, OpenRequest("", options=QUICK))
    assert (await opened(app, ada)).budget.max_cost_usd == 1.0


async def test_two_at_once_do_not_spend_the_same_money(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 1.0)
    found = await asyncio.gather(*(opened(app, ada, 0.7) for _ in range(4)), return_exceptions=True)
    limits = [each.budget.max_cost_usd for each in found if isinstance(each, State)]
    assert sum(each or 0.0 for each in limits) <= 1.0 + 1e-6


async def test_http_says_when_it_renews(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        secret = client_token(home.app.settings.home)
        found = Tokens(home.app.settings.home).find(secret)
        assert found is not None
        await allow(home.app, found.id, 0.0)
        body = {"topic": "Why?", "procedure": "council", "options": QUICK}
        headers = {"Authorization": f"Bearer {secret}"}
        answer = await home.client.post("/api/discussions", json=body, headers=headers)
        assert (answer.status_code, "renews on" in answer.text) == (403, True)


def test_the_command_line_sets_and_shows_it(desk: Desk) -> None:
    made = desk("tokens", "add", "laptop", "--monthly", "5")
    assert made.code == 0, made.err
    listed = desk("tokens").out
    assert "$5.00 of $5 left this month, renews" in listed
    id_ = listed.split()[0]
    assert desk("tokens", "budget", id_, "7.5").code == 0
    assert "of $7.5 left" in desk("tokens").out
    assert desk("tokens", "budget", id_, "usual").code == 0
    assert "this month" not in desk("tokens").out
    assert desk("tokens", "budget", id_, "lots").code == 2
    assert desk("tokens", "budget", "nobody", "5").code == 2


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_purses_are_counted_across_processes(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = tmp_path / "ledger.db" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    ledgers = [await open_ledger(where) for _ in range(3)]
    purses = [await purses_beside(each) for each in ledgers]

    async def takes(one: Purses, place: str) -> bool:
        try:
            await one.change(
                "ada", lambda purse, now: (purse.with_set_aside(place, 1.0, 5.0, now), None)
            )
        except Forbidden:
            return False
        return True

    took = await asyncio.gather(*(takes(purses[n % 3], f"rt_{n}") for n in range(12)))
    assert sum(took) == 5
    found, _ = await purses[0].look(["ada", "bob"])
    assert len(found["ada"].running) == 5
    assert "bob" not in found
    for each in ledgers:
        await each.close()
