"""The queue keeps its promises against a real PostgreSQL: one job for a discussion, put with its
opening, taken over from whoever is gone, and ended by nobody but whoever has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from roundtable.cluster.job import DEATHS, Job
from roundtable.cluster.kinds import beyond, needed, understands
from roundtable.cluster.queue import PostgresQueue
from roundtable.cluster.tables import QUEUE
from roundtable.core.errors import LeaseHeld, LeaseLost, LedgerConflict, LedgerUnreachable
from roundtable.core.events import NewEvent, NoteAdded, SpeechGiven
from roundtable.engine.system import SystemClock
from roundtable.ledger.leases import this_owner
from roundtable.ledger.postgres import PostgresLedger
from roundtable.ports import QUEUED
from tests.cluster.house import until
from tests.ledger.events import closed, note, opened, texts

ID = "rt_00000001"


@pytest.fixture
async def ledger(postgres_url: str) -> AsyncIterator[PostgresLedger]:
    ledger = await PostgresLedger.open(postgres_url)
    yield ledger
    await ledger.close()


@pytest.fixture
def queue(ledger: PostgresLedger) -> PostgresQueue:
    return PostgresQueue(ledger, SystemClock())


async def beat(queue: PostgresQueue, worker: UUID, version: str = "9.9.9") -> set[int]:
    signs = {"name": "w", "host": "h", "pid": 1, "at_once": 4, "leaving": False}
    return await queue.beat(worker, {**signs, "version": version})


async def picked(queue: PostgresQueue, worker: UUID | None = None) -> Job:
    worker = worker or uuid4()
    await beat(queue, worker)
    (job,) = await queue.pick(worker, 5)
    return job


async def gone_quiet(queue: PostgresQueue) -> None:
    """As if all workers had given no sign of life for a minute."""
    async with queue.ledger.transaction() as connection:
        await connection.execute(f"UPDATE {QUEUE} SET heartbeat = heartbeat - interval '1 min'")
        await connection.execute("UPDATE workers SET seen_at = seen_at - interval '1 min'")


async def due(queue: PostgresQueue) -> None:
    """As if what waits for a moment had waited for it."""
    async with queue.ledger.transaction() as connection:
        await connection.execute(f"UPDATE {QUEUE} SET execute_after = now() - interval '1 s'")


async def states(queue: PostgresQueue) -> list[str]:
    async with queue.ledger.transaction() as connection:
        return [row["state"] for row in await connection.fetch("SELECT state FROM jobs ORDER BY 1")]


@pytest.mark.requirement("Z-21")
async def test_an_opening_and_its_job_are_there_together(queue: PostgresQueue) -> None:
    stored = await queue.open(ID, [opened()], by="ada", priority=3)
    assert [record.seq for record in stored] == [1]
    assert await states(queue) == ["queued"]
    assert await queue.ledger.driver(ID) == QUEUED
    (row,) = await queue.ledger.summaries()
    assert row.queued
    assert not row.interrupted


@pytest.mark.requirement("Z-21")
async def test_an_opening_that_fails_leaves_no_job_and_a_job_that_fails_no_opening(
    queue: PostgresQueue,
) -> None:
    await queue.open(ID, [opened()])
    with pytest.raises(LedgerConflict):
        await queue.open(ID, [opened("Another")])
    assert await states(queue) == ["queued"]

    async def fail(_: object) -> None:
        raise RuntimeError("the job could not be put")

    with pytest.raises(RuntimeError):
        await queue.ledger.append("rt_00000002", [opened()], expected=0, also=fail)
    assert [row.discussion_id for row in await queue.ledger.summaries()] == [ID]


async def test_a_discussion_has_one_job_however_often_it_is_put(queue: PostgresQueue) -> None:
    await queue.open(ID, [opened()])
    assert not await queue.put(ID)
    job = await picked(queue)
    assert not await queue.put(ID)
    assert await queue.give_back(job)
    assert await states(queue) == ["queued"]


async def test_processes_that_make_the_tables_at_once_make_them_once(postgres_url: str) -> None:
    ledgers = [await PostgresLedger.open(postgres_url) for _ in range(4)]
    queues = [PostgresQueue(each, SystemClock()) for each in ledgers]
    await asyncio.gather(*(each.ready() for each in queues))
    await queues[0].open(ID, [opened()])
    assert not await queues[1].put(ID)
    await asyncio.gather(*(each.close() for each in ledgers))


async def test_what_a_worker_has_is_driven_until_it_gives_no_sign_of_life(
    queue: PostgresQueue,
) -> None:
    await queue.open(ID, [opened()])
    job = await picked(queue)
    assert await queue.ledger.driver(ID) == job.lease.owner
    with pytest.raises(LeaseHeld):
        await queue.ledger.take_lease(ID, this_owner(), ttl=30)
    await gone_quiet(queue)
    assert await queue.ledger.driver(ID) == QUEUED, "another worker will come"


@pytest.mark.requirement("Z-21")
async def test_whoever_takes_over_fences_the_one_before(queue: PostgresQueue) -> None:
    await queue.open(ID, [opened()])
    zombie = uuid4()
    before = await picked(queue, zombie)
    assert await queue.pick(uuid4(), 5) == [], "it gives signs of life"
    await gone_quiet(queue)
    assert await queue.pick(uuid4(), 5, take_over=False) == []
    after = await picked(queue)
    with pytest.raises(LeaseLost):
        await queue.ledger.append(ID, [note("too late")], lease=before.lease)
    assert await beat(queue, zombie) == set(), "it is told what it has lost"
    assert not await queue.end(before)
    assert not await queue.give_back(before)
    await queue.forsake(zombie, ())
    await queue.ledger.append(ID, [closed()], lease=after.lease)
    assert await queue.end(after)
    assert await states(queue) == []


async def test_a_worker_that_picks_its_own_lost_job_again_ends_only_the_newer_one(
    queue: PostgresQueue,
) -> None:
    await queue.open(ID, [opened()])
    worker = uuid4()
    before = await picked(queue, worker)
    await gone_quiet(queue)
    (after,) = await queue.pick(worker, 5)
    assert (before.id, before.lease.owner) == (after.id, after.lease.owner)
    assert not await queue.end(before)
    assert await queue.give_back(after)


async def test_what_somebody_drives_by_hand_is_left_alone_for_a_moment(
    queue: PostgresQueue,
) -> None:
    await queue.open(ID, [opened()])
    lease = await queue.ledger.take_lease(ID, this_owner(), ttl=30)
    assert await queue.pick(uuid4(), 5) == []
    assert await states(queue) == ["queued"]
    await queue.ledger.release_lease(lease)
    assert await queue.pick(uuid4(), 5) == [], "the moment is not over"
    await due(queue)
    job = await picked(queue)
    assert job.lease.epoch == lease.epoch + 1


async def test_a_job_whose_discussion_is_gone_or_closed_is_over(queue: PostgresQueue) -> None:
    await queue.open(ID, [opened()])
    await queue.open("rt_00000002", [opened()])
    await queue.ledger.delete(ID)
    await queue.ledger.append("rt_00000002", [closed()])
    assert await queue.pick(uuid4(), 5) == []
    assert await states(queue) == []


async def test_what_was_opened_again_while_its_job_ended_waits_once_more(
    queue: PostgresQueue,
) -> None:
    await queue.open(ID, [opened()])
    job = await picked(queue)
    assert await queue.end(job)
    assert await states(queue) == ["queued"]


@pytest.mark.requirement("Z-21")
async def test_a_worker_takes_only_what_it_understands(queue: PostgresQueue) -> None:
    await queue.open(ID, [opened()])
    await beat(queue, uuid4())
    assert await queue.pick(uuid4(), 5, version="0.0.1") == []
    (job,) = await queue.pick(uuid4(), 5, version="9.0.0")
    assert await queue.give_back(job)
    assert await queue.pick(uuid4(), 5, version="8.9.9") == [], "a newer one has written into it"
    (job,) = await queue.pick(uuid4(), 5, version="9.0.0")
    assert await queue.give_back(job, kind=beyond("9.0.0"))
    assert await queue.pick(uuid4(), 5, version="9.0.0") == []
    assert len(await queue.pick(uuid4(), 5, version="9.0.1")) == 1
    assert needed(beyond("9.0.0")) == "a worker newer than 9.0.0"
    assert not understands("1.0.0", "something else")


async def test_the_higher_priority_is_taken_first(queue: PostgresQueue) -> None:
    await queue.open(ID, [opened()], priority=-1)
    await queue.open("rt_00000002", [opened()])
    worker = uuid4()
    await beat(queue, worker)
    (first,) = await queue.pick(worker, 1)
    assert first.discussion_id == "rt_00000002"


async def _dies(queue: PostgresQueue) -> list[Job]:
    """A worker picks what there is and is never heard of again."""
    await due(queue)
    worker = uuid4()
    await beat(queue, worker)
    jobs = await queue.pick(worker, 5)
    await gone_quiet(queue)
    return jobs


@pytest.mark.requirement("Z-21")
async def test_a_discussion_that_ends_its_worker_three_times_is_set_aside(
    queue: PostgresQueue,
) -> None:
    await queue.open(ID, [opened()])
    for number in range(DEATHS):
        (job,) = await _dies(queue)
        assert job.deaths == number
    assert await _dies(queue) == []
    assert await states(queue) == ["failed"]
    records = await queue.ledger.read(ID)
    (told,) = [r.event for r in records if isinstance(r.event, NoteAdded)]
    assert told.code == "set_aside"
    assert f"roundtable resume {ID}" in told.remedy
    assert await queue.ledger.driver(ID) is None
    with pytest.raises(LeaseLost):
        await queue.ledger.append(ID, [note("a zombie")], lease=job.lease)
    by_hand = await queue.ledger.take_lease(ID, this_owner(), ttl=30)
    await queue.ledger.release_lease(by_hand)
    assert await queue.put(ID), "it can be tried again"
    assert (await picked(queue)).deaths == 0


async def test_one_that_said_something_was_not_what_ended_its_worker(queue: PostgresQueue) -> None:
    await queue.open(ID, [opened()])
    for number in range(2 * DEATHS):
        (job,) = await _dies(queue)
        assert job.deaths == min(number, 1)
        said = SpeechGiven(
            turn_id=f"1/a/{number}", stage="a", round=1, participant="ada", model="test:a", text="!"
        )
        now = SystemClock().now() + timedelta(seconds=number)
        await queue.ledger.append(ID, [NewEvent(said, now)], lease=job.lease)
    assert texts(await queue.ledger.read(ID)) == []


async def test_of_two_suspects_a_worker_takes_one_so_that_the_right_one_is_set_aside(
    queue: PostgresQueue,
) -> None:
    innocent = "rt_00000002"
    await queue.open(ID, [opened()])
    await queue.open(innocent, [opened()])
    for _ in range(DEATHS - 1):
        assert len(await _dies(queue)) == 2
    (suspect,) = await _dies(queue)
    assert suspect.discussion_id == ID
    assert suspect.suspect
    (freed,) = await _dies(queue)
    assert freed.discussion_id == innocent, "the other one was set aside, and it goes on"
    assert await states(queue) == ["failed", "picked"]


async def test_a_stopped_process_that_holds_a_discussion_locked_keeps_nobody_waiting(
    queue: PostgresQueue,
) -> None:
    await queue.open(ID, [opened()])
    await picked(queue)
    await gone_quiet(queue)
    async with queue.ledger.transaction() as stopped:
        await stopped.fetchrow("SELECT * FROM discussions WHERE id = $1 FOR UPDATE", ID)
        assert await queue.pick(uuid4(), 5) == []
    await due(queue)
    assert (await picked(queue)).deaths == 1


@pytest.mark.requirement("Z-21")
async def test_a_process_that_is_stopped_within_a_transaction_lets_go_of_its_jobs(
    queue: PostgresQueue,
) -> None:
    await queue.open(ID, [opened()])
    await picked(queue)
    await gone_quiet(queue)
    taken: list[Job] = []

    async def takes_over() -> bool:
        taken.extend(await queue.pick(uuid4(), 5))
        return bool(taken)

    async def stopped() -> None:
        async with queue.ledger.transaction() as connection:
            await connection.execute(f"UPDATE {QUEUE} SET updated = now()")
            assert not await takes_over()
            await until(takes_over)

    with pytest.raises(LedgerUnreachable):
        await stopped()
    assert taken[0].discussion_id == ID


async def test_what_the_queue_has_as_a_workers_and_it_does_not_drive_is_given_back(
    queue: PostgresQueue,
) -> None:
    await queue.open(ID, [opened()])
    worker = uuid4()
    job = await picked(queue, worker)
    await queue.forsake(worker, {job.id})
    assert await states(queue) == ["picked"]
    await queue.forsake(worker, ())
    assert (await picked(queue)).deaths == 0


async def test_whether_there_are_workers_is_told_by_their_signs_of_life(
    queue: PostgresQueue,
) -> None:
    await queue.ready()
    assert not await queue.has_workers()
    worker = uuid4()
    await beat(queue, worker)
    assert await queue.has_workers()
    await queue.leave(worker)
    assert not await queue.has_workers()


async def test_tables_that_an_older_queue_made_are_brought_up_to_date(queue: PostgresQueue) -> None:
    await queue.open(ID, [opened()])
    async with queue.ledger.transaction() as connection:
        await connection.execute(f"DROP INDEX {QUEUE}_picked_heartbeat_idx")
    await queue.prepare()
    async with queue.ledger.transaction() as connection:
        made = await connection.fetchval(
            "SELECT count(*) FROM pg_indexes WHERE indexname = $1", f"{QUEUE}_picked_heartbeat_idx"
        )
    assert made == 1
    assert await states(queue) == ["queued"]
