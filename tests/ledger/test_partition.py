"""Partitions: the same ledger afterwards, append-only as before, and all of it or nothing."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from roundtable.core.errors import LedgerConflict, NotAllowed, UnknownDiscussion
from roundtable.ledger.postgres import PostgresLedger
from roundtable.ledger.postgres_partition import partition
from tests.ledger.events import closed, note, opened, texts


@pytest.mark.requirement("I-14", "I-15")
async def test_a_ledger_in_partitions_holds_the_same_and_works_as_before(postgres_url: str) -> None:
    ids = [f"rt_{number}" for number in range(30)]
    ledger = await PostgresLedger.open(postgres_url)
    for id_ in ids:
        await ledger.append(id_, [opened(id_, key="open"), note(id_, key="k"), note("日本語 \0")])
    await ledger.append(ids[0], [closed()])
    before = {id_: await ledger.read(id_) for id_ in ids}
    rows = await ledger.summaries()

    assert await partition(postgres_url, 4) == 91

    # The very process that was connected goes on, and so does a new one.
    for each in (ledger, await PostgresLedger.open(postgres_url)):
        assert {id_: await each.read(id_) for id_ in ids} == before
        assert await each.summaries() == rows
        again = await each.append(ids[1], [note("other", key="k")])
        assert texts(again) == [ids[1]]
        with pytest.raises(LedgerConflict):
            await each.append(ids[2], [note()], expected=1)
        found = await each.summaries(search="rt_7", said=True)
        assert [row.discussion_id for row in found] == ["rt_7"]
    last = await ledger.append(ids[3], [note("one more")])
    assert last[0].seq == 4
    async with asyncio.timeout(20):
        assert [r.seq async for r in ledger.tail(ids[0])] == [1, 2, 3, 4]
    await ledger.delete(ids[4])
    with pytest.raises(UnknownDiscussion):
        await ledger.read(ids[4])
    await each.close()
    await ledger.close()


@pytest.mark.parametrize("sql", ["UPDATE events SET data = ''", "DELETE FROM events"])
@pytest.mark.parametrize("table", ["events", "events_part_0", "events_part_1"])
async def test_events_in_partitions_can_be_neither_changed_nor_removed_one_by_one(
    postgres_url: str, sql: str, table: str
) -> None:
    ledger = await PostgresLedger.open(postgres_url)
    for number in range(20):
        await ledger.append(f"rt_{number}", [opened(), note("kept")])
    await partition(postgres_url, 2)
    other = await asyncpg.connect(postgres_url)
    with pytest.raises(asyncpg.RaiseError):
        await other.execute(sql.replace("events", table))
    assert await other.fetchval("SELECT count(*) FROM events") == 40
    await other.close()
    await ledger.close()


async def test_what_is_in_partitions_already_is_left_as_it_is(postgres_url: str) -> None:
    await partition(postgres_url, 2)
    with pytest.raises(NotAllowed, match="2 partitions"):
        await partition(postgres_url, 3)


async def test_a_partition_that_fails_in_the_middle_leaves_everything_as_it_was(
    postgres_url: str,
) -> None:
    ledger = await PostgresLedger.open(postgres_url)
    await ledger.append("rt_1", [opened(), note("kept")])
    other = await asyncpg.connect(postgres_url)
    await other.execute("CREATE TABLE events_part_1 (theirs int)")  # one is in the way
    with pytest.raises(Exception, match="events_part_1"):
        await partition(postgres_url, 2)
    assert texts(await ledger.read("rt_1")) == ["kept"]
    assert await other.fetchval("SELECT to_regclass('events_before')") is None
    await other.close()
    await ledger.close()
