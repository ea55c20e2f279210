"""Workers in processes of their own that are killed, stopped and told to end: nothing is lost, and
no finished call is made again."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from roundtable.bootstrap import App
from roundtable.cluster.fleet import look
from roundtable.core.schedule import Schedule
from roundtable.core.state import State
from tests.cluster.house import (
    WorkerProcess,
    calls_by_turn,
    concluded,
    env_of,
    member,
    opened,
    queue_of,
    until,
    worker_processes,
)
from tests.servers import ProviderServer, provider_server
from tests.surfaces.desk import obedient


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with provider_server(obedient, latency=0.3) as server:
        yield server


@pytest.fixture
async def app(postgres_url: str, tmp_path: Path, provider: ProviderServer) -> AsyncIterator[App]:
    async with member(postgres_url, tmp_path / "home", provider) as app:
        yield app


@pytest.fixture
def env(postgres_url: str, tmp_path: Path, provider: ProviderServer) -> dict[str, str]:
    return env_of(postgres_url, tmp_path / "home", provider)


async def test_a_run_that_is_due_when_the_first_worker_starts_is_driven(
    app: App, env: dict[str, str], tmp_path: Path
) -> None:
    schedules = await app.schedules()
    now = datetime.now(UTC)
    request = {"procedure": "council", "options": {"quick": True}, "search": False}
    await schedules.add(
        Schedule(id="sc_1", question="Later?", request=request, made_at=now, next_due=now)
    )

    async def opened_one() -> bool:
        return bool((await schedules.all())[0].last_discussion)

    with worker_processes(1, env, tmp_path / "w"):
        await until(opened_one)
        (state,) = await concluded(app, (await schedules.all())[0].last_discussion)
    assert state.verdict is not None


async def busy(app: App, workers: list[WorkerProcess]) -> WorkerProcess:
    """One of them that drives something, once there is one."""
    queue = await queue_of(app)
    found: list[int] = []

    async def somebody() -> bool:
        found[:] = [each.pid for each in (await look(queue)).workers if each.drives]
        return bool(found)

    await until(somebody)
    return next(each for each in workers if each.process.pid == found[0])


async def answered(app: App, ids: list[str]) -> set[str]:
    """The turns whose answers are stored."""
    states = [await app.service.read(each) for each in ids]
    return {
        f"{state.discussion_id}/{turn.id}"
        for state in states
        for turn in state.turns.values()
        if any(attempt.finished for attempt in turn.attempts)
    }


def check_whole(states: list[State]) -> None:
    """Every discussion has its verdict, and every turn one speech."""
    for state in states:
        assert state.verdict is not None
        turns = [speech.turn_id for speech in state.speeches]
        assert len(turns) == len(set(turns))


@pytest.mark.requirement("Z-21")
async def test_of_three_workers_one_is_killed_and_nothing_is_lost_or_doubled(
    app: App, env: dict[str, str], tmp_path: Path, provider: ProviderServer
) -> None:
    with worker_processes(3, env, tmp_path / "w", "--at-once", "2") as workers:
        ids = [await opened(app, f"Question {number}?") for number in range(6)]
        provider.wait(lambda log: sum(each.state == "finished" for each in log) > 3, timeout=60)
        victim = await busy(app, workers)
        victim.gets(signal.SIGKILL)
        victim.ends()
        stored = await answered(app, ids)
        before = calls_by_turn(provider)
        check_whole(await concluded(app, *ids))
        after = calls_by_turn(provider)
    assert {turn: after[turn] for turn in stored} == {turn: before[turn] for turn in stored}
    assert (await look(await queue_of(app))).waiting_in_all == 0


@pytest.mark.requirement("Z-21")
async def test_a_stopped_worker_that_wakes_finds_its_work_done_and_changes_nothing(
    app: App, env: dict[str, str], tmp_path: Path, provider: ProviderServer
) -> None:
    with worker_processes(2, env, tmp_path / "w") as workers:
        id_ = await opened(app)
        provider.wait(lambda log: len(log) > 0, timeout=60)
        zombie = await busy(app, workers)
        zombie.gets(signal.SIGSTOP)
        stored = await answered(app, [id_])
        states = await concluded(app, id_)
        check_whole(states)
        asked = len(provider.requests)
        zombie.gets(signal.SIGCONT)
        zombie.says(f"{id_}: another worker drives it now")
        assert (await app.service.read(id_)).seq == states[0].seq
        assert len(provider.requests) == asked, "it calls nobody any more"
        assert all(calls_by_turn(provider)[turn] == 1 for turn in stored)
        (other,) = [each for each in workers if each is not zombie]
        other.gets(signal.SIGTERM)
        assert other.ends() == 0
        second = await opened(app, "After it woke?")
        check_whole(await concluded(app, second))


@pytest.mark.requirement("Z-21")
async def test_a_worker_that_is_to_end_hands_on_what_it_drives(
    app: App, env: dict[str, str], tmp_path: Path, provider: ProviderServer
) -> None:
    with worker_processes(2, env, tmp_path / "w", "--grace", "30") as workers:
        id_ = await opened(app)
        provider.wait(lambda log: len(log) > 0, timeout=60)
        leaving = await busy(app, workers)
        leaving.gets(signal.SIGTERM)
        assert leaving.ends() == 0
        assert "handed on" in leaving.err
        check_whole(await concluded(app, id_))
    assert set(calls_by_turn(provider).values()) == {1}, "answers under way were waited for"
