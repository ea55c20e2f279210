"""Whose turn it is at the queue, and when it is too long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from uuid import uuid4

import pytest

from roundtable.cluster.fairness import UNMEASURED, Depth
from roundtable.cluster.queue import PostgresQueue
from roundtable.cluster.tables import LOG
from roundtable.core.errors import TooBusy, UnknownDiscussion
from roundtable.engine.system import SystemClock
from roundtable.ledger.postgres import PostgresLedger
from tests.ledger.events import opened

from .test_queue import beat


class Line:
    """A queue of users, and who is picked when."""

    def __init__(self, queue: PostgresQueue) -> None:
        self.queue = queue
        self.whose: dict[str, str] = {}
        self.numbers = count(1)
        self.worker = uuid4()

    async def join(self, user: str, number: int, priority: int = 0) -> None:
        for _ in range(number):
            id_ = f"rt_{next(self.numbers):08x}"
            await self.queue.open(id_, [opened()], by=user, priority=priority)
            self.whose[id_] = user

    async def picks(self, number: int) -> list[str]:
        await beat(self.queue, self.worker)
        found: list[str] = []
        while len(found) < number and (jobs := await self.queue.pick(self.worker, 1)):
            found += [self.whose[job.discussion_id] for job in jobs]
        return found


@pytest.fixture
async def ledger(postgres_url: str) -> AsyncIterator[PostgresLedger]:
    ledger = await PostgresLedger.open(postgres_url)
    yield ledger
    await ledger.close()


@pytest.fixture
def line(ledger: PostgresLedger) -> Line:
    return Line(PostgresQueue(ledger, SystemClock()))


@pytest.mark.requirement("Z-21")
async def test_a_late_users_five_behind_anothers_many_are_picked_within_ten_picks(
    line: Line,
) -> None:
    await line.join("first", 200)
    await line.picks(20)
    await line.join("late", 5)
    assert (await line.picks(10)).count("late") == 5


async def test_whoever_has_many_is_not_starved_by_those_who_have_few(line: Line) -> None:
    await line.join("many", 30)
    got = []
    for user in range(20):
        await line.join(f"few {user}", 1)
        got += await line.picks(1)
    assert got.count("many") >= 4  # of twenty-one users


async def test_users_take_turns(line: Line) -> None:
    for user in ("a", "b", "c"):
        await line.join(user, 4)
    order = await line.picks(12)
    for start in range(0, 12, 3):
        assert sorted(order[start : start + 3]) == ["a", "b", "c"]


async def test_a_line_that_was_empty_begins_anew(line: Line) -> None:
    await line.join("a", 10)
    await line.picks(10)
    await line.join("b", 3)
    await line.join("a", 3)
    assert sorted((await line.picks(6))[:2]) == ["a", "b"]


async def test_what_has_priority_comes_before_everybody_and_what_has_none_after(
    line: Line,
) -> None:
    await line.join("low", 1, -1)
    await line.join("usual", 2)
    await line.join("high", 1, 1)
    assert await line.picks(4) == ["high", "usual", "usual", "low"]


async def test_too_many_of_one_user_are_refused_with_a_time_and_nothing_is_stored(
    ledger: PostgresLedger,
) -> None:
    queue = PostgresQueue(ledger, SystemClock(), Depth(each=2, everybodys=3))
    for number in (1, 2):
        await queue.open(f"rt_0000000{number}", [opened()], by="ada")
    with pytest.raises(TooBusy, match="of yours") as told:
        await queue.open("rt_00000003", [opened()], by="ada")
    assert told.value.retry_after == UNMEASURED
    assert "there is no worker" in told.value.message  # nobody can say when there is room
    assert "roundtable worker" in told.value.remedy
    assert "60 s" not in told.value.remedy
    with pytest.raises(UnknownDiscussion):
        await ledger.read("rt_00000003")
    await queue.open("rt_00000004", [opened()], by="bob")
    with pytest.raises(TooBusy, match="in all"):
        await queue.open("rt_00000005", [opened()], by="carla")


async def test_the_time_follows_from_what_was_done_of_late(ledger: PostgresLedger) -> None:
    queue = PostgresQueue(ledger, SystemClock(), Depth(each=1))
    worker = uuid4()
    await queue.prepare()
    await beat(queue, worker)
    await queue.open("rt_00000001", [opened()], by="ada")
    async with ledger.transaction() as connection:  # 20 in the last 100 seconds
        await connection.execute(
            f"INSERT INTO {LOG} (job_id, status, entrypoint, priority, created) "
            "SELECT n, 'successful', 'x', 0, clock_timestamp() - make_interval(secs => 5 * n) "
            "FROM generate_series(1, 20) AS n"
        )
    with pytest.raises(TooBusy) as told:
        await queue.open("rt_00000002", [opened()], by="ada")
    assert told.value.retry_after == 6  # one more than may wait, at one in five seconds
    assert "6 s" in told.value.remedy
    # Where others wait, too, their turns come between one's own.
    for number in range(3, 6):
        await queue.open(f"rt_0000000{number}", [opened()], by=f"user {number}")
    with pytest.raises(TooBusy) as told:
        await queue.open("rt_00000009", [opened()], by="ada")
    assert told.value.retry_after == 21  # one of each of four lines
    # And once nobody works, what was done before says nothing.
    await queue.leave(worker)
    with pytest.raises(TooBusy, match="there is no worker") as told:
        await queue.open("rt_00000009", [opened()], by="ada")
    assert told.value.retry_after == UNMEASURED


@pytest.mark.requirement("Z-21")
async def test_what_was_opened_before_finds_the_same_limit_when_it_is_put_into_the_queue(
    ledger: PostgresLedger,
) -> None:
    queue = PostgresQueue(ledger, SystemClock(), Depth(each=1))
    for number in (1, 2):
        await ledger.append(f"rt_0000000{number}", [opened()], expected=0)
    assert await queue.put("rt_00000001", by="ada")
    assert not await queue.put("rt_00000001", by="ada"), "what waits already takes no second place"
    with pytest.raises(TooBusy, match="1 discussion of yours is"):
        await queue.put("rt_00000002", by="ada")
    assert await ledger.driver("rt_00000002") is None
    # What was let in once goes on, however many wait.
    assert await queue.put("rt_00000002", by="ada", let_in=True)


async def test_many_who_come_at_once_all_get_a_place(line: Line) -> None:
    async with asyncio.TaskGroup() as group:
        for user in "abcd":
            for _ in range(10):
                group.create_task(line.join(user, 1))
    order = await line.picks(40)
    assert len(order) == 40
    # Who comes at the same moment may get places beside each other; nobody gets most of them.
    assert {order[:8].count(user) for user in "abcd"} <= {1, 2, 3, 4}
