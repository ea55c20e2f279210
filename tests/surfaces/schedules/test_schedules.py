"""Schedules: opened once when they are due, whoever dies; visible and stoppable by every door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from roundtable.bootstrap import App, start
from roundtable.cluster.tables import QUEUE
from roundtable.core.errors import (
    LedgerTooNew,
    LedgerUnreachable,
    NotAllowed,
    UnknownName,
    UsageError,
)
from roundtable.core.schedule import FAILURES, Schedule
from roundtable.ledger.beside import beneath, in_sqlite
from roundtable.surfaces.python import Roundtable
from roundtable.surfaces.schedules import runner as runner_module
from roundtable.surfaces.schedules.making import (
    WantedSchedule,
    add_schedule,
    list_schedules,
    pause_schedule,
    remove_schedule,
    resume_schedule,
    told,
)
from roundtable.surfaces.schedules.runner import Runner
from roundtable.surfaces.tokens.capability import OWNER, Capability
from roundtable.surfaces.tokens.store import Tokens
from roundtable.surfaces.toolset.toolset import Toolset
from roundtable.views.notes import notes
from tests.cluster.house import until
from tests.surfaces.desk import Desk
from tests.surfaces.web.house import client_token, house, house_settings

REQUEST: dict[str, Any] = {
    "procedure": "council",
    "options": {"all": "scripted/echo", "quick": True},
}
MONDAYS = WantedSchedule("What changed?", cron="0 8 * * 1", zone="Europe/Berlin", request=REQUEST)
HOURLY = WantedSchedule("What changed?", cron="0 * * * *", request=REQUEST)


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with start(house_settings(tmp_path / "home"), env={}) as app:
        yield app


async def added(app: App, wanted: WantedSchedule = MONDAYS, held: Capability = OWNER) -> Schedule:
    return await add_schedule(app, held, wanted, surface="cli", made_by="test")


async def make_due(app: App, schedule: Schedule, ago: timedelta = timedelta(seconds=1)) -> Schedule:
    """As if its time had come."""
    due = (datetime.now(UTC) - ago).replace(microsecond=0)
    return await (await app.schedules()).change(
        schedule.id, lambda each: each.model_copy(update={"next_due": due})
    )


async def run_due(app: App, who: str = "here") -> list[str]:
    return await Runner(app, lambda _: None, who=who).run_due()


async def the_one(app: App) -> Schedule:
    (one,) = await list_schedules(app, OWNER)
    return one


def token(app: App, **more: Any) -> Capability:
    secret = client_token(app.settings.home, **more)
    found = Tokens(app.settings.home).find(secret)
    assert found is not None
    return found


@pytest.mark.requirement("Z-21")
async def test_what_is_due_is_opened_once_and_planned_anew(app: App) -> None:
    schedule = await added(app)
    assert await run_due(app) == []
    await make_due(app, schedule)
    (opened,) = await run_due(app)
    assert await run_due(app) == []
    state = await app.service.read(opened)
    assert (state.start.topic, state.start.procedure) == ("What changed?", "council")
    assert state.start.created_by == f"schedule {schedule.id}"
    now = await the_one(app)
    assert (now.last_discussion, now.runs, now.missed, now.enabled) == (opened, 1, 0, True)
    assert now.next_due is not None
    assert now.next_due > datetime.now(UTC)


async def test_whoever_dies_between_opening_and_saying_so_opens_nothing_twice(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = await make_due(app, await added(app))
    monkeypatch.setattr(runner_module, "CLAIM", 0.0)

    def dies(_: str) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await Runner(app, dies, who="first").run_due()
    (opened,) = await run_due(app, "second")
    assert [row.discussion_id for row in await app.service.summaries()] == [opened]
    assert (await the_one(app)).last_discussion == opened
    assert schedule.runs == 0


async def test_several_runners_open_one(app: App) -> None:
    await make_due(app, await added(app))
    opened = await asyncio.gather(*(run_due(app, f"runner {n}") for n in range(6)))
    assert sum(len(each) for each in opened) == 1


async def test_missed_runs_are_made_up_for_by_one_that_says_so(app: App) -> None:
    await make_due(app, await added(app, HOURLY), timedelta(hours=5, minutes=30))
    (opened,) = await run_due(app)
    (late,) = [each for each in notes(await app.service.read(opened)) if "schedule" in each.code]
    assert "nobody was there" in late.text
    missed = (await the_one(app)).missed
    assert missed in (5, 6), "as the minute of the hour has it"
    assert f"{missed} further runs fell out" in late.text
    assert await run_due(app) == []


async def test_what_comes_once_is_over_then(app: App) -> None:
    wanted = WantedSchedule("Later?", at="2999-01-01T08:00", request=REQUEST)
    schedule = await make_due(app, await added(app, wanted))
    assert len(await run_due(app)) == 1
    now = await the_one(app)
    assert (now.over, now.enabled, now.next_due) == (True, False, None)
    with pytest.raises(NotAllowed, match="over"):
        await resume_schedule(app, OWNER, schedule.id)


async def test_paused_it_opens_nothing_and_goes_on_with_the_next_time(app: App) -> None:
    schedule = await added(app, HOURLY)
    assert not (await pause_schedule(app, OWNER, schedule.id, by="me")).enabled
    assert await (await app.schedules()).due_in() is None
    again = await resume_schedule(app, OWNER, schedule.id[:6])
    assert again.next_due is not None
    assert again.next_due > datetime.now(UTC)
    await remove_schedule(app, OWNER, schedule.id)
    assert await list_schedules(app, OWNER) == []


@pytest.mark.parametrize(
    "wrong",
    [
        WantedSchedule("Why?", request=REQUEST),
        WantedSchedule("Why?", cron="0 8 * * *", at="2999-01-01", request=REQUEST),
        WantedSchedule("", cron="0 8 * * *", request=REQUEST),
        WantedSchedule("Why?", cron="0 8 * * *", zone="Nowhere", request=REQUEST),
        WantedSchedule("Why?", cron="0 8 * * *", request={"procedure": "none such"}),
        WantedSchedule("Why?", cron="0 8 * * *", request={"options": {"models": "no/such"}}),
        WantedSchedule("Why?", at="2020-01-01", request=REQUEST),
        WantedSchedule("Why?", cron="0 8 * * *", monthly_usd=1e300, request=REQUEST),
        WantedSchedule("Why?", cron="0 8 * * *", monthly_usd=inf, request=REQUEST),
        WantedSchedule("Why?", cron="0 8 * * *", monthly_usd=nan, request=REQUEST),
        WantedSchedule("Why?", cron="0 8 * * *", monthly_usd=-1.0, request=REQUEST),
    ],
)
async def test_what_cannot_be_opened_is_refused_when_it_is_added(
    app: App, wrong: WantedSchedule
) -> None:
    with pytest.raises(UsageError):
        await added(app, wrong)
    assert await list_schedules(app, OWNER) == []


async def test_whose_models_are_gone_says_so_and_is_paused_after_some_failures(app: App) -> None:
    schedule = await added(app)
    gone = {"procedure": "council", "options": {"all": "nobody/any", "quick": True}}
    await (await app.schedules()).change(
        schedule.id, lambda each: each.model_copy(update={"request": gone})
    )
    for failures in range(1, FAILURES + 1):
        await make_due(app, schedule)
        assert await run_due(app) == []
        assert (await the_one(app)).failures == failures
    now = await the_one(app)
    assert (now.enabled, now.next_due) == (False, None)
    assert "'nobody'" in now.last_problem
    assert now.why.startswith("3 runs in a row")


async def test_whose_zone_is_gone_is_paused_with_the_reason(app: App) -> None:
    schedule = await make_due(app, await added(app))
    await (await app.schedules()).change(
        schedule.id, lambda each: each.model_copy(update={"zone": "Europe/Atlantis"})
    )
    assert await run_due(app) == []
    assert "Europe/Atlantis" in (await the_one(app)).why


async def test_a_token_has_schedules_of_its_own_and_they_end_with_it(app: App) -> None:
    ada, bob = token(app), token(app)
    schedule = await added(app, held=ada)
    assert await list_schedules(app, bob) == []
    with pytest.raises(UnknownName):
        await remove_schedule(app, bob, schedule.id)
    await make_due(app, schedule)
    (opened,) = await run_due(app)
    kept = next(each for each in Tokens(app.settings.home).listed() if each.capability.id == ada.id)
    assert kept.capability.opened == {opened}
    Tokens(app.settings.home).end(ada.id)
    now = await the_one(app)
    assert (now.enabled, now.next_due, "was ended" in told(now)) == (False, None, True)
    with pytest.raises(NotAllowed, match="was ended"):
        await resume_schedule(app, OWNER, schedule.id)
    await make_due(app, schedule)
    assert await run_due(app) == []
    now = await the_one(app)
    assert (now.enabled, "was ended" in now.why) == (False, True)


async def test_a_database_that_is_away_leaves_the_run_for_later(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_due(app, await added(app))
    monkeypatch.setattr(runner_module, "CLAIM", 0.0)

    async def away(*_: Any, **__: Any) -> Any:
        raise LedgerUnreachable("It is away.")

    with monkeypatch.context() as patch:
        patch.setattr(runner_module, "open_as", away)
        with pytest.raises(LedgerUnreachable):
            await run_due(app)
    assert len(await run_due(app)) == 1


async def test_a_run_that_meets_too_many_waiting_is_put_off_and_not_lost(
    tmp_path: Path, postgres_url: str
) -> None:
    (tmp_path / "config.toml").write_text("[waiting]\neverybodys = 1\n", "utf-8")
    settings = house_settings(tmp_path, ROUNDTABLE_DB=postgres_url, ROUNDTABLE_DRIVE="workers")
    async with start(settings, env={}) as app:
        await make_due(app, await added(app))
        (first,) = await run_due(app)
        wanted = WantedSchedule("Later?", at="2999-01-01T08:00", request=REQUEST)
        once = await make_due(app, await added(app, wanted), timedelta(minutes=9))
        schedules = await app.schedules()
        for _ in range(FAILURES):
            assert await run_due(app) == []
            assert 0 < (await schedules.due_in() or 0) <= 3_600, "it rests for as long as was said"
            now = next(each for each in await schedules.all() if each.id == once.id)
            assert (now.next_due, now.enabled, now.failures) == (once.next_due, True, 0)
            assert "wait" in now.waits
            assert f"put off: {now.waits}" in told(now)
            await schedules.change(once.id, lambda each: each)  # as if it had rested
        await app.service.delete(first)
        queue = app.queue
        assert queue is not None
        async with (await queue.opened()).ledger.transaction() as connection:
            await connection.execute(f"DELETE FROM {QUEUE}")
        (opened,) = await run_due(app)
        (late,) = [each for each in notes(await app.service.read(opened)) if "late" in each.code]
        assert f"put off: {now.waits}" in late.text
        over = next(each for each in await schedules.all() if each.id == once.id)
        assert (over.over, over.waits, over.last_discussion) == (True, "", opened)


async def test_whoever_is_told_to_end_while_it_opens_leaves_the_run_to_others_at_once(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_due(app, await added(app))
    opening = asyncio.Event()

    async def slow(*_: Any, **__: Any) -> Any:
        opening.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(runner_module, "open_as", slow)
        runs = asyncio.create_task(run_due(app, "first"))
        await opening.wait()
        assert await run_due(app, "second") == []
        runs.cancel()
        with pytest.raises(asyncio.CancelledError):
            await runs
    assert len(await run_due(app, "second")) == 1


async def test_a_schedule_that_meets_a_defect_holds_up_no_other(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    odd = await added(app)
    await (await app.schedules()).change(
        odd.id, lambda each: each.model_copy(update={"request": {**REQUEST, "newer": 1}})
    )
    await make_due(app, odd, timedelta(seconds=9))
    await make_due(app, await added(app, HOURLY))
    assert len(await run_due(app)) == 1
    now, other = await list_schedules(app, OWNER)
    assert (now.runs, other.runs, now.failures) == (0, 1, 0)
    assert "TypeError" in now.waits
    assert "because of a defect" in caplog.text


async def test_whatever_goes_wrong_the_runner_goes_on_and_says_so(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runner_module, "LOOKS", 0.0)
    await make_due(app, await added(app))
    opened: asyncio.Queue[str] = asyncio.Queue()
    real = Schedule.model_validate_json
    failed: list[str] = []

    def fails_once(data: str) -> Schedule:
        if not failed:
            failed.append(data)
            raise ZeroDivisionError
        return real(data)

    monkeypatch.setattr(Schedule, "model_validate_json", fails_once)
    keeps = asyncio.create_task(Runner(app, opened.put_nowait, who="here").keep())
    assert await opened.get()
    keeps.cancel()
    assert "ZeroDivisionError" in caplog.text


async def test_what_a_newer_version_wrote_is_told_and_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runner_module, "LOOKS", 0.0)
    async with house(tmp_path / "home") as home:
        app = home.app
        newer = await make_due(app, await added(app), timedelta(minutes=1))
        await make_due(app, await added(app, HOURLY))
        await written_by_a_newer_one(app, newer.id)
        opened: asyncio.Queue[str] = asyncio.Queue()
        keeps = asyncio.create_task(Runner(app, opened.put_nowait, who="here").keep())
        await opened.get()

        async def told_of_it() -> bool:
            return newer.id in caplog.text

        await until(told_of_it)
        keeps.cancel()
        assert (await the_one(app)).question == "What changed?"
        answer = await home.client.get("/api/schedules", headers=home.owner)
        assert (answer.status_code, len(answer.json()["schedules"])) == (200, 1)
        assert answer.json()["unreadable"] == [newer.id]
        others = await home.client.get("/api/schedules", headers=other_of(home))
        assert others.json() == {"schedules": [], "unreadable": []}
        with pytest.raises(LedgerTooNew, match="newer Roundtable"):
            await pause_schedule(app, OWNER, newer.id, by="me")
        assert newer.id in (await Toolset(app).schedule()).hint


async def test_the_tool_takes_every_limit(app: App) -> None:
    limits = {"max_cost": 0.5, "max_calls": 9, "max_tokens": 9_000, "max_time": 60}
    wanted = {"action": "add", "question": "What changed?", "at": "2100-12-01T08:00", **limits}
    await Toolset(app).call("schedule", {**wanted, "options": {"all": "scripted/echo"}})
    budget = (await the_one(app)).request["budget"]
    assert budget == {
        "max_cost_usd": 0.5, "max_calls": 9, "max_tokens": 9_000, "max_seconds": 60
    }  # fmt: skip


async def written_by_a_newer_one(app: App, schedule_id: str) -> None:
    ledger = await beneath(app.ledger)
    assert in_sqlite(ledger)
    newer = "UPDATE schedules SET data = json_set(data, '$.mood', 'calm') WHERE id = ?"
    await ledger.beside(lambda c: c.execute(newer, (schedule_id,)).rowcount)


async def test_a_months_budget_of_a_schedule_is_kept(app: App) -> None:
    wanted = WantedSchedule(
        "What changed?", cron="0 8 * * 1", monthly_usd=1.0,
        request={**REQUEST, "budget": {"max_cost_usd": 0.7}},
    )  # fmt: skip
    schedule = await added(app, wanted)
    found = []
    for ago in (30, 20, 10):
        await make_due(app, schedule, timedelta(seconds=ago))
        found += await run_due(app)
    limits = [(await app.service.read(each)).budget.max_cost_usd for each in found]
    assert limits[0] == 0.7
    assert limits[1] == pytest.approx(0.3)
    assert len(limits) == 2
    now = await the_one(app)
    assert "set aside" in now.waits


async def test_a_fleet_opens_one_and_workers_get_it(tmp_path: Path, postgres_url: str) -> None:
    settings = house_settings(
        tmp_path / "home", ROUNDTABLE_DB=postgres_url, ROUNDTABLE_DRIVE="workers"
    )
    async with start(settings, env={}) as one, start(settings, env={}) as other:
        await make_due(one, await added(one))
        runs = [run_due(each, f"{n}") for n, each in enumerate((one, other) * 4)]
        opened = [id_ for each in await asyncio.gather(*runs) for id_ in each]
        assert len(opened) == 1
        assert await one.service.is_queued(opened[0])
        now = await the_one(other)
        assert (now.last_discussion, now.runs) == (opened[0], 1)


@pytest.mark.parametrize("drive", ["auto", "here"])
async def test_what_a_worker_opens_waits_for_one_although_none_is_there_yet(
    tmp_path: Path, postgres_url: str, drive: str
) -> None:
    settings = house_settings(tmp_path / "home", ROUNDTABLE_DB=postgres_url, ROUNDTABLE_DRIVE=drive)
    async with start(settings, env={}) as app:
        await make_due(app, await added(app))
        (opened,) = await Runner(app, None, who="worker").run_due()
        assert await app.service.is_queued(opened)


async def test_what_another_opened_and_did_not_drive_waits_for_a_worker_too(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "CLAIM", 0.0)
    settings = house_settings(tmp_path / "home", ROUNDTABLE_DB=postgres_url)

    def dies(_: str) -> None:
        raise asyncio.CancelledError

    async with start(settings, env={}) as app:
        await make_due(app, await added(app))
        with pytest.raises(asyncio.CancelledError):
            await Runner(app, dies, who="server").run_due()
        (opened,) = await Runner(app, None, who="worker").run_due()
        assert [row.discussion_id for row in await app.service.summaries()] == [opened]
        assert await app.service.is_queued(opened)


# Every door


def test_the_command_line_adds_lists_stops_and_runs(desk: Desk) -> None:
    table = ("--all=scripted/echo", "--quick", "--procedure", "council")
    made = desk("schedule", "add", "What changed?", "--cron", "0 8 * * 1", *table, "--zone", "UTC")
    assert (made.code, made.out[:3]) == (0, "sc_"), made.err
    assert "08:00 UTC" in made.err
    id_ = made.out.strip()
    assert id_ in desk("schedule", "list").out
    (row,) = desk("schedule", "list", "--json").document
    assert (row["id"], row["cron"], row["zone"]) == (id_, "0 8 * * 1", "UTC")
    assert "council" in desk("schedule", "show", id_).out
    assert desk("schedule", "pause", id_).code == 0
    assert "paused" in desk("schedule", "list").out
    assert "due" in desk("schedule", "resume", id_).err
    assert desk("schedule", "run", "--once").code == 0
    assert desk("schedule", "remove", id_).code == 0
    assert desk("schedule", "show", id_).code == 2


async def test_http_shows_and_stops_them_by_whose_they_are(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        mine = {"Authorization": f"Bearer {client_token(home.app.settings.home)}"}
        body = {"topic": "Why?", "cron": "0 8 * * 1", "zone": "Europe/Berlin", **REQUEST}
        made = await home.client.post("/api/schedules", json=body, headers=mine)
        assert made.status_code == 201, made.text
        id_ = made.json()["id"]
        for headers, seen in ((mine, 1), (home.owner, 1), (other_of(home), 0)):
            listed = await home.client.get("/api/schedules", headers=headers)
            assert len(listed.json()["schedules"]) == seen
        stolen = await home.client.delete(f"/api/schedules/{id_}", headers=other_of(home))
        assert stolen.status_code == 404
        paused = await home.client.post(f"/api/schedules/{id_}/pause", json={}, headers=mine)
        assert paused.json()["enabled"] is False
        resumed = await home.client.post(
            f"/api/schedules/{id_}/resume", json={}, headers=home.owner
        )
        assert resumed.json()["enabled"] is True
        wrong = await home.client.post("/api/schedules", json={**body, "cron": "x"}, headers=mine)
        assert wrong.status_code == 422
        endless = json.dumps({**body, "monthly_usd": inf}).replace("Infinity", "1e999")
        typed = {**mine, "Content-Type": "application/json"}
        wrong = await home.client.post("/api/schedules", content=endless, headers=typed)
        assert (wrong.status_code, "finite" in wrong.text) == (422, True)
        gone = await home.client.delete(f"/api/schedules/{id_}", headers=home.owner)
        assert gone.status_code == 200
        assert (await home.client.get("/api/schedules", headers={})).status_code == 401


def other_of(home: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {client_token(home.app.settings.home)}"}


async def test_the_tool_adds_lists_and_stops_them(app: App) -> None:
    tools = Toolset(app)
    made = await tools.schedule(
        action="add", question="Why?", cron="@daily", max_cost=1.0, **REQUEST
    )
    (row,) = made.schedules
    assert [each.id for each in (await tools.schedule()).schedules] == [row.id]
    stopped = await tools.schedule(action="pause", schedule_id=row.id)
    assert stopped.schedules[0].enabled is False
    await tools.schedule(action="remove", schedule_id=row.id)
    assert (await tools.schedule()).schedules == []
    with pytest.raises(UsageError, match="schedule_id"):
        await tools.schedule(action="pause")
    await tools.close()


async def test_the_library_adds_and_runs_them(tmp_path: Path) -> None:
    async with Roundtable(home=tmp_path, model="scripted/echo") as table:
        made = await table.schedule("Why?", cron="@daily", **REQUEST)
        assert [each.id for each in await table.schedules()] == [made.id]
        assert await table.run_due() == []
        assert not (await table.pause_schedule(made.id)).enabled
        assert (await table.resume_schedule(made.id)).enabled
        await table.remove_schedule(made.id)
        with pytest.raises(UnknownName):
            await table.schedule("Why?", cron="@daily", wrong=1)
