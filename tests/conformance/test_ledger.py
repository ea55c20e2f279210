"""Every ledger keeps the promises of the port, and they cannot be told apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path
from typing import cast
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roundtable.core.errors import (
    LeaseHeld,
    LeaseLost,
    LedgerConflict,
    LedgerError,
    UnknownDiscussion,
)
from roundtable.core.events import (
    DiscussionOpened,
    NewEvent,
    NoteAdded,
    OutcomeRecorded,
    SpeechGiven,
    StoredEvent,
    VerdictReached,
)
from roundtable.core.values import TurnedOut, Verdict
from roundtable.examples.ledger import WithExamples
from roundtable.ledger import open_ledger
from roundtable.ledger.late import LateLedger
from roundtable.ledger.leases import this_owner
from roundtable.ledger.memory import MemoryLedger
from roundtable.ports import DiscussionSummary, Ear, Ledger
from tests.ledger.child import child
from tests.ledger.events import closed, note, opened, texts

ID = "rt_00000001"
AWKWARD = (
    "“quotes” 'single' \"double\" <<EOF\nEOF $(rm) `tick` ; -- DROP TABLE events\r\n\t"
    "日本語 中文 العربية עברית Ünïcödé 👩‍🚀🏳️‍🌈 \0 \x7f e\u0301"
)

Open = Callable[[], Awaitable[Ledger]]


@pytest.fixture(params=["sqlite", "postgres", "pgbouncer"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a ledger that any number of objects and processes may open."""
    if request.param != "sqlite":
        url: str = request.getfixturevalue(f"{request.param}_url")
        return url
    return str(tmp_path / "ledger.db")


@pytest.fixture
async def reopen(where: str) -> AsyncIterator[Open]:
    """Opens the ledger once more, each time as another object."""
    async with AsyncExitStack() as stack:

        async def open_it() -> Ledger:
            ledger = await open_ledger(where)
            stack.push_async_callback(ledger.close)
            return ledger

        yield open_it


@pytest.fixture(params=["sqlite", "postgres", "pgbouncer", "memory", "late, with examples"])
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    ledger: Ledger
    if request.param == "memory":
        ledger = MemoryLedger()
    elif request.param in ("postgres", "pgbouncer"):
        ledger = await open_ledger(request.getfixturevalue(f"{request.param}_url"))
    elif request.param == "sqlite":
        ledger = await open_ledger(tmp_path / "ledger.db")
    else:
        ledger = WithExamples(LateLedger(lambda: open_ledger(tmp_path / "ledger.db")))
    yield ledger
    await ledger.close()


# Appending and reading


async def test_events_are_numbered_from_one_and_read_back_as_they_were_appended(
    ledger: Ledger,
) -> None:
    events = [opened(), note("one", key="k1"), note("two")]

    appended = await ledger.append(ID, events)

    expected = [
        StoredEvent(ID, seq, event.at, event.event, event.key)
        for seq, event in enumerate(events, 1)
    ]
    assert appended == expected
    assert await ledger.read(ID) == expected


async def test_a_read_can_start_after_a_number_and_stop_after_a_count(ledger: Ledger) -> None:
    await ledger.append(ID, [opened(), *(note(str(i)) for i in range(2, 7))])

    assert [r.seq for r in await ledger.read(ID, after=2)] == [3, 4, 5, 6]
    assert [r.seq for r in await ledger.read(ID, after=2, limit=2)] == [3, 4]
    assert await ledger.read(ID, after=6) == []


async def test_times_of_any_zone_are_kept_in_utc(ledger: Ledger) -> None:
    first = opened()
    elsewhere = first.at.astimezone(timezone(timedelta(hours=9)))

    (appended,) = await ledger.append(ID, [replace(first, at=elsewhere)])

    assert appended.at.utcoffset() == timedelta(0)
    assert appended.at == elsewhere
    assert await ledger.read(ID) == [appended]


@pytest.mark.requirement("D-93", "I-18")
async def test_awkward_text_is_kept_intact(ledger: Ledger) -> None:
    await ledger.append(ID, [opened(AWKWARD), note(AWKWARD)])

    first, second = await ledger.read(ID)

    assert isinstance(first.event, DiscussionOpened)
    assert first.event.topic == AWKWARD
    assert texts([second]) == [AWKWARD]


@pytest.mark.requirement("D-93")
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    topic=st.text(),
    said=st.text(),
    key=st.text(st.characters(codec="utf-8", exclude_characters="\0")),
)
async def test_any_text_comes_back_as_it_went_in(
    ledger: Ledger, topic: str, said: str, key: str
) -> None:
    discussion_id = f"rt_{uuid4().hex}"

    appended = await ledger.append(discussion_id, [opened(topic), note(said, key=key)])

    assert await ledger.read(discussion_id) == appended
    assert texts(appended) == [said]


async def test_a_discussion_that_does_not_exist_is_unknown_to_every_call(ledger: Ledger) -> None:
    with pytest.raises(UnknownDiscussion):
        await ledger.read(ID)
    with pytest.raises(UnknownDiscussion):
        await ledger.append(ID, [note()])
    with pytest.raises(UnknownDiscussion):
        await ledger.append(ID, [])
    with pytest.raises(UnknownDiscussion):
        await ledger.append(ID, [note()], expected=0)
    with pytest.raises(UnknownDiscussion):
        await ledger.delete(ID)
    with pytest.raises(UnknownDiscussion):
        await ledger.take_lease(ID, "me", ttl=60)
    with pytest.raises(UnknownDiscussion):
        await anext(aiter(ledger.tail(ID)))


async def test_a_discussion_is_opened_once(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()])

    with pytest.raises(LedgerConflict):
        await ledger.append(ID, [opened("Another topic")])

    assert len(await ledger.read(ID)) == 1


async def test_a_closed_ledger_refuses_work(where: str) -> None:
    ledger = await open_ledger(where)
    await ledger.close()
    await ledger.close()

    with pytest.raises(LedgerError, match="closed"):
        await ledger.summaries()


# Expected numbers


async def test_an_append_at_the_expected_number_goes_through(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()], expected=0)
    (second,) = await ledger.append(ID, [note()], expected=1)

    assert second.seq == 2


async def test_an_append_at_another_number_is_a_conflict_and_writes_nothing(
    ledger: Ledger,
) -> None:
    await ledger.append(ID, [opened(), note()])

    with pytest.raises(LedgerConflict) as caught:
        await ledger.append(ID, [note()], expected=1)
    with pytest.raises(LedgerConflict):
        await ledger.append(ID, [opened()], expected=0)

    assert (caught.value.expected, caught.value.actual) == (1, 2)
    assert len(await ledger.read(ID)) == 2


@pytest.mark.requirement("I-16")
async def test_of_two_optimistic_writers_exactly_one_wins(reopen: Open) -> None:
    one, other = await reopen(), await reopen()
    await one.append(ID, [opened()])

    for seq in range(1, 11):
        outcomes = await asyncio.gather(
            one.append(ID, [note("one")], expected=seq),
            other.append(ID, [note("other")], expected=seq),
            return_exceptions=True,
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["LedgerConflict", "list"]

    assert [r.seq for r in await one.read(ID)] == list(range(1, 12))


@pytest.mark.requirement("I-16")
async def test_of_two_that_open_the_same_discussion_exactly_one_wins(reopen: Open) -> None:
    one, other = await reopen(), await reopen()

    for number in range(10):
        outcomes = await asyncio.gather(
            one.append(f"rt_{number}", [opened(), note()], expected=0),
            other.append(f"rt_{number}", [opened(), note()], expected=0),
            return_exceptions=True,
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["LedgerConflict", "list"]


# Keys


@pytest.mark.requirement("I-17")
async def test_a_repeated_key_returns_what_is_stored_and_writes_nothing(ledger: Ledger) -> None:
    await ledger.append(ID, [opened(key="open")])
    first = await ledger.append(ID, [note("first", key="turn")])

    assert await ledger.append(ID, [note("second", key="turn")]) == first
    assert [r.seq for r in await ledger.append(ID, [opened(key="open")])] == [1]
    assert len(await ledger.read(ID)) == 2


@pytest.mark.requirement("I-17")
async def test_a_partly_repeated_batch_writes_only_what_is_new(ledger: Ledger) -> None:
    await ledger.append(ID, [opened(), note("a", key="a"), note("b", key="b")])

    again = await ledger.append(
        ID, [note("B", key="b"), note("c", key="c"), note("A", key="a"), note("d"), note(key="c")]
    )

    assert [r.seq for r in again] == [3, 4, 2, 5, 4]
    assert texts(await ledger.read(ID)) == ["a", "b", "c", "d"]


@pytest.mark.requirement("I-17")
async def test_keys_belong_to_their_discussion(ledger: Ledger) -> None:
    for number in range(2):
        await ledger.append(f"rt_{number}", [opened(key="open"), note(str(number), key="turn")])

    assert texts(await ledger.read("rt_1")) == ["1"]


async def test_an_append_writes_all_or_nothing(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()])
    unwritable = NewEvent(
        NoteAdded.model_construct(code="x", text=cast("str", object())), note().at
    )

    if not isinstance(ledger, MemoryLedger):  # which has no stored form that could fail
        with pytest.raises(Exception, match="serialize"):
            await ledger.append(ID, [note("before"), unwritable])
    with pytest.raises(LedgerConflict):
        await ledger.append(ID, [note("before"), opened()])

    (headline,) = await ledger.summaries()
    assert headline.last_seq == len(await ledger.read(ID)) == 1
    assert [r.seq for r in await ledger.append(ID, [note("after")])] == [2]


# Many writers


@pytest.mark.requirement("I-14")
async def test_sixteen_writers_of_fifty_events_lose_and_double_none(reopen: Open) -> None:
    ledgers = [await reopen() for _ in range(2)]
    await ledgers[0].append(ID, [opened()])

    async def write(name: int) -> list[int]:
        return [
            (await ledgers[name % 2].append(ID, [note(f"{name}/{i}")]))[0].seq for i in range(50)
        ]

    async with asyncio.timeout(60):
        numbers = await asyncio.gather(*(write(name) for name in range(16)))

    assert sorted(seq for seqs in numbers for seq in seqs) == list(range(2, 802))
    assert all(seqs == sorted(seqs) for seqs in numbers)
    written = await ledgers[1].read(ID)
    assert [r.seq for r in written] == list(range(1, 802))
    assert len(set(texts(written))) == 800


@pytest.mark.requirement("I-14")
async def test_four_processes_write_without_losing_or_doubling(where: str, reopen: Open) -> None:
    ledger = await reopen()
    await ledger.append(ID, [opened()])

    async with asyncio.timeout(60), AsyncExitStack() as stack:
        others = await asyncio.gather(
            *(
                stack.enter_async_context(child("append", where, ID, str(name), "50"))
                for name in range(4)
            )
        )
        for other in others:
            await other.hears("go")
        for other in others:
            assert await other.says() == "done"
            await other.ends()

    written = await ledger.read(ID)
    assert [r.seq for r in written] == list(range(1, 202))
    for name in range(4):
        mine = [text for text in texts(written) if text.startswith(f"{name}/")]
        assert mine == [f"{name}/{i}" for i in range(50)]


# Tails


async def _follow(ledger: Ledger, after: int = 0) -> list[StoredEvent]:
    async with asyncio.timeout(30):
        return [record async for record in ledger.tail(ID, after=after)]


@pytest.mark.requirement("Z-10")
async def test_a_late_joiner_sees_the_same_history_as_who_was_there(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()])
    early = asyncio.create_task(_follow(ledger))
    for number in range(20):
        await ledger.append(ID, [note(str(number))])
    middle = asyncio.create_task(_follow(ledger, after=10))
    await ledger.append(ID, [note("last"), closed()])
    late = await _follow(ledger)

    assert await early == late == await ledger.read(ID)
    assert await middle == late[10:]


async def test_a_tail_of_a_closed_discussion_ends_even_when_nothing_is_left(
    ledger: Ledger,
) -> None:
    await ledger.append(ID, [opened(), closed()])

    assert [r.seq for r in await _follow(ledger, after=1)] == [2]
    assert await _follow(ledger, after=2) == []


async def test_a_tail_of_a_long_discussion_reads_all_of_it(ledger: Ledger) -> None:
    await ledger.append(ID, [opened(), *(note(str(i)) for i in range(1200)), closed()])

    assert [r.seq for r in await _follow(ledger)] == list(range(1, 1203))


async def test_many_tails_of_several_discussions_get_their_own(ledger: Ledger) -> None:
    ids = [f"rt_{number}" for number in range(3)]
    for name in ids:
        await ledger.append(name, [opened()])

    async def follow(name: str) -> list[StoredEvent]:
        return [record async for record in ledger.tail(name)]

    async with asyncio.timeout(30):
        tails = [asyncio.create_task(follow(name)) for name in ids * 2]
        for number in range(10):
            for name in ids:
                await ledger.append(name, [note(f"{name} {number}")])
        for name in ids:
            await ledger.append(name, [closed()])
        followed = await asyncio.gather(*tails)

    assert followed == [await ledger.read(name) for name in ids * 2]


async def test_a_tail_can_be_left_and_cancelled_at_any_time(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()])

    async with aclosing(ledger.tail(ID)) as tail:
        assert (await anext(tail)).seq == 1
    waiting = asyncio.create_task(_follow(ledger))
    await ledger.append(ID, [note()])
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    await ledger.append(ID, [closed()])
    assert [r.seq for r in await _follow(ledger)] == [1, 2, 3]


async def test_a_tail_of_a_discussion_that_is_deleted_says_so(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()])
    tail = aiter(ledger.tail(ID))
    await anext(tail)
    waiting = asyncio.ensure_future(anext(tail))

    await ledger.delete(ID)

    async with asyncio.timeout(10):
        with pytest.raises(UnknownDiscussion):
            await waiting


async def test_a_tail_of_a_ledger_that_is_closed_fails_instead_of_waiting_for_ever(
    where: str,
) -> None:
    ledger = await open_ledger(where)
    await ledger.append(ID, [opened()])
    tail = aiter(ledger.tail(ID))
    await anext(tail)
    waiting = asyncio.ensure_future(anext(tail))
    await asyncio.sleep(0)

    await ledger.close()

    async with asyncio.timeout(10):
        with pytest.raises(LedgerError, match="closed"):
            await waiting


@pytest.mark.requirement("Z-10")
async def test_a_tail_hears_what_another_ledger_object_appends(reopen: Open) -> None:
    one, other = await reopen(), await reopen()
    await one.append(ID, [opened()])
    followed = asyncio.create_task(_follow(one))
    for number in range(30):
        await other.append(ID, [note(str(number))])
    await other.append(ID, [closed()])

    assert await followed == await other.read(ID)


@pytest.mark.requirement("Z-10", "I-14")
async def test_a_tail_hears_what_another_process_appends(where: str, reopen: Open) -> None:
    ledger = await reopen()
    await ledger.append(ID, [opened()])
    followed = asyncio.create_task(_follow(ledger))

    async with asyncio.timeout(30), child("append", where, ID, "child", "20") as other:
        await other.hears("go")
        assert await other.says() == "done"
        await ledger.append(ID, [closed()])
        await other.ends()

    assert texts(await followed) == [f"child/{i}" for i in range(20)]


# Ears


async def _hears(ear: Ear, seen: int) -> None:
    async with asyncio.timeout(10):
        await ear.change_beyond(lambda: seen)


@pytest.mark.requirement("I-14")
async def test_an_ear_hears_each_append_and_nothing_that_was_seen(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()])
    async with ledger.listening(ID) as ear:
        for seq in range(2, 6):
            waiting = asyncio.create_task(_hears(ear, seq - 1))
            await ledger.append(ID, [note(str(seq))])
            await waiting
            still = asyncio.create_task(_hears(ear, seq))
            for _ in range(20):
                await asyncio.sleep(0)
            assert not still.done()
            still.cancel()
        await ledger.append("rt_other", [opened()])
        await ledger.append(ID, [note("last")])
        await _hears(ear, 5)


async def test_an_ear_is_asked_anew_what_was_seen(ledger: Ledger) -> None:
    """Whoever appends has seen its own events by the time it is told of them."""
    await ledger.append(ID, [opened()])
    seen = 1
    async with ledger.listening(ID) as ear:
        waiting = asyncio.create_task(ear.change_beyond(lambda: seen))
        await asyncio.sleep(0)
        seen = 2  # already now: a watcher may tell of it before the append returns
        assert (await ledger.append(ID, [note()]))[0].seq == seen
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()
        seen = 1
        await ledger.append(ID, [note()])
        async with asyncio.timeout(10):
            await waiting


@pytest.mark.requirement("I-14")
async def test_an_ear_hears_what_another_process_appends(where: str, reopen: Open) -> None:
    ledger = await reopen()
    await ledger.append(ID, [opened()])
    async with (
        asyncio.timeout(30),
        ledger.listening(ID) as ear,
        child("append", where, ID, "child", "3") as other,
    ):
        await other.hears("go")
        for seq in range(1, 4):
            await _hears(ear, seq)
        assert await other.says() == "done"
        await other.ends()


async def test_an_ear_hears_of_a_deletion(reopen: Open) -> None:
    one, other = await reopen(), await reopen()
    await one.append(ID, [opened()])
    async with one.listening(ID) as ear:
        waiting = asyncio.create_task(_hears(ear, 1))
        await other.delete(ID)
        await waiting


async def test_an_ear_hears_that_its_ledger_is_closed(where: str) -> None:
    ledger = await open_ledger(where)
    await ledger.append(ID, [opened()])
    async with ledger.listening(ID) as ear:
        waiting = asyncio.create_task(_hears(ear, 1))
        await asyncio.sleep(0)
        await ledger.close()
        await waiting


# The index


async def test_headlines_tell_each_discussion_as_its_events_do(ledger: Ledger) -> None:
    first, last = opened("Tabs?"), closed()
    await ledger.append("rt_a", [first, note(), last])
    second, latest = opened("Monorepo?"), note()
    await ledger.append("rt_b", [second])
    await ledger.append("rt_b", [latest])
    await ledger.take_lease("rt_b", "somebody", ttl=60)

    assert await ledger.summaries() == [
        DiscussionSummary(
            "rt_b", "Monorepo?", "council", "running", second.at, latest.at, 2, "somebody"
        ),
        DiscussionSummary("rt_a", "Tabs?", "council", "concluded", first.at, last.at, 3, None),
    ]
    assert [h.discussion_id for h in await ledger.summaries(limit=1)] == ["rt_b"]


async def test_a_ledger_tells_who_drives_one_discussion(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()])
    assert await ledger.driver(ID) is None
    lease = await ledger.take_lease(ID, "somebody", ttl=60)
    assert await ledger.driver(ID) == "somebody"
    await ledger.release_lease(lease)
    assert await ledger.driver(ID) is None
    assert await ledger.driver("rt_nowhere") is None


@pytest.mark.requirement("Z-25")
async def test_headlines_tell_the_last_word_on_how_it_turned_out(ledger: Ledger) -> None:
    first = opened("Tabs?")
    await ledger.append("rt_a", [first, closed()])
    assert [h.outcome for h in await ledger.summaries()] == [None]
    words: tuple[TurnedOut, ...] = ("good", "mixed")
    for word in words:
        turned_out = OutcomeRecorded(outcome=word)
        await ledger.append("rt_a", [NewEvent(turned_out, first.at)])
        await ledger.append("rt_a", [note()])
        assert [h.outcome for h in await ledger.summaries()] == [word]
        assert [h.status for h in await ledger.summaries()] == ["concluded"]


@pytest.mark.requirement("I-10")
@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("tabs", ["rt_1"]),
        ("ÜBER", ["rt_2"]),
        ("100%", ["rt_3"]),
        ("_", ["rt_3"]),
        ("日本", ["rt_4"]),
        ("👩‍🚀", ["rt_4"]),
        ("nothing of the kind", []),
        ("", ["rt_4", "rt_3", "rt_2", "rt_1"]),
    ],
)
async def test_a_search_finds_topics_in_any_case_and_takes_no_wildcards(
    ledger: Ledger, search: str, found: list[str]
) -> None:
    topics = ["Tabs or spaces?", "Sprechen wir über Straßen", "Is 100% snake_case?", "日本語 👩‍🚀"]
    for number, topic in enumerate(topics, 1):
        await ledger.append(f"rt_{number}", [opened(topic)])

    assert [h.discussion_id for h in await ledger.summaries(search=search)] == found


@pytest.mark.requirement("I-10")
async def test_a_deleted_discussion_leaves_nothing_behind(ledger: Ledger) -> None:
    await ledger.append("rt_kept", [opened()])
    await ledger.append(ID, [opened(), note(key="k")])
    await ledger.take_lease(ID, "me", ttl=60)

    await ledger.delete(ID)

    with pytest.raises(UnknownDiscussion):
        await ledger.read(ID)
    assert [h.discussion_id for h in await ledger.summaries()] == ["rt_kept"]
    await ledger.append(ID, [opened(), note("anew", key="k")])
    assert texts(await ledger.read(ID)) == ["anew"]
    assert (await ledger.take_lease(ID, "other", ttl=60)).epoch == 1


# Leases


async def test_a_lease_keeps_others_out_until_it_is_released(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()])
    lease = await ledger.take_lease(ID, "me", ttl=60)

    with pytest.raises(LeaseHeld) as caught:
        await ledger.take_lease(ID, "other", ttl=60)
    assert caught.value.owner == "me"
    with pytest.raises(LeaseHeld):  # two drives in one process must not be
        await ledger.take_lease(ID, "me", ttl=60)
    await ledger.release_lease(lease)

    assert (await ledger.take_lease(ID, "other", ttl=60)).epoch == lease.epoch + 1


async def test_a_lease_that_ran_out_can_be_taken_and_its_old_owner_is_fenced_off(
    ledger: Ledger,
) -> None:
    await ledger.append(ID, [opened()])
    old = await ledger.take_lease(ID, "me", ttl=0)
    new = await ledger.take_lease(ID, "me", ttl=60)

    with pytest.raises(LeaseLost):
        await ledger.append(ID, [note()], lease=old)
    with pytest.raises(LeaseLost):
        await ledger.renew_lease(old, ttl=60)
    await ledger.release_lease(old)

    assert [r.seq for r in await ledger.append(ID, [note()], lease=new)] == [2]
    assert [h.driver for h in await ledger.summaries()] == ["me"]


async def test_a_lease_that_ran_out_but_was_not_taken_still_writes_and_can_be_renewed(
    ledger: Ledger,
) -> None:
    await ledger.append(ID, [opened()])
    lease = await ledger.take_lease(ID, "me", ttl=0)
    assert [h.driver for h in await ledger.summaries()] == [None]

    await ledger.append(ID, [note()], lease=lease)
    await ledger.renew_lease(lease, ttl=60)

    with pytest.raises(LeaseHeld):
        await ledger.take_lease(ID, "other", ttl=60)


async def test_a_released_lease_writes_no_more(ledger: Ledger) -> None:
    await ledger.append(ID, [opened()])
    lease = await ledger.take_lease(ID, "me", ttl=60)
    await ledger.release_lease(lease)
    await ledger.release_lease(lease)

    with pytest.raises(LeaseLost):
        await ledger.append(ID, [note()], lease=lease)
    with pytest.raises(LeaseLost):
        await ledger.renew_lease(lease, ttl=60)

    assert len(await ledger.read(ID)) == 1


@pytest.mark.requirement("I-14")
async def test_of_many_that_want_the_lease_one_gets_it(reopen: Open) -> None:
    ledgers = [await reopen() for _ in range(3)]
    await ledgers[0].append(ID, [opened()])

    outcomes = await asyncio.gather(
        *(ledgers[n % 3].take_lease(ID, f"owner {n}", ttl=60) for n in range(9)),
        return_exceptions=True,
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Lease"] + ["LeaseHeld"] * 8


async def test_the_lease_of_a_killed_process_is_free_at_once(where: str, reopen: Open) -> None:
    ledger = await reopen()
    await ledger.append(ID, [opened()])

    async with asyncio.timeout(30), child("drive", where, ID) as other:
        await other.hears("go")
        owner = await other.says()
        with pytest.raises(LeaseHeld) as caught:
            await ledger.take_lease(ID, this_owner(), ttl=60)
        assert caught.value.owner == owner
        await other.is_killed()

    assert [h.driver for h in await ledger.summaries()] == [None]
    assert (await ledger.take_lease(ID, this_owner(), ttl=60)).epoch == 2


def said(text: str, number: int = 1) -> NewEvent:
    speech = SpeechGiven(
        turn_id=f"{number}/answer/ada", stage="answer", round=number, participant="ada",
        model="scripted/echo", text=text,
    )  # fmt: skip
    return NewEvent(speech, opened().at)


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("tabs", ["rt_1"]),
        ("tabs indent", ["rt_1"]),  # one word was asked, the other said
        ("indent nothing", []),
        ("STRASSE", ["rt_2"]),
        ("brücken", ["rt_2"]),
        ("Asphalt", ["rt_2"]),  # of the verdict
        ('"quoted"', ["rt_3"]),
        ("100%", ["rt_3"]),
        ("_x_", []),
        ("participant", []),  # the name of a field was never said
        ("茶", ["rt_4"]),
        ("nul", ["rt_4"]),
        ("  ", ["rt_4", "rt_3", "rt_2", "rt_1"]),
    ],
)
async def test_a_search_in_what_was_said_finds_each_word_in_topic_speech_or_verdict(
    ledger: Ledger, search: str, found: list[str]
) -> None:
    verdict = VerdictReached(verdict=Verdict(answer="Keep the asphalt."))
    told: list[tuple[str, list[NewEvent]]] = [
        ("Tabs or spaces?", [said("I indent with neither."), said("So do I.", 2)]),
        ("Roads", [said("Die Straße und die BRÜCKEN."), NewEvent(verdict, opened().at)]),
        ("Is it sure?", [said('They say "quoted" things, 100% of them\\nand more.')]),
        ("日本語", [said("お茶をください \0 nul")]),
    ]
    for number, (topic, speeches) in enumerate(told, 1):
        await ledger.append(f"rt_{number}", [opened(topic), *speeches])

    rows = await ledger.summaries(search=search, said=True)
    assert [row.discussion_id for row in rows] == found
    assert await ledger.summaries(search=search, said=True, limit=1) == rows[:1]
