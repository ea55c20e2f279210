"""Ten thousand discussions wait: whoever works, looks or comes late hardly notices."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from roundtable.cluster.fairness import Depth, place_in_line
from roundtable.cluster.fleet import look
from roundtable.cluster.job import key_of
from roundtable.cluster.kinds import kind
from roundtable.cluster.queue import PostgresQueue
from roundtable.cluster.tables import QUEUE, STATEMENTS
from roundtable.core.errors import TooBusy
from roundtable.engine.system import SystemClock
from roundtable.ledger.postgres import PostgresLedger
from tests.ledger.events import closed, opened

FEW, MANY, PICKS = 100, 10_000, 60
_DISCUSSIONS = """
    INSERT INTO discussions
        (id, topic, search_text, procedure, status, opened_at, updated_at, last_seq)
    SELECT id, 'Tea?', 'tea?', 'council', 'running', now(), now(), 1
    FROM unnest($1::text[]) AS new (id)
"""


@pytest.fixture
async def queue(postgres_url: str) -> AsyncIterator[PostgresQueue]:
    ledger = await PostgresLedger.open(postgres_url)
    queue = PostgresQueue(ledger, SystemClock(), Depth(each=MANY, everybodys=2 * MANY))
    await queue.prepare()
    yield queue
    await ledger.close()


async def wait_in_line(queue: PostgresQueue, account: str, count: int, first: int = 0) -> None:
    """So many discussions of one user, as if they had been opened one by one."""
    ids = [f"rt_{first + number:08x}" for number in range(count)]
    async with queue.ledger.transaction() as connection:
        await connection.execute(_DISCUSSIONS, ids)
        place = await place_in_line(connection, account, 0)
        await connection.execute(
            STATEMENTS.build_enqueue_query("skip"),
            [place - 2 * number for number in range(count)],
            [kind()] * count,
            [None] * count,
            [timedelta()] * count,
            [key_of(id_) for id_ in ids],
            [json.dumps({"by": account})] * count,
        )
        await connection.execute(
            "UPDATE queue_lines SET priority = $2 WHERE account = $1",
            account,
            place - 2 * (count - 1),
        )
        await connection.execute(f"ANALYZE {QUEUE}")  # as a server does by itself
        await connection.execute("ANALYZE discussions")


_OURS = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'roundtable'
"""


async def cpu_of_the_server(queue: PostgresQueue) -> int:
    """Nanoseconds that it was at work for us."""
    await queue.ledger.warm()  # all connections are there, and stay
    async with queue.ledger.connection() as connection:
        places = [Path(f"/proc/{row[0]}/schedstat") for row in await connection.fetch(_OURS)]
    if not all(place.exists() for place in places):
        pytest.skip("this system does not tell how long a process was at work")
    return sum(int(place.read_text().split()[0]) for place in places)


async def picking(queue: PostgresQueue) -> float:
    """What the server spends on taking and ending a discussion, in milliseconds."""
    worker = uuid4()
    for _ in range(20):  # statements are planned anew for the first times
        await _one(queue, worker)
    before = await cpu_of_the_server(queue)
    for _ in range(PICKS):
        await _one(queue, worker)
    return (await cpu_of_the_server(queue) - before) / 1e6 / PICKS


async def _one(queue: PostgresQueue, worker: object) -> str:
    (job,) = await queue.pick(worker, 1)  # type: ignore[arg-type]
    await queue.ledger.append(job.discussion_id, [closed()], lease=job.lease)
    assert await queue.end(job)
    return job.discussion_id


@pytest.mark.requirement("Z-21")
async def test_taking_one_of_ten_thousand_costs_the_server_hardly_more_than_one_of_a_hundred(
    queue: PostgresQueue,
) -> None:
    await wait_in_line(queue, "many", FEW)
    few = await picking(queue)
    await wait_in_line(queue, "many", MANY, first=FEW)
    many = await picking(queue)
    assert many / few < 3, f"{many:.2f} ms against {few:.2f} ms"


@pytest.mark.requirement("Z-21")
async def test_behind_ten_thousand_a_late_user_has_its_turn_and_too_many_are_told_to_come_again(
    queue: PostgresQueue,
) -> None:
    await wait_in_line(queue, "many", MANY)
    with pytest.raises(TooBusy):
        await queue.open("rt_a0000001", [opened()], by="many")
    late = [f"rt_b000000{number}" for number in range(5)]
    for id_ in late:
        await queue.open(id_, [opened()], by="late")
    fleet = await look(queue)
    assert fleet.waiting_in_all == MANY + len(late)
    assert len(fleet.waiting) == 100
    assert {each.why for each in fleet.waiting} == {"no worker is there"}
    worker = uuid4()
    taken = [await _one(queue, worker) for _ in range(2 * len(late) + 1)]
    assert set(late) <= set(taken), "each in turn with those of the other"
    assert len(set(taken) - set(late)) >= len(late), "who has many has its turn as well"
