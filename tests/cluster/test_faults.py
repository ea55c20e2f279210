"""What befalls workers and is nobody's fault: no memory, no network, a wrong clock."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack
from pathlib import Path

import pytest

from roundtable.bootstrap import App
from roundtable.cluster.fleet import look
from roundtable.cluster.job import DEATHS
from tests.cluster.faulty import POISON
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
    working,
)
from tests.cluster.proxy import Network
from tests.cluster.test_processes import busy, check_whole
from tests.servers import ProviderServer, provider_server
from tests.surfaces.desk import obedient

SLOW = 180.0
"""Seconds for what others do after several deaths, each of which is noticed after four."""


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


async def set_aside(app: App, discussion_id: str) -> str:
    """Wait until it is; why, as the fleet tells it."""
    queue, why = await queue_of(app), list[str]()

    async def aside() -> bool:
        found = (await look(queue)).set_aside
        why[:] = [each.why for each in found if each.discussion_id == discussion_id]
        return bool(why)

    await until(aside, seconds=SLOW)
    (row,) = [each for each in await app.service.summaries() if each.discussion_id == discussion_id]
    assert row.standing == "set_aside"
    return why[0]


@pytest.mark.requirement("Z-21")
async def test_a_worker_that_runs_out_of_memory_sets_that_discussion_aside_and_goes_on(
    app: App, env: dict[str, str], tmp_path: Path
) -> None:
    poison = await opened(app, POISON)
    with worker_processes(1, env, tmp_path / "w", fault="memory") as (worker,):
        assert await set_aside(app, poison) == "MemoryError"
        check_whole(await concluded(app, await opened(app, "Harmless?")))
        assert worker.process.poll() is None, "it is the same worker"
        worker.gets(signal.SIGTERM)
        assert worker.ends() == 0
    state = await app.service.run(poison)
    assert state.verdict is not None, "where there is memory it goes on"


@pytest.mark.requirement("Z-21")
async def test_workers_that_the_system_kills_over_one_discussion_cost_the_others_nothing(
    app: App, env: dict[str, str], tmp_path: Path, provider: ProviderServer
) -> None:
    with worker_processes(DEATHS, env, tmp_path / "w", fault="killed") as workers:
        innocent, poison = await opened(app, "Harmless?"), await opened(app, POISON)
        for each in workers:
            assert await asyncio.to_thread(each.ends) == -signal.SIGKILL
    with worker_processes(1, env, tmp_path / "w"):
        await set_aside(app, poison)
        check_whole(await concluded(app, innocent))
    state = await app.service.read(poison)
    assert [note.code for note in state.notes].count("set_aside") == 1
    assert not any(turn.startswith(poison) for turn in calls_by_turn(provider))


@pytest.mark.requirement("Z-21")
async def test_a_worker_that_loses_the_network_keeps_what_arrives_and_goes_on_when_it_is_back(
    postgres_url: str, app: App, tmp_path: Path, provider: ProviderServer
) -> None:
    async with AsyncExitStack() as stack:
        network = await stack.enter_async_context(Network(postgres_url))
        there = await stack.enter_async_context(member(network.url, tmp_path / "there", provider))
        told: list[str] = []
        await stack.enter_async_context(working(there, on_change=told.append))
        id_ = await opened(app)
        await asyncio.to_thread(provider.wait, lambda log: len(log) > 0, timeout=60)
        network.is_lost()
        await asyncio.to_thread(
            provider.wait, lambda log: all(each.state == "finished" for each in log), timeout=60
        )
        before = (await app.service.read(id_)).seq
        await until(lambda: _said(told, "does not answer"))
        assert (await app.service.read(id_)).seq == before
        network.is_back()
        check_whole(await concluded(app, id_))
    assert set(calls_by_turn(provider).values()) == {1}, "nobody is asked again"


@pytest.mark.requirement("Z-21")
async def test_what_a_worker_without_network_drives_goes_on_elsewhere_and_it_changes_nothing(
    postgres_url: str, app: App, tmp_path: Path, provider: ProviderServer
) -> None:
    async with AsyncExitStack() as stack:
        network = await stack.enter_async_context(Network(postgres_url))
        there = await stack.enter_async_context(member(network.url, tmp_path / "there", provider))
        told: list[str] = []
        await stack.enter_async_context(working(there, on_change=told.append))
        id_ = await opened(app)
        await asyncio.to_thread(provider.wait, lambda log: len(log) > 0, timeout=60)
        network.is_lost()
        await asyncio.to_thread(
            provider.wait, lambda log: all(each.state == "finished" for each in log), timeout=60
        )
        async with working(app):
            (state,) = await concluded(app, id_)
        check_whole([state])
        asked = len(provider.requests)
        network.is_back()
        await until(lambda: _said(told, f"{id_}: another worker drives it now"), seconds=SLOW)
        assert (await app.service.read(id_)).seq == state.seq
        assert len(provider.requests) == asked, "it calls nobody any more"
        other = await opened(app, "After it is back?")
        check_whole(await concluded(app, other))


@pytest.mark.requirement("Z-21")
async def test_a_worker_without_network_can_be_told_to_end_and_the_next_has_its_answers(
    postgres_url: str, app: App, tmp_path: Path, provider: ProviderServer
) -> None:
    def started() -> AbstractContextManager[list[WorkerProcess]]:
        return worker_processes(1, env_of(network.url, tmp_path / "there", provider), tmp_path)

    async with Network(postgres_url) as network, AsyncExitStack() as stack:
        (worker,) = await _beside(stack, started())
        id_ = await opened(app)
        await asyncio.to_thread(provider.wait, lambda log: len(log) > 0, timeout=60)
        network.is_lost()
        await asyncio.to_thread(
            provider.wait, lambda log: all(each.state == "finished" for each in log), timeout=60
        )
        worker.gets(signal.SIGTERM)
        await asyncio.to_thread(worker.says, "does not answer")
        worker.gets(signal.SIGTERM)
        assert await asyncio.to_thread(worker.ends) == 0
        assert "the next start takes it in" in worker.err
        network.is_back()
        await _beside(stack, started())
        check_whole(await concluded(app, id_))
        assert set(calls_by_turn(provider).values()) == {1}, "nobody is asked again"


async def _beside(
    stack: AsyncExitStack, workers: AbstractContextManager[list[WorkerProcess]]
) -> list[WorkerProcess]:
    """Start them while the network, which is in this process, goes on."""
    started = await asyncio.to_thread(workers.__enter__)
    stack.callback(workers.__exit__, None, None, None)
    return started


async def _said(told: list[str], words: str) -> bool:
    return any(words in line for line in told)


@pytest.mark.requirement("Z-21")
async def test_workers_whose_clocks_are_ten_minutes_apart_take_nothing_from_each_other(
    app: App, env: dict[str, str], tmp_path: Path, provider: ProviderServer
) -> None:
    with ExitStack() as stack:
        workers = [
            *stack.enter_context(worker_processes(1, env, tmp_path / "w", fault="clock:300")),
            *stack.enter_context(worker_processes(1, env, tmp_path / "w", fault="clock:-300")),
        ]
        ids = [await opened(app, f"Question {number}?") for number in range(4)]
        check_whole(await concluded(app, *ids))
        assert set(calls_by_turn(provider).values()) == {1}
        last = await opened(app, "And when one of them dies?")
        await asyncio.to_thread(
            provider.wait,
            lambda log: any((each.idempotency_key or "").startswith(last) for each in log),
            timeout=60,
        )
        victim = await busy(app, workers)
        victim.gets(signal.SIGKILL)
        victim.ends()
        check_whole(await concluded(app, last))
