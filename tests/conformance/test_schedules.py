"""One suite for schedules, wherever they lie: memory, SQLite, PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from roundtable.core.errors import LedgerTooNew, UnknownName
from roundtable.core.schedule import Schedule
from roundtable.ledger import open_ledger
from roundtable.ledger.beside import in_postgres, in_sqlite
from roundtable.ledger.memory import MemoryLedger
from roundtable.ledger.schedules import schedules_beside
from roundtable.ports import Ledger, Schedules

NOW = datetime.now(UTC)
PAST, COMING = NOW - timedelta(hours=1), NOW + timedelta(hours=1)


def schedule(id_: str = "sc_1", due: datetime | None = PAST) -> Schedule:
    return Schedule(id=id_, question="Why? ☕", cron="0 8 * * *", made_at=NOW, next_due=due)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    match request.param:
        case "memory":
            opened: Ledger = MemoryLedger()
        case "sqlite":
            opened = await open_ledger(tmp_path / "ledger.db")
        case _:
            opened = await open_ledger(request.getfixturevalue("postgres_url"))
    yield opened
    await opened.close()


@pytest.fixture
async def schedules(ledger: Ledger) -> Schedules:
    return await schedules_beside(ledger)


async def test_what_was_added_is_listed_in_its_order(schedules: Schedules) -> None:
    for number in (2, 1, 3):
        await schedules.add(schedule(f"sc_{number}"))
    assert [each.id for each in await schedules.all()] == ["sc_2", "sc_1", "sc_3"]
    assert (await schedules.all())[0] == schedule("sc_2")


async def test_one_can_be_changed_and_removed(schedules: Schedules) -> None:
    await schedules.add(schedule())
    changed = await schedules.change("sc_1", lambda each: each.paused("Enough."))
    assert (changed.enabled, changed.why, changed.next_due) == (False, "Enough.", None)
    assert await schedules.all() == [changed]
    assert await schedules.change("sc_1", lambda _: None) == changed
    assert await schedules.all() == []
    with pytest.raises(UnknownName):
        await schedules.change("sc_1", lambda each: each)


async def test_what_fails_changes_nothing(schedules: Schedules) -> None:
    await schedules.add(schedule())

    def fails(each: Schedule) -> Schedule:
        raise ZeroDivisionError(each.id)

    with pytest.raises(ZeroDivisionError):
        await schedules.change("sc_1", fails)
    assert await schedules.all() == [schedule()]


async def test_only_what_is_due_is_claimed_and_by_one_alone(schedules: Schedules) -> None:
    await schedules.add(schedule("sc_later", COMING))
    await schedules.add(schedule("sc_never", None))
    assert await schedules.claim("a", ttl=60) is None
    await schedules.add(schedule("sc_due"))
    claims = await asyncio.gather(*(schedules.claim(f"p{n}", ttl=60) for n in range(8)))
    (claimed,) = [each for each in claims if each is not None]
    assert claimed[0].id == "sc_due"
    assert abs(claimed[1] - datetime.now(UTC)) < timedelta(minutes=5)


async def test_a_claim_that_ran_out_is_somebody_elses(schedules: Schedules) -> None:
    await schedules.add(schedule())
    first = await schedules.claim("a", ttl=0.0)
    assert first is not None
    second = await schedules.claim("b", ttl=60)
    assert second is not None
    after = first[0].ran("rt_1", COMING, 0)
    assert not await schedules.settle(after, "a")
    assert await schedules.settle(after, "b")
    assert await schedules.all() == [after]
    assert await schedules.claim("c", ttl=60) is None


async def test_who_was_paused_while_it_was_opened_stays_so(schedules: Schedules) -> None:
    await schedules.add(schedule())
    claimed = await schedules.claim("a", ttl=60)
    assert claimed is not None
    await schedules.change("sc_1", lambda each: each.paused("Stop."))
    assert not await schedules.settle(claimed[0].ran("rt_1", COMING, 0), "a")
    assert [each.enabled for each in await schedules.all()] == [False]


async def test_what_rests_is_claimed_by_nobody_until_then(schedules: Schedules) -> None:
    await schedules.add(schedule())
    assert await schedules.claim("a", ttl=60) is not None
    assert 50 < (await schedules.due_in() or 0) <= 60, "when the claim has run out"
    put_off = schedule().put_off("Too much waits.")
    assert await schedules.settle(put_off, "a", rests=3_000)
    assert await schedules.all() == [put_off]
    assert await schedules.claim("b", ttl=60) is None
    assert 2_900 < (await schedules.due_in() or 0) <= 3_000
    assert await schedules.change("sc_1", lambda each: each) == put_off
    assert await schedules.claim("b", ttl=60) is not None
    assert await schedules.settle(put_off, "b")
    assert await schedules.claim("c", ttl=60) is not None


async def test_what_a_newer_program_wrote_is_left_to_it(
    ledger: Ledger, schedules: Schedules
) -> None:
    for number, due in enumerate((PAST, PAST, COMING), 1):
        await schedules.add(schedule(f"sc_{number}", due))
    if in_sqlite(ledger):
        newer = "UPDATE schedules SET data = json_set(data, '$.mood', 'calm') WHERE id <> 'sc_2'"
        await ledger.beside(lambda c: c.execute(newer).rowcount)
    elif in_postgres(ledger):
        newer = "UPDATE schedules SET data = overlay(data placing '{\"mood\": 1, ' from 1 for 1)"
        async with ledger.transaction() as connection:
            await connection.execute(f"{newer} WHERE id <> 'sc_2'")
    else:
        assert await schedules.unreadable() == []
        return
    assert [each.id for each in await schedules.all()] == ["sc_2"]
    assert await schedules.unreadable() == ["sc_1", "sc_3"]
    assert await schedules.unreadable(due=True) == ["sc_1"]
    with pytest.raises(LedgerTooNew):
        await schedules.change("sc_1", lambda each: each)
    assert await schedules.due_in() == 0.0
    claimed = await schedules.claim("a", ttl=60)
    assert claimed is not None
    assert claimed[0].id == "sc_2"
    assert await schedules.claim("a", ttl=60) is None
    assert await schedules.settle(claimed[0].paused("Enough."), "a")
    assert (await schedules.due_in() or 0) > 3_000, "nobody is woken by what is not its own"


async def test_it_is_told_when_the_next_is_due(schedules: Schedules) -> None:
    assert await schedules.due_in() is None
    await schedules.add(schedule("sc_1", COMING))
    assert 0 < (await schedules.due_in() or 0) <= 3_600
    await schedules.add(schedule("sc_2", PAST))
    assert await schedules.due_in() == 0.0
