"""Workers drive what waits, hand on what they drive, and set aside what ends them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from roundtable.bootstrap import App
from roundtable.cluster import worker as worker_module
from roundtable.cluster.fleet import look
from roundtable.cluster.job import DEATHS, Job
from roundtable.cluster.sweeper import sweep
from roundtable.cluster.tables import QUEUE
from roundtable.core.errors import HeldElsewhere, LeaseHeld, UsageError
from roundtable.core.events import NoteAdded
from roundtable.core.state import State
from roundtable.ledger.leases import this_owner
from roundtable.surfaces.tokens.capability import OWNER
from roundtable.surfaces.tokens.opening import open_as
from roundtable.surfaces.web.running import Running
from roundtable.version import __version__
from roundtable.views.decision import Decision
from roundtable.views.row import Row
from tests.cluster.house import (
    calls_by_turn,
    concluded,
    member,
    opened,
    queue_of,
    request,
    until,
    working,
)
from tests.postgres import postgres_that_restarts
from tests.servers import ProviderServer, provider_server
from tests.surfaces.desk import obedient


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with provider_server(obedient, latency=0.05) as server:
        yield server


@pytest.fixture
async def app(postgres_url: str, tmp_path: Path, provider: ProviderServer) -> AsyncIterator[App]:
    async with member(postgres_url, tmp_path / "home", provider) as app:
        yield app


@pytest.mark.requirement("Z-21")
async def test_what_is_queued_is_driven_to_its_end_by_a_worker(
    app: App, provider: ProviderServer
) -> None:
    ids = [await opened(app, f"Question {number}?") for number in range(3)]
    assert not provider.requests, "nobody speaks before a worker takes it"
    assert [row.standing for row in await app.service.summaries()] == ["queued"] * 3
    async with working(app):
        states = await concluded(app, *ids)
    assert all(state.verdict is not None for state in states)
    assert max(calls_by_turn(provider).values()) == 1
    fleet = await look(await queue_of(app))
    assert (fleet.workers, fleet.waiting, fleet.set_aside) == ((), (), ())


async def test_a_worker_takes_what_comes_while_it_works_and_no_more_than_it_was_told(
    app: App,
) -> None:
    at_once: list[int] = []
    now = 0

    async def drive(job: Job, leaving: asyncio.Event) -> State:
        nonlocal now
        now += 1
        at_once.append(now)
        try:
            return await app.service.run(job.discussion_id, lease=job.lease, leaving=leaving)
        finally:
            now -= 1

    async with working(app, drive, at_once=2):
        ids = [await opened(app, f"Question {number}?") for number in range(5)]
        await concluded(app, *ids)
    assert max(at_once) == 2


async def test_on_a_ledger_in_a_file_leaving_it_to_a_worker_is_refused_in_plain_words(
    tmp_path: Path, provider: ProviderServer
) -> None:
    async with member(str(tmp_path / "own.db"), tmp_path / "home", provider) as app:
        with pytest.raises(UsageError, match="Workers need PostgreSQL"):
            await app.service.open(request(), queued=True)
        assert not await app.service.by_workers()
        assert await app.service.summaries() == []


async def test_two_openings_with_one_key_are_one_discussion_and_one_job(
    app: App, postgres_url: str, tmp_path: Path, provider: ProviderServer
) -> None:
    async with member(postgres_url, tmp_path / "other", provider) as other:
        first, second = await asyncio.gather(
            opened(app, key="the same"), opened(other, key="the same")
        )
    assert first == second
    fleet = await look(await queue_of(app))
    assert [each.discussion_id for each in fleet.waiting] == [first]
    assert fleet.waiting[0].why == "no worker is there"


async def test_who_drives_is_the_surface_or_workers_as_it_is_set_and_as_they_are_there(
    app: App, postgres_url: str, tmp_path: Path, provider: ProviderServer
) -> None:
    assert not await app.service.by_workers(), "nobody is there"
    async with working(app) as worker:
        queue = await queue_of(app)
        await until(queue.has_workers)
        assert await app.service.by_workers()
        home = tmp_path / "other"
        async with member(postgres_url, home, provider, ROUNDTABLE_DRIVE="here") as other:
            assert not await other.service.by_workers()
        worker.leave()
    assert not await app.service.by_workers()
    async with member(postgres_url, tmp_path / "o", provider, ROUNDTABLE_DRIVE="workers") as other:
        assert await other.service.by_workers()
    file = str(tmp_path / "own.db")
    async with member(file, tmp_path / "p", provider, ROUNDTABLE_DRIVE="workers") as other:
        with pytest.raises(UsageError, match="Workers need PostgreSQL"):
            await other.service.by_workers()


async def test_what_a_worker_drives_cannot_be_resumed_by_hand_beside_it(app: App) -> None:
    begun = asyncio.Event()
    go_on = asyncio.Event()

    async def drive(job: Job, leaving: asyncio.Event) -> State:
        begun.set()
        await go_on.wait()
        return await app.service.run(job.discussion_id, lease=job.lease, leaving=leaving)

    id_ = await opened(app)
    async with working(app, drive):
        await begun.wait()
        with pytest.raises(LeaseHeld):
            await app.service.run(id_)
        (row,) = await app.service.summaries()
        assert (row.standing, row.queued, row.interrupted) == ("running", False, False)
        (at_work,) = (await look(await queue_of(app))).workers
        assert at_work.drives == (id_,)
        go_on.set()
        (state,) = await concluded(app, id_)
    assert state.verdict is not None


async def test_what_is_driven_by_hand_is_left_alone_and_the_queue_says_so(app: App) -> None:
    id_ = await opened(app)
    queue = await queue_of(app)
    lease = await queue.ledger.take_lease(id_, this_owner(), ttl=30)
    async with working(app):

        async def told() -> bool:
            waiting = (await look(queue)).waiting
            return [each.why for each in waiting] == ["somebody drives it by hand"]

        await until(told)
        await queue.ledger.release_lease(lease)
        await concluded(app, id_)


@pytest.mark.requirement("Z-21")
async def test_a_worker_that_leaves_waits_for_its_calls_and_begins_no_other(
    postgres_url: str, tmp_path: Path
) -> None:
    with provider_server(obedient, latency=1.0) as provider:
        async with member(postgres_url, tmp_path / "home", provider) as app:
            id_ = await opened(app)
            async with working(app, grace=60) as worker:
                await asyncio.to_thread(provider.wait, lambda log: len(log) > 0)
                worker.leave()
                await until(lambda: app.service.is_queued(id_))
            begun = calls_by_turn(provider)
            state = await app.service.read(id_)
            assert state.closed is None
            assert all(turn.attempts[-1].finished for turn in state.turns.values())
            async with working(app):
                (state,) = await concluded(app, id_)
            assert state.verdict is not None
            after = calls_by_turn(provider)
            assert {turn: after[turn] for turn in begun} == dict(begun), "no call is repeated"


@pytest.mark.requirement("Z-21")
async def test_a_worker_that_is_told_twice_hands_on_at_once(
    postgres_url: str, tmp_path: Path
) -> None:
    with provider_server(obedient, latency=600.0) as provider:
        async with member(postgres_url, tmp_path / "home", provider) as app:
            id_ = await opened(app)
            async with working(app, grace=600):
                await asyncio.to_thread(provider.wait, lambda log: len(log) > 0)
            assert await app.service.is_queued(id_)
            (job,) = await (await queue_of(app)).pick(uuid4(), 5)
            assert job.deaths == 0, "leaving is no death"


@pytest.mark.requirement("Z-21")
async def test_a_discussion_of_a_newer_program_waits_for_a_newer_worker(app: App) -> None:
    id_ = await opened(app)
    queue = await queue_of(app)
    async with queue.ledger.transaction() as connection:
        await connection.execute(
            "INSERT INTO events (discussion_id, seq, at, type, v, key, data)"
            " SELECT $1, last_seq + 1,"
            ' now(), \'FromTheFuture\', 1, NULL, \'{"type": "FromTheFuture", "v": 1}\''
            " FROM discussions WHERE id = $1",
            id_,
        )
        await connection.execute(
            "UPDATE discussions SET last_seq = last_seq + 1 WHERE id = $1", id_
        )
    async with working(app):

        async def told() -> bool:
            waiting = (await look(queue)).waiting
            return [each.why for each in waiting] == [f"it needs a worker newer than {__version__}"]

        await until(told)
        other = await opened(app, "Of our own time?")
        await concluded(app, other)


@pytest.mark.requirement("Z-21", "Z-36")
async def test_what_a_worker_cannot_call_waits_for_another_and_is_not_set_aside(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "_NOT_HERE", 0.0)
    private = await opened(app, "Private?")
    tried = 0

    async def drive(job: Job, leaving: asyncio.Event) -> State:
        nonlocal tried
        tried += 1
        if tried <= DEATHS:
            move = ("http://house.example/v1", "http://here.example/v1", "set it")
            raise HeldElsewhere(job.discussion_id, [move])
        return await app.service.run(job.discussion_id, lease=job.lease, leaving=leaving)

    async with working(app, drive):
        await concluded(app, private)
    assert tried > DEATHS


@pytest.mark.requirement("Z-21")
async def test_a_discussion_that_fails_its_workers_three_times_is_set_aside_and_said(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker_module, "_TRY_AGAIN", 0.0)
    poison = await opened(app, "Poison?")
    tried = 0

    async def drive(job: Job, leaving: asyncio.Event) -> State:
        nonlocal tried
        if job.discussion_id == poison:
            tried += 1
            raise RuntimeError("a defect")
        return await app.service.run(job.discussion_id, lease=job.lease, leaving=leaving)

    queue = await queue_of(app)
    async with working(app, drive):

        async def aside() -> bool:
            return bool((await look(queue)).set_aside)

        await until(aside)
        other = await opened(app, "Harmless?")
        await concluded(app, other)
    assert tried == DEATHS
    (told,) = (await look(queue)).set_aside
    assert (told.discussion_id, told.deaths, told.why) == (poison, DEATHS, "a defect")
    state = await app.service.read(poison)
    notes = [note for note in state.notes if note.code == "set_aside"]
    assert [note.text for note in notes] == ["Set aside: 3 workers ended while running it."]
    assert isinstance(notes[0], NoteAdded)
    rows = {row.discussion_id: row.standing for row in await app.service.summaries()}
    assert rows[poison] == "set_aside"
    shown = Decision.of(state, interrupted=True)
    assert (shown.kind, shown.state) == ("interrupted", "Set aside")
    assert shown.answer.first == (
        "No answer yet: it was set aside after it ended its workers three times."
    )
    assert Row.of(state, interrupted=True).state == "Set aside"
    state = await app.service.run(poison)
    assert not state.set_aside
    assert state.verdict is not None, "it can be resumed by hand"
    await sweep(queue)
    assert (await look(queue)).set_aside == ()
    assert "a defect" in caplog.text


async def test_a_job_whose_discussion_was_deleted_is_over(app: App) -> None:
    gone, other = await opened(app, "Gone?"), await opened(app, "Here?")
    await app.service.delete(gone)
    async with working(app):
        await concluded(app, other)
    assert (await look(await queue_of(app))).waiting_in_all == 0


@pytest.mark.requirement("Z-21")
async def test_the_sweeper_finds_what_vanished_and_leaves_what_somebody_wants_so(app: App) -> None:
    queue = await queue_of(app)
    service = app.service
    waiting_for_a_word = (await service.open(request("Not begun?"))).discussion_id
    interrupted = (await service.open(request("Interrupted by hand?"))).discussion_id
    await queue.ledger.release_lease(
        await queue.ledger.take_lease(interrupted, this_owner(), ttl=30)
    )
    theirs = replace(request("Vanished?"), account="somebody")
    vanished = (await service.open(theirs)).discussion_id
    await queue.ledger.take_lease(vanished, "elsewhere:1:2", ttl=0)
    paused = (await service.open(request("Paused?"))).discussion_id
    await service.pause(paused, by="me")
    await queue.ledger.take_lease(paused, "elsewhere:1:2", ttl=0)
    driven = (await service.open(request("Driven?"))).discussion_id
    await queue.ledger.take_lease(driven, "elsewhere:1:2", ttl=60)
    found = await asyncio.gather(sweep(queue), sweep(queue))
    assert sorted(found) == [[], [vanished]], "one sweeps at a time"
    assert await sweep(queue) == []
    rows = {row.discussion_id: row.standing for row in await service.summaries()}
    assert rows == {
        waiting_for_a_word: "interrupted",
        interrupted: "interrupted",
        vanished: "queued",
        paused: "interrupted",
        driven: "running",
    }
    async with queue.ledger.connection() as connection:
        assert await connection.fetchval(f"SELECT headers ->> 'by' FROM {QUEUE}") == "somebody"


@pytest.mark.requirement("Z-21")
async def test_a_database_that_goes_away_and_comes_back_costs_no_answer(tmp_path: Path) -> None:
    with (
        postgres_that_restarts() as server,
        provider_server(obedient, latency=0.5) as provider,
    ):
        async with member(server.url, tmp_path / "home", provider) as app:
            id_ = await opened(app)
            told: list[str] = []
            async with working(app, on_change=told.append):
                await asyncio.to_thread(provider.wait, lambda log: len(log) > 0)
                await asyncio.to_thread(server.stop)
                await asyncio.to_thread(
                    provider.wait, lambda log: all(each.state == "finished" for each in log)
                )

                async def noticed() -> bool:
                    return any("does not answer" in line for line in told)

                await until(noticed)
                await asyncio.to_thread(server.start)
                (state,) = await concluded(app, id_)
            assert state.verdict is not None
            assert set(calls_by_turn(provider).values()) == {1}


@pytest.mark.requirement("Z-21")
async def test_what_surfaces_open_is_left_to_workers_and_what_is_not_to_begin_is_not(
    app: App, provider: ProviderServer
) -> None:
    async with working(app):
        await until((await queue_of(app)).has_workers)
        held, _ = await open_as(app, OWNER, request("Not yet?"), begins=False)
        begun, _ = await open_as(app, OWNER, request("Now?"))
        await concluded(app, begun.discussion_id)
        assert not await app.service.is_driven(held.discussion_id)
        running = Running(app.service)
        running.drive(held.discussion_id)
        await running.over(held.discussion_id)
        (state,) = await concluded(app, held.discussion_id)
        await running.close()
    assert state.verdict is not None
    assert set(calls_by_turn(provider).values()) == {1}


@pytest.mark.requirement("Z-21", "Z-35")
@pytest.mark.parametrize("whose", ["who lets it go on", "the worker"])
async def test_what_a_worker_goes_on_with_keeps_to_the_caps_of_both(
    app: App, provider: ProviderServer, postgres_url: str, tmp_path: Path, whose: str
) -> None:
    state = await app.service.open(request())
    cap = {"ROUNDTABLE_MAX_COST": "0"}
    async with member(postgres_url, tmp_path / "capped", provider, **cap) as capped:
        asking, driving = (capped, app) if whose == "who lets it go on" else (app, capped)
        await asking.service.enqueue(state.discussion_id)
        async with working(driving):
            await until(lambda: _is_closed(app, state.discussion_id))
    ended = await app.service.read(state.discussion_id)
    assert not provider.requests
    assert ended.closed is not None
    assert "limited by ROUNDTABLE_MAX_COST" in ended.closed.detail


async def _is_closed(app: App, discussion_id: str) -> bool:
    return (await app.service.read(discussion_id)).closed is not None
