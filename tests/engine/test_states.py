"""What a process keeps of discussions: each is folded once and read on, whoever else appends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.errors import UnknownDiscussion
from roundtable.core.events import Event, NewEvent, NoteAdded, StageClosed, StoredEvent, load
from roundtable.core.state import State, fold
from roundtable.engine.states import States
from roundtable.ledger.memory import MemoryLedger
from roundtable.procedures.opening import OpenRequest
from tests.procedures.meeting_table import seats
from tests.rehearsal import Table, run_in_virtual_time

GOLDENS = Path(__file__).parents[1] / "goldens"
ID = "rt_00000001"


def golden(name: str) -> list[StoredEvent]:
    lines = (GOLDENS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return timed([load(line) for line in lines], datetime(2026, 1, 1, 12, tzinfo=UTC))


def council() -> list[StoredEvent]:
    """One whose last stage was asked again."""

    async def held() -> list[StoredEvent]:
        table = Table()
        id_ = (await table.ask()).discussion_id
        state = await table.service.read(id_)
        await table.service.ask_again(id_, list(state.stages.values())[-1].opened.stage, by="ann")
        await table.service.run(id_)
        return await table.service.records(id_)

    events = [each.event for each in run_in_virtual_time(held())]
    return timed(events, datetime(2026, 1, 2, 12, tzinfo=UTC))


def timed(events: Sequence[Event], begun: datetime) -> list[StoredEvent]:
    return [
        StoredEvent(ID, seq, begun + timedelta(seconds=seq), event, f"key/{seq}")
        for seq, event in enumerate(events, 1)
    ]


STREAMS = {"old": golden("v1"), "limits": golden("v2-limits"), "council": council()}


def whole(state: State) -> tuple[Any, ...]:
    """A state with all that it keeps beside what its equality looks at."""
    kept = (state.said, state.newest_round, state.round_turns, state.in_flight)
    return (state, *kept, list(state.called_turns))


class Counting(MemoryLedger):
    """A ledger that counts the events that were read from it."""

    def __init__(self) -> None:
        super().__init__()
        self.read_events = 0

    async def read(
        self, discussion_id: str, *, after: int = 0, limit: int | None = None
    ) -> list[StoredEvent]:
        found = await super().read(discussion_id, after=after, limit=limit)
        self.read_events += len(found)
        return found


async def append(ledger: MemoryLedger, records: Sequence[StoredEvent]) -> None:
    """As another process would."""
    await ledger.append(ID, [NewEvent(each.event, each.at, each.key) for each in records])


@pytest.mark.parametrize("name", STREAMS)
@settings(deadline=None, max_examples=60)
@given(cuts=st.lists(st.integers(1, 40), max_size=12))
def test_a_state_that_was_read_on_is_the_fold_of_all_events(name: str, cuts: list[int]) -> None:
    async def check() -> None:
        records, ledger = STREAMS[name], MemoryLedger()
        states, done = States(ledger), 0
        seen: list[State] = []
        for cut in (*cuts, len(records)):
            if done < len(records):
                await append(ledger, records[done : done + cut])
            done = min(done + cut, len(records))
            seen.append(await states.snapshot(ID))
            assert whole(seen[-1]) == whole(fold(records[:done]))
        # What was handed out before has not changed since.
        assert [whole(each) for each in seen] == [whole(fold(records[: s.seq])) for s in seen]

    asyncio.run(check())


def test_only_what_is_new_is_read() -> None:
    async def check() -> int:
        records, ledger = STREAMS["council"], Counting()
        states = States(ledger)
        await append(ledger, records)
        await states.snapshot(ID)
        ledger.read_events = 0
        await ledger.append(ID, [NewEvent(NoteAdded(code="n", text="t"), records[-1].at)])
        assert (await states.snapshot(ID)).seq == len(records) + 1
        return ledger.read_events

    # The last known one is read again, to see that it is still the same discussion.
    assert asyncio.run(check()) == 2


def test_a_discussion_that_another_process_deleted_is_gone() -> None:
    async def check() -> None:
        ledger = MemoryLedger()
        states = States(ledger)
        await append(ledger, STREAMS["old"])
        await states.snapshot(ID)
        await ledger.delete(ID)
        with pytest.raises(UnknownDiscussion):
            await states.snapshot(ID)

    asyncio.run(check())


@pytest.mark.parametrize("length", [1, 5, 10, 20])
def test_one_of_the_same_id_that_was_opened_since_is_another(length: int) -> None:
    async def check() -> None:
        ledger = MemoryLedger()
        states = States(ledger)
        before, after = STREAMS["old"][:10], STREAMS["council"][:length]
        await append(ledger, before)
        assert await states.snapshot(ID) == fold(before)
        await ledger.delete(ID)
        await append(ledger, after)
        assert whole(await states.snapshot(ID)) == whole(fold(after))

    asyncio.run(check())


def test_of_many_discussions_the_last_ones_are_kept() -> None:
    async def check() -> list[int]:
        ledger = Counting()
        states = States(ledger, most_events=25)
        records = STREAMS["council"][:10]
        for id_ in ("rt_0000000a", "rt_0000000b", "rt_0000000c"):
            await ledger.append(id_, [NewEvent(r.event, r.at, r.key) for r in records])
            await states.snapshot(id_)
        taken = []
        for id_ in ("rt_0000000c", "rt_0000000b", "rt_0000000a"):
            ledger.read_events = 0
            await states.snapshot(id_)
            taken.append(ledger.read_events)
        return taken

    assert asyncio.run(check()) == [1, 1, 10]


def test_one_that_is_longer_than_all_that_may_be_kept_is_read_on_too() -> None:
    async def check() -> int:
        ledger = Counting()
        states = States(ledger, most_events=5)
        await append(ledger, STREAMS["council"][:10])
        await states.snapshot(ID)
        ledger.read_events = 0
        await states.snapshot(ID)
        return ledger.read_events

    assert asyncio.run(check()) == 1


def test_a_reading_that_an_event_broke_is_not_gone_on_with() -> None:
    async def check() -> None:
        ledger = MemoryLedger()
        states = States(ledger)
        await append(ledger, STREAMS["council"][:5])
        held = await states.newest(ID)
        at = STREAMS["council"][5].at
        closing = StageClosed(stage="nowhere", round=9, spoke=())
        with pytest.raises(KeyError):
            held.take(StoredEvent(ID, 6, at, closing))
        await append(ledger, STREAMS["council"][5:8])
        assert whole(await states.snapshot(ID)) == whole(fold(STREAMS["council"][:8]))

    asyncio.run(check())


def outside_meeting() -> OpenRequest:
    places = seats(2, model="outside")
    options = {"participants": places, "host": "outside"}
    return OpenRequest("How is it to be built?", procedure="meeting", options=options)


def test_many_tasks_may_act_in_one_discussion_at_once() -> None:
    async def check() -> None:
        table = Table()
        id_ = (await table.service.open(outside_meeting())).discussion_id
        texts = [f"Remark {number}." for number in range(30)]
        said = [table.service.speak(id_, "coordinator", text, key=text) for text in texts]
        looked = [table.service.read(id_) for _ in range(30)]
        results = await asyncio.gather(*said, *looked)
        state = await table.service.read(id_)
        assert sorted(speech.text for speech in state.speeches) == sorted(texts)
        records = await table.service.records(id_)
        assert whole(state) == whole(fold(records))
        for seen in results[30:]:
            assert isinstance(seen, State)
            assert whole(seen) == whole(fold(records[: seen.seq]))

    run_in_virtual_time(check())


def test_a_state_that_was_returned_does_not_change() -> None:
    async def check() -> None:
        table = Table()
        id_ = (await table.service.open(outside_meeting())).discussion_id
        paused = await table.service.pause(id_, by="ann")
        resumed = await table.service.resume(id_, by="ann")
        await table.service.speak(id_, "coordinator", "Welcome.")
        assert paused.paused is not None
        assert resumed.paused is None
        assert not paused.speeches
        assert not resumed.speeches

    run_in_virtual_time(check())


def test_a_discussion_that_was_deleted_and_opened_again_with_its_key_begins_anew() -> None:
    async def check() -> None:
        table = Table()
        first = await table.service.open(outside_meeting(), key="k")
        await table.service.speak(first.discussion_id, "coordinator", "Welcome.")
        await table.service.delete(first.discussion_id)
        second = await table.service.open(outside_meeting(), key="k")
        assert second.discussion_id == first.discussion_id
        assert not (await table.service.read(second.discussion_id)).speeches

    run_in_virtual_time(check())
