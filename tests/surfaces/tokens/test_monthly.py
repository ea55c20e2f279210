"""Budgets of a month: for a token, for everybody; set aside at the opening, counted at the end."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from roundtable.bootstrap import App, start
from roundtable.core.errors import (
    BadSetting,
    Forbidden,
    LeaseHeld,
    LedgerTooNew,
    MoneySetAside,
    RoundtableError,
)
from roundtable.core.events import AttemptFinished, Event, StoredEvent
from roundtable.core.purse import STALLED, Purse, opening_place
from roundtable.core.state import State, fold
from roundtable.core.values import Budget, Reservation, Usage
from roundtable.ledger import open_ledger
from roundtable.ledger.purses import purses_beside
from roundtable.ports import OnWords, Purses, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.settings import MonthlySetting, Settings
from roundtable.speakers.scripted import ScriptedSpeaker
from roundtable.surfaces.tokens.capability import OWNER, Capability
from roundtable.surfaces.tokens.monthly import (
    EVERYBODY,
    SHARE,
    allow,
    months_of,
    settle_months,
    settled_cost,
)
from roundtable.surfaces.tokens.opening import again_as, open_as, raise_as, settle
from roundtable.surfaces.tokens.removing import remove
from roundtable.surfaces.tokens.store import Tokens
from tests.core.samples import failed, finished, recorded, started
from tests.core.samples import opened as discussion
from tests.surfaces.desk import ECHO, Desk
from tests.surfaces.web.house import MEETING, QUICK, client_token, house, house_settings

BY_WORDS = Usage(
    input_tokens=90, output_tokens=60, unpriced_calls=1, counted_usd=0.15, counted_calls=1
)


def with_months(settings: Settings, **monthly: float) -> Settings:
    choices = settings.choices.model_copy(update={"monthly": MonthlySetting(**monthly)})
    return settings.model_copy(update={"choices": choices})


class Paid(ScriptedSpeaker):
    """Echoes, for a cent a call."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(replace(request, model="scripted/echo"), on_words)
        return replace(reply, usage=Usage(input_tokens=1, output_tokens=1, priced_usd=0.01))


PAID = {"all": "scripted/paid", "quick": True}


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with start(house_settings(tmp_path / "home"), env={}, scripts={"paid": Paid()}) as app:
        yield app


def token(app: App, **more: Any) -> Capability:
    found = Tokens(app.settings.home).find(client_token(app.settings.home, **more))
    assert found is not None
    return found


async def opened(
    app: App, held: Capability, most: float | None = None, options: Any = QUICK
) -> State:
    budget = Budget(max_cost_usd=most)
    state, _ = await open_as(app, held, OpenRequest("Why?", options=options, budget=budget))
    return state


async def purse_of(app: App, account: str) -> Purse:
    purses, _ = await (await app.purses()).look([account])
    return purses[account]


async def gone(app: App, account: str) -> float:
    """What is spent or set aside, once it was looked at what is over."""
    await settle_months(app, [account])
    purses, now = await (await app.purses()).look([account])
    return purses[account].gone(now)


@pytest.mark.requirement("Z-21")
async def test_a_token_spends_no_more_than_its_month_allows(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 1.0)
    first = await opened(app, ada, 0.6)
    second = await opened(app, ada, 9.0)
    assert second.budget.max_cost_usd == pytest.approx(0.4)
    assert second.limits_from["max_cost_usd"] == "what is left of the month's budget"
    with pytest.raises(MoneySetAside, match="under way"):
        await opened(app, ada, 0.1)
    # Scripts cost nothing: once one is over, what was set aside for it is there again.
    await app.service.run(first.discussion_id)
    assert (await opened(app, ada, 0.5)).budget.max_cost_usd == 0.5
    month = (await months_of(app, [ada]))[ada.id]
    assert "$0.10 of $1 left this month ($0.90 set aside), renews" in month.told


async def test_the_owner_raises_it(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 0.0)
    with pytest.raises(Forbidden):
        await opened(app, ada)
    await allow(app, ada.id, 2.0)
    assert (await opened(app, ada, 9.0)).budget.max_cost_usd == 2.0


async def test_what_is_given_out_through_a_token_counts_in_its_month(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 1.0)
    _, below = Tokens(app.settings.home).add(
        Capability(ada.acts, discussions=frozenset(), channels=frozenset()), ada
    )
    await opened(app, below, 0.8)
    assert (await opened(app, ada, 9.0)).budget.max_cost_usd == pytest.approx(0.2)


async def test_the_settings_limit_each_token_and_all_together(tmp_path: Path) -> None:
    settings = with_months(house_settings(tmp_path / "home"), each_usd=1.0, all_usd=1.5)
    async with start(settings, env={}) as app:
        ada, bob = token(app), token(app)
        assert (await opened(app, ada, 9.0)).budget.max_cost_usd == 1.0
        assert (await opened(app, bob, 9.0)).budget.max_cost_usd == pytest.approx(0.5)
        with pytest.raises(MoneySetAside):
            await opened(app, OWNER)


async def test_an_opening_that_fails_takes_nothing(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 1.0)
    with pytest.raises(RoundtableError):
        await open_as(app, ada, OpenRequest("", options=QUICK))
    assert (await opened(app, ada, 9.0)).budget.max_cost_usd == 1.0


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
        except MoneySetAside:
            return False
        return True

    took = await asyncio.gather(*(takes(purses[n % 3], f"rt_{n}") for n in range(12)))
    assert sum(took) == 5
    assert (await purses[1].holding("rt_1") == ["ada"]) is took[1]
    assert await purses[1].holding("rt") == []
    found, _ = await purses[0].look(["ada", "bob"])
    assert len(found["ada"].running) == 5
    assert "bob" not in found
    for each in ledgers:
        await each.close()


async def test_raising_what_still_runs_counts_all_that_it_cost(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 2.0)
    state, ada = await open_as(
        app, ada, OpenRequest("Why?", options=PAID, budget=Budget(max_cost_usd=0.3))
    )
    id_ = state.discussion_id
    for most in (0.4, 0.5):
        await raise_as(app, ada, id_, {"max_cost": most}, surface="tools", by="ada")
    assert await gone(app, ada.id) == pytest.approx(0.5)
    over = await app.service.run(id_)
    assert over.usage.priced_usd > 0
    assert await gone(app, ada.id) == pytest.approx(over.usage.priced_usd)


async def test_raising_after_calls_were_made_forgets_none_of_them(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 2.0)
    state, ada = await open_as(
        app,
        ada,
        OpenRequest("Why?", options={"all": "scripted/paid"}, budget=Budget(max_cost_usd=0.3)),
    )
    id_ = state.discussion_id
    leaving = asyncio.Event()

    def leaves(record: StoredEvent, _: State) -> None:
        if isinstance(record.event, AttemptFinished):
            leaving.set()

    begun = await app.service.run(id_, on_event=leaves, leaving=leaving)
    assert begun.closed is None
    assert begun.usage.priced_usd > 0
    await raise_as(app, ada, id_, {"max_cost": 0.5}, surface="tools", by="ada")
    over = await app.service.run(id_)
    assert over.closed is not None
    assert await gone(app, ada.id) == pytest.approx(over.usage.priced_usd)


async def test_the_owner_goes_on_within_everybodys_month(tmp_path: Path) -> None:
    settings = with_months(house_settings(tmp_path / "home"), all_usd=1.0)
    async with start(settings, env={}, scripts={"paid": Paid()}) as app:
        state = await opened(app, OWNER, 0.5, PAID)
        id_ = state.discussion_id
        over = await app.service.run(id_)
        cost = over.usage.priced_usd
        stage = next(reversed(over.speeches)).stage
        await again_as(app, OWNER, id_, stage, by="owner")
        again = await app.service.run(id_)
        assert again.usage.priced_usd > cost
        assert await gone(app, EVERYBODY) == pytest.approx(again.usage.priced_usd)
        await use_up(app, EVERYBODY, 1.0)
        told = "all_usd under"
        with pytest.raises(Forbidden) as refused:
            await again_as(app, OWNER, id_, stage, by="owner")
        assert told in refused.value.remedy
        with pytest.raises(Forbidden):
            await raise_as(app, OWNER, id_, {"max_cost": 3.0}, surface="cli", by="owner")


async def use_up(app: App, account: str, limit: float) -> None:
    await (await app.purses()).change(
        account, lambda purse, _: (purse.model_copy(update={"spent": limit}), None)
    )


async def test_an_opening_that_died_holds_nothing_back(app: App) -> None:
    ada = token(app, spend=5.0)
    await allow(app, ada.id, 5.0)
    tokens = Tokens(app.settings.home)
    _, now = await (await app.purses()).look([])
    place = opening_place("lost", now - STALLED - timedelta(minutes=1))
    await (await app.purses()).change(
        ada.id, lambda purse, now: (purse.with_set_aside(place, 5.0, 5.0, now), None)
    )
    tokens.set_aside(ada, place, 5.0)
    state = await opened(app, ada, 1.0)
    assert list((await purse_of(app, ada.id)).running) == [state.discussion_id]
    assert tokens.left(ada) == 4.0


async def test_what_was_opened_by_somebody_who_died_then_still_counts(app: App) -> None:
    ada = token(app, spend=5.0)
    await allow(app, ada.id, 5.0)
    tokens = Tokens(app.settings.home)
    # Stored, and killed before it was noted for whom the money is.
    request = OpenRequest("Why?", options=PAID, budget=Budget(max_cost_usd=3.0))
    state = await app.service.open(request, key="lost")
    _, now = await (await app.purses()).look([])
    place = opening_place("lost", now - STALLED - timedelta(minutes=1))
    await (await app.purses()).change(
        ada.id, lambda purse, now: (purse.with_set_aside(place, 3.0, 5.0, now), None)
    )
    tokens.set_aside(ada, place, 3.0)
    await settle(app, tokens, ada)
    assert (await gone(app, ada.id), tokens.left(ada)) == (3.0, 2.0)
    assert list((await purse_of(app, ada.id)).running) == [state.discussion_id]
    over = await app.service.run(state.discussion_id)
    await settle(app, tokens, ada)
    assert await gone(app, ada.id) == pytest.approx(over.usage.priced_usd)
    assert tokens.left(ada) == pytest.approx(5.0 - over.usage.priced_usd)


async def test_what_a_newer_version_goes_on_with_stays_set_aside(app: App) -> None:
    ada = token(app, spend=2.0)
    await allow(app, ada.id, 1.0)
    newer = await opened(app, ada, 0.3)
    add_newer_event(app, newer.discussion_id)
    with pytest.raises(LedgerTooNew):
        await app.service.read(newer.discussion_id)
    assert (await opened(app, ada, 9.0)).budget.max_cost_usd == pytest.approx(0.7)


def add_newer_event(app: App, discussion_id: str) -> None:
    """An event such as the next version may know."""
    with closing(sqlite3.connect(app.settings.db)) as database, database:
        where = (discussion_id,)
        (last,) = database.execute(
            "SELECT last_seq FROM discussions WHERE id = ?", where
        ).fetchone()
        database.execute(
            "INSERT INTO events (discussion_id, seq, at, type, v, data) "
            "SELECT discussion_id, seq + 1, at, 'SpeechWeighed', 7, ? FROM events "
            "WHERE discussion_id = ? AND seq = ?",
            (json.dumps({"type": "SpeechWeighed", "v": 7}), discussion_id, last),
        )
        database.execute(
            "UPDATE discussions SET last_seq = ? WHERE id = ?", (last + 1, discussion_id)
        )


async def test_what_is_removed_has_cost_what_it_cost(app: App) -> None:
    ada = token(app, spend=5.0)
    await allow(app, ada.id, 5.0)
    over = await app.service.run((await opened(app, ada, 3.0, PAID)).discussion_id)
    cost = over.usage.priced_usd
    assert cost > 0
    await remove(app, over.discussion_id)
    assert await gone(app, ada.id) == pytest.approx(cost)
    assert Tokens(app.settings.home).left(ada) == pytest.approx(5.0 - cost)
    # Also what never came to its end: nobody can go on with it.
    await remove(app, (await opened(app, ada, 3.0, PAID)).discussion_id)
    assert await gone(app, ada.id) == pytest.approx(cost)
    assert Tokens(app.settings.home).left(ada) == pytest.approx(5.0 - cost)


async def test_what_is_driven_is_neither_removed_nor_settled(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 5.0)
    state = await opened(app, ada, 3.0, PAID)
    await app.ledger.take_lease(state.discussion_id, "somebody else", ttl=60.0)
    with pytest.raises(LeaseHeld):
        await remove(app, state.discussion_id)
    assert await gone(app, ada.id) == 3.0


async def test_what_nobody_here_can_read_counts_whole_when_it_is_removed(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 5.0)
    state = await opened(app, ada, 3.0, PAID)
    add_newer_event(app, state.discussion_id)
    await remove(app, state.discussion_id)
    assert (await gone(app, ada.id), (await purse_of(app, ada.id)).running) == (3.0, {})


@pytest.mark.parametrize(
    "removal",
    [
        ["delete", "ID", "--yes"],
        ["archive", "--older-than", "0d", "--to", "away"],
        ["purge", "--older-than", "0", "--yes"],
    ],
)
def test_every_command_that_removes_gives_back_what_was_not_spent(
    desk: Desk, removal: list[str]
) -> None:
    desk.home.mkdir(parents=True, exist_ok=True)
    (desk.home / "config.toml").write_text("[monthly]\nall_usd = 2.0\n", "utf-8")
    asked = desk("Why?", "--procedure", "council", *ECHO, "--quick", "--no-log",
                 "--max-cost", "1.5")  # fmt: skip
    assert asked.code == 0, asked.err
    removed = desk(*(desk.last_id() if each == "ID" else each for each in removal))
    assert removed.code == 0, removed.err

    async def everybodys() -> Purse:
        ledger = await open_ledger(desk.home / "roundtable.db")
        purses, _ = await (await purses_beside(ledger)).look([EVERYBODY])
        await ledger.close()
        return purses[EVERYBODY]

    purse = asyncio.run(everybodys())
    assert (purse.spent, purse.running) == (0.0, {})  # scripts cost nothing


async def test_a_month_is_shown_as_it_stands_now(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        ada, other = token(home.app), token(home.app)
        await allow(home.app, ada.id, 1.0)
        state = await opened(home.app, ada, 0.7)

        async def months() -> dict[str, Any]:
            listed = await home.client.get("/api/tokens", headers=home.owner)
            assert listed.status_code == 200, listed.text
            return {each["id"]: each["month"] for each in listed.json()["tokens"]}

        found = await months()
        assert found[other.id] is None
        assert found[ada.id]["left_usd"] == pytest.approx(0.3)
        assert found[ada.id]["set_aside_usd"] == 0.7
        await home.app.service.run(state.discussion_id)
        found = await months()
        assert (found[ada.id]["left_usd"], found[ada.id]["set_aside_usd"]) == (1.0, 0.0)
        assert found[ada.id]["renews"].endswith("-01")


@pytest.mark.parametrize("amount", ["nan", "inf", "1e308"])
@pytest.mark.parametrize("option", ["--monthly", "--spend"])
def test_what_is_no_amount_is_no_budget(desk: Desk, option: str, amount: str) -> None:
    made = desk("tokens", "add", "laptop", option, amount)
    assert made.code == 2, made.out
    assert "an amount of US dollars up to" in made.err
    assert "There are no tokens" in desk("tokens").err


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), 1e308, -1.0])
async def test_nobody_is_allowed_what_is_no_amount(app: App, amount: float) -> None:
    ada = token(app)
    with pytest.raises(BadSetting):
        await allow(app, ada.id, amount)
    with pytest.raises(BadSetting):
        token(app, spend=amount)


async def test_http_gives_out_no_more_than_an_amount(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        body = {"label": "laptop", "spend_usd": 1e308}
        answer = await home.client.post("/api/tokens", json=body, headers=home.owner)
        assert answer.status_code in (400, 422), answer.text
        assert "an amount of US dollars" in answer.text


async def test_what_nobody_limited_leaves_something_for_others(tmp_path: Path) -> None:
    settings = with_months(house_settings(tmp_path / "home"), each_usd=10.0)
    async with start(settings, env={"OPENAI_API_KEY": "none"}) as app:
        ada = token(app)
        options = {"all": "openai/gpt-5.3-codex", "quick": True}
        found = [await opened(app, ada, options=options) for _ in range(3)]
        expected = await app.service.estimate(found[0])
        assert expected.cost_usd is not None
        for state in found:
            most = state.budget.max_cost_usd
            assert most is not None
            assert expected.cost_usd[1] < most < 5.0
            assert state.limits_from["max_cost_usd"] == SHARE
        # None of them can spend more than what is set aside for it.
        aside = (await purse_of(app, ada.id)).running
        assert {state.discussion_id: state.budget.max_cost_usd for state in found} == {
            id_: each.amount for id_, each in aside.items()
        }


async def test_what_is_led_by_hand_gets_everything_that_is_left(app: App) -> None:
    ada = token(app)
    await allow(app, ada.id, 1.0)
    request = OpenRequest("Why?", procedure="meeting", options=MEETING)
    state, _ = await open_as(app, ada, request)
    assert state.budget.max_cost_usd == 1.0


@pytest.mark.parametrize(
    ("ended", "cost"),
    [
        (finished(), 0.1),
        (finished(usage=BY_WORDS), 0.1 + 0.4 * 75 / 400),
        (failed("timeout"), None),
    ],
    ids=["told", "counted by its words", "unknown"],
)
def test_what_was_only_counted_counts_with_caution_and_what_nobody_knows_as_set_aside(
    ended: Event, cost: float | None
) -> None:
    held = Reservation(input_tokens=100, output_tokens=400, cost_usd=0.5, answer_usd=0.4)
    state = fold(recorded(discussion(), started(reserved=held), ended))
    assert settled_cost(state) == (cost if cost is None else pytest.approx(cost))
