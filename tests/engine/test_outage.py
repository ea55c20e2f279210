"""The database goes away under a discussion, really: what arrived is kept, and nobody is called
again for it."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from roundtable.core.errors import (
    LeaseLost,
    LedgerBusy,
    LedgerGone,
    LedgerMissing,
    LedgerUnreachable,
)
from roundtable.core.events import AttemptFinished, NewEvent, NoteAdded, SpeechGiven, StoredEvent
from roundtable.core.state import State
from roundtable.core.values import Budget, Usage
from roundtable.engine.drive import RENEW_EVERY
from roundtable.engine.outage import AWAY, BACK, Notice, Outage
from roundtable.engine.service import Service
from roundtable.engine.tools import Tools
from roundtable.ledger import postgres_watch
from roundtable.ledger.postgres import PostgresLedger
from roundtable.ledger.rescue import RescueFiles
from roundtable.ledger.sqlite import SqliteLedger
from roundtable.ports import Lease, Ledger, OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from tests.ledger.sqlite_places import another_program
from tests.postgres import RestartingServer, postgres_that_restarts
from tests.rehearsal import Cast, TestClock, TestIds, Voice, Voices

AGAIN = "Trying again for up to 5 minutes…"
CALLS = 5
"""A quick council: the briefing, three seats, the verdict."""


class Pauses(TestClock):
    """A clock that never waits: what a driver pauses for has passed when it asks. It renews no
    lease."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.count = 0
        self.at: dict[int, Callable[[], Awaitable[None] | None]] = {}
        """What happens in the middle of a pause, by its number."""

    def monotonic(self) -> float:
        return self.passed

    async def sleep(self, seconds: float) -> None:
        if seconds == RENEW_EVERY:
            await asyncio.Event().wait()
        self.passed += seconds
        self.count += 1
        if (what := self.at.get(self.count)) and (more := what()) is not None:
            await more
        await asyncio.sleep(0)


class Struck(Voice):
    """A voice at whose call of that number something happens before it answers."""

    def __init__(self, number: int, strike: Callable[[], object]) -> None:
        super().__init__()
        self._number = number
        self._strike = strike

    async def speak(self, request: SpeakRequest, _: OnWords) -> Reply:
        self.requests.append(request)
        number = len(self.requests)
        if number == self._number:
            self._strike()
        said = self.script(request)
        assert isinstance(said, str)
        usage = Usage(input_tokens=100, output_tokens=50, priced_usd=0.01)
        return Reply(said, usage, served_by=request.model, finish_reason="stop")


class TellingRescue(RescueFiles):
    def __init__(self, folder: Path, owner: str, on_keep: Callable[[], object]) -> None:
        super().__init__(folder, None, owner)
        self._on_keep = on_keep

    def keep(self, discussion_id: str, events: Sequence[NewEvent]) -> str:
        place = super().keep(discussion_id, events)
        self._on_keep()
        return place


@dataclass
class House:
    """A table over a ledger that something happens to."""

    ledger: Ledger
    folder: Path
    owner: str = "test"
    patience: float = 300.0
    clock: Pauses = field(default_factory=Pauses)
    notices: list[Notice] = field(default_factory=list)
    voice: Voice = field(default_factory=lambda: Struck(0, lambda: None))
    on_keep: Callable[[], object] = lambda: None
    """What happens once something has been kept."""

    @property
    def rescue(self) -> RescueFiles:
        return TellingRescue(self.folder / "rescue", self.owner, self.on_keep)

    @property
    def told(self) -> list[str]:
        return [notice.text for notice in self.notices]

    @property
    def service(self) -> Service:
        async def models() -> Cast:
            return Cast()

        return Service(
            self.ledger,
            Tools(
                speakers=Voices({"*": self.voice}),
                clock=self.clock,
                ids=TestIds(),
                dearest_price=(10.0, 50.0),
                rescue=self.rescue,
                patience=self.patience,
            ),
            models,
            owner=self.owner,
            defaults={"council": {}},
        )

    async def open(self, budget: Budget | None = None) -> str:
        request = OpenRequest(
            topic="Tea or coffee?",
            procedure="council",
            options={"quick": True},
            budget=budget or Budget(),
        )
        return (await self.service.open(request)).discussion_id

    async def run(self, discussion_id: str) -> State:
        return await self.service.run(discussion_id, on_notice=self.notices.append)

    async def run_on(self, discussion_id: str) -> State:
        """As another process would, later."""
        return await House(
            self.ledger, self.folder, voice=self.voice, owner="later", notices=self.notices
        ).run(discussion_id)


def is_whole(state: State, records: list[StoredEvent]) -> bool:
    """Whether it came to its end and everything in it happened once."""
    answers = [each.event for each in records if isinstance(each.event, AttemptFinished)]
    speeches = [each.event for each in records if isinstance(each.event, SpeechGiven)]
    once = {(each.turn_id, each.attempt) for each in answers}
    return (
        state.closed is not None
        and state.closed.status == "concluded"
        and state.verdict is not None
        and len(answers) == len(once) == CALLS
        and len({each.turn_id for each in speeches}) == len(speeches)
        and [each.seq for each in records] == list(range(1, len(records) + 1))
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
async def house(path: Path) -> AsyncIterator[House]:
    ledger = await SqliteLedger.open(path, patience=0.01)
    try:
        yield House(ledger, path.parent)
    finally:
        await ledger.close()


@pytest.fixture(autouse=True)
def _room_at_the_end() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


# Faults of a file: each begins with its call and ends with what it returns.


def locked(path: Path) -> Callable[[], None]:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other.close


def moved_away(path: Path) -> Callable[[], None]:
    away = path.rename(path.with_suffix(".away"))
    return lambda: void(away.rename(path))


def without_room(path: Path) -> Callable[[], None]:
    """No file may grow beyond what its log is now."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = path.with_name(path.name + "-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)


def void(_: object) -> None:
    pass


FAULTS = pytest.mark.parametrize("fault", [locked, moved_away, without_room])


@FAULTS
@pytest.mark.parametrize("call", [1, 3, CALLS])
@pytest.mark.requirement("Z-01")
async def test_answers_that_arrive_while_the_file_is_away_are_stored_when_it_is_back(
    house: House, path: Path, fault: Callable[[Path], Callable[[], None]], call: int
) -> None:
    ends: list[Callable[[], None]] = []
    house.voice = Struck(call, lambda: ends.append(fault(path)))
    house.clock.at[6] = lambda: ends[0]()

    id_ = await house.open()
    state = await house.run(id_)

    assert is_whole(state, await house.ledger.read(id_))
    assert len(house.voice.requests) == CALLS
    assert says_what_to_remedy(house.told, path, fault)
    assert not (path.parent / "rescue").exists()


def says_what_to_remedy(told: list[str], path: Path, fault: object) -> bool:
    """Whoever can do something about it hears what, once; a disk may fail for any reason."""
    away, back = told
    kept = "What is said meanwhile" if fault is moved_away else "What was said"
    known = str(path) in away and away.endswith(f"{kept} is kept. {AGAIN}")
    return (known or (fault is without_room and away == f"{AWAY} {AGAIN}")) and back == BACK


@FAULTS
@pytest.mark.requirement("Z-01")
async def test_a_database_that_goes_away_before_anybody_is_asked_is_waited_for_as_well(
    house: House, path: Path, fault: Callable[[Path], Callable[[], None]]
) -> None:
    id_ = await house.open()
    state = await house.service.read(id_)
    house.clock.at[3] = fault(path)
    await house.service.tell_estimate(state, house.notices.append)
    assert says_what_to_remedy(house.told, path, fault)
    house.notices.clear()

    house.clock.at[6] = fault(path)
    state = await house.run(id_)
    assert is_whole(state, await house.ledger.read(id_))
    assert state.expected is not None
    assert says_what_to_remedy(house.told, path, fault)


async def test_an_estimate_that_cannot_be_stored_keeps_nobody_who_would_not_hear_why(
    house: House, path: Path
) -> None:
    state = await house.service.read(await house.open())
    put_back = moved_away(path)
    told = await house.service.tell_estimate(state)
    put_back()
    assert told.calls
    assert (await house.service.read(state.discussion_id)).expected is None


@pytest.mark.requirement("Z-01")
async def test_of_a_database_that_is_gone_is_said_what_is_gone_with_it(
    house: House, path: Path
) -> None:
    house.patience = 1.0
    house.voice = Struck(3, lambda: void(moved_away(path)))
    with pytest.raises(LedgerGone) as gone:
        await house.run(await house.open())
    assert isinstance(gone.value.__cause__, LedgerMissing)
    assert "All that was said before is in that database, and nowhere else." in gone.value.remedy
    assert "next start" not in gone.value.remedy


@pytest.mark.requirement("Z-01", "Z-36")
async def test_whoever_waits_hears_every_minute_how_long_it_still_takes(
    house: House, path: Path
) -> None:
    house.voice = Struck(3, lambda: void(moved_away(path)))
    with pytest.raises(LedgerGone):
        await house.run(await house.open())
    first, *reminders = house.told
    remedy = "Put it back where it was. What is said meanwhile is kept."
    assert first == f"{path} is gone. {remedy} {AGAIN}"
    for minutes, told in enumerate(reminders, 1):
        waited = f"{minutes} minute{'s' if minutes > 1 else ''}"
        left = f"{5 - minutes} minute{'s' if minutes < 4 else ''}"
        assert told == f"{path} is gone. Waited for {waited}; trying for {left} more."
    assert len(reminders) == 4


async def test_answers_that_belong_to_no_discussion_of_this_database_are_told_of_at_every_start(
    house: House,
) -> None:
    lost = NewEvent(NoteAdded(code="x", text="y"), house.clock.now(), "k")
    place = house.rescue.keep("rt_00000000", [lost])
    told: list[str] = []
    for _ in range(2):
        await house.service.take_in(told.append)
    assert len(told) == 2
    assert f"Answers of rt_00000000 wait in {place}, but this database does not know" in told[0]


async def test_no_empty_database_is_made_beside_answers_that_wait_for_theirs(path: Path) -> None:
    lost = NewEvent(NoteAdded(code="x", text="y"), TestClock().now(), "k")
    rescue = RescueFiles(path.with_name("ledger.db.rescue"), None, "somebody")
    rescue.keep("rt_00000000", [lost])
    with pytest.raises(LedgerMissing, match="answers that were to be stored in it") as refused:
        await SqliteLedger.open(path)
    assert "Put the database back." in refused.value.remedy
    assert not await asyncio.to_thread(path.exists)
    rescue.drop("rt_00000000")
    await (await SqliteLedger.open(path)).close()


async def test_a_disk_that_is_full_is_waited_for(house: House) -> None:
    ledger = house.ledger
    assert isinstance(ledger, SqliteLedger)
    worker = ledger._worker

    def full() -> None:
        pages = "PRAGMA max_page_count = 1"
        asyncio.get_running_loop().create_task(worker.read(lambda c: c.execute(pages)))

    async def room() -> None:
        await worker.read(lambda c: c.execute("PRAGMA max_page_count = 1000000"))

    house.voice = Struck(2, full)
    house.voice.script = lambda _: "A long answer. " * 2000
    house.clock.at[5] = room
    id_ = await house.open()
    state = await house.run(id_)
    assert state.closed is not None
    away, back = house.told
    assert away.startswith("There is no room left for "), "who can make room hears of it at once"
    assert away.endswith(f"What was said is kept. {AGAIN}")
    assert back == BACK
    assert len(house.voice.requests) == len({r.idempotency_key for r in house.voice.requests})


@pytest.mark.parametrize("call", [1, 2, 4])
async def test_the_time_without_a_database_is_nobodys_time(
    house: House, path: Path, call: int
) -> None:
    ends: list[Callable[[], None]] = []
    house.voice = Struck(call, lambda: ends.append(locked(path)))
    house.clock.at[40] = lambda: ends[0]()
    id_ = await house.open(Budget(max_seconds=58))
    state = await house.run(id_)
    assert house.clock.passed > 60
    assert is_whole(state, await house.ledger.read(id_))


async def test_a_log_that_is_removed_takes_nothing_with_it(house: House, path: Path) -> None:
    def remove() -> None:
        for name in ("-wal", "-shm"):
            path.with_name(path.name + name).unlink()

    house.voice = Struck(3, remove)
    id_ = await house.open()
    state = await house.run(id_)
    assert is_whole(state, await house.ledger.read(id_))
    with another_program(path) as other:  # as if we were killed now
        (count,) = other.execute("SELECT count(*) FROM events").fetchone()
        assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert count == state.seq
    assert house.told == []


async def test_a_database_that_does_not_come_back_ends_the_run_and_says_what_is_kept_where(
    house: House, path: Path
) -> None:
    ends: list[Callable[[], None]] = []
    house.voice = Struck(3, lambda: ends.append(moved_away(path)))
    house.patience = 60.0
    id_ = await house.open()

    with pytest.raises(LedgerGone) as caught:
        await house.run(id_)

    file = path.parent / "rescue" / f"{id_}.jsonl"
    # What a file that was moved away still took is in it: only what came after that is kept.
    if file.exists():
        assert f"is kept in {file}" in caught.value.remedy
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    ends[0]()
    await freed(house, id_)
    state = await house.run_on(id_)
    assert is_whole(state, await house.ledger.read(id_))
    assert len(house.voice.requests) == CALLS
    assert not file.parent.exists()


async def freed(house: House, id_: str) -> None:
    """As if its process were gone: the lease could not be given back without a database."""
    await house.ledger.release_lease(Lease(id_, house.owner, 1))


async def test_ending_it_by_hand_does_not_wait_and_keeps_what_was_said(
    house: House, path: Path
) -> None:
    ends: list[Callable[[], None]] = []
    house.voice = Struck(1, lambda: ends.append(locked(path)))
    id_ = await house.open()
    running = asyncio.ensure_future(house.run(id_))
    house.clock.at[3] = lambda: void(running.cancel())

    with pytest.raises(asyncio.CancelledError):
        await running

    assert "is kept in" in house.told[-1]
    ends[0]()
    await freed(house, id_)
    assert is_whole(await house.run_on(id_), await house.ledger.read(id_))
    assert len(house.voice.requests) == CALLS


@pytest.fixture
async def patient(path: Path) -> AsyncIterator[House]:
    """At a ledger that waits by itself for much longer than anybody would."""
    ledger = await SqliteLedger.open(path, patience=3600)
    async with asyncio.timeout(60):
        try:
            yield House(ledger, path.parent)
        finally:
            await ledger.close()


@pytest.mark.requirement("Z-01")
@pytest.mark.parametrize("call", [1, 3, CALLS])
async def test_an_answer_is_kept_before_the_ledger_has_given_up_waiting(
    patient: House, path: Path, call: int
) -> None:
    """So that a process that is killed meanwhile loses nothing."""
    ends: list[Callable[[], None]] = []
    kept: list[list[NewEvent]] = []

    def look() -> None:
        kept.extend(patient.rescue.kept(id_))
        ends[0]()

    patient.voice = Struck(call, lambda: ends.append(locked(path)))
    patient.on_keep = look
    id_ = await patient.open()
    state = await patient.run(id_)

    assert any(isinstance(new.event, AttemptFinished) for new in kept[0])
    assert is_whole(state, await patient.ledger.read(id_))
    assert len(patient.voice.requests) == CALLS
    assert patient.told == [], "it was not away for long"
    assert not (path.parent / "rescue").exists()


@pytest.mark.requirement("Z-01")
@pytest.mark.parametrize("thinking", [False, True])
async def test_ending_it_by_hand_does_not_wait_for_a_ledger_that_waits(
    patient: House, path: Path, thinking: bool
) -> None:
    """Neither for what was said, nor to say that somebody thought in vain, nor on the way out."""
    ends: list[Callable[[], None]] = []
    begun = asyncio.Event()

    def strike() -> None:
        ends.append(locked(path))
        begun.set()

    class Thinking(Struck):
        async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
            reply = await super().speak(request, on_words)
            if thinking and len(self.requests) == 1:
                await asyncio.Event().wait()
            return reply

    patient.voice = Thinking(1, strike)
    id_ = await patient.open()
    running = asyncio.ensure_future(patient.run(id_))
    patient.on_keep = begun.set
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [told for told in patient.told if "is kept in" in told] == patient.told[-1:]
    assert not any("Trying again" in told for told in patient.told)
    await patient.ledger.close()

    ends[0]()
    ledger = await SqliteLedger.open(path)
    patient.ledger = ledger
    await freed(patient, id_)
    state = await patient.run_on(id_)
    assert state.closed is not None
    assert state.closed.status == "concluded"
    assert len(patient.voice.requests) == CALLS + thinking
    await ledger.close()


async def test_what_was_kept_stays_until_all_of_it_is_stored(patient: House) -> None:
    """Whoever takes it in may be killed, too, after the first of it."""
    id_ = await patient.open()
    for key in ("first", "second"):
        note = NewEvent(NoteAdded(code="x", text=key), patient.clock.now(), key)
        patient.rescue.keep(id_, [note])
    held = asyncio.Event()
    tried: list[str | None] = []
    append = patient.ledger.append

    async def appended(discussion_id: str, events: Sequence[NewEvent], **how: Any) -> Any:
        tried.append(events[0].key)
        if tried == ["first"]:
            raise LedgerBusy("locked")
        if events[0].key == "second":
            held.set()
            await asyncio.Event().wait()
        return await append(discussion_id, events, **how)

    patient.ledger.append = appended  # type: ignore[method-assign]
    taking = asyncio.ensure_future(patient.service.take_in())
    await held.wait()
    assert len(patient.rescue.kept(id_)) == 2
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking


async def test_whoever_took_over_meanwhile_wins_and_nothing_is_doubled(
    house: House, path: Path
) -> None:
    """The other one begins with what was kept, so that it need not ask again for it either."""
    ends: list[Callable[[], None]] = []
    house.voice = Struck(2, lambda: ends.append(locked(path)))
    other = House(house.ledger, house.folder, owner="other", voice=house.voice)
    id_ = await house.open()

    async def taken_over() -> None:
        ends[0]()
        with another_program(path) as meddler:
            meddler.execute("UPDATE leases SET expires_at = 0")
        states.append(await other.run(id_))

    states: list[State] = []
    house.clock.at[4] = taken_over
    with pytest.raises(LeaseLost):
        await house.run(id_)

    assert is_whole(states[0], await house.ledger.read(id_))


async def test_what_another_driver_has_settled_is_not_taken_in(house: House, path: Path) -> None:
    """A file that is found late: its attempt was given up for lost, and made again."""
    ends: list[Callable[[], None]] = []
    house.voice = Struck(2, lambda: ends.append(locked(path)))
    house.patience = 0.0
    id_ = await house.open()
    with pytest.raises(LedgerGone):
        await house.run(id_)
    ends[0]()
    await freed(house, id_)
    elsewhere = House(house.ledger, path.parent / "elsewhere", owner="other", voice=house.voice)
    state = await elsewhere.run(id_)
    before = await house.ledger.read(id_)

    await house.service.take_in()

    assert await house.ledger.read(id_) == before
    assert state.closed is not None
    assert not (path.parent / "rescue").exists()


async def test_what_one_no_longer_waits_for_holds_up_nobody_else(path: Path) -> None:
    """One of two is cancelled while the database is away; it is back for the other."""
    clock, away = Pauses(), True
    rescue = RescueFiles(path.parent / "rescue", None, "test")
    outage = Outage("rt_0000000a", clock, rescue=rescue)

    async def work() -> str:
        if away:
            raise LedgerBusy("locked")
        return "stored"

    def outcome(key: str) -> list[NewEvent]:
        return [NewEvent(NoteAdded(code="x", text=key), clock.now(), key)]

    first = asyncio.ensure_future(outage.through(work, outcome("first")))
    second = asyncio.ensure_future(outage.through(work, outcome("second")))
    await asyncio.sleep(0)
    first.cancel()
    outage.hurry()
    with pytest.raises(LedgerGone):
        await outage.through(work, outcome("first"))
    with pytest.raises(LedgerGone):
        await second
    away = False
    assert await outage.through(work, outcome("third")) == "stored"
    assert await outage.through(work) == "stored"
    assert len(rescue.kept("rt_0000000a")) == 2


async def test_whoever_waits_in_vain_for_a_run_that_is_over_still_says_that_it_is_back() -> None:
    """As the renewal of a lease: it pauses while the verdict is stored, and ends with the run."""
    notices: list[Notice] = []
    outage = Outage("rt_0000000a", Pauses(), on_notice=notices.append)
    failed, tried_again = False, asyncio.Event()

    async def renews() -> None:
        nonlocal failed
        if not failed:
            failed = True
            raise LedgerBusy("locked")
        tried_again.set()
        await asyncio.Event().wait()

    async def stored() -> str:
        return "stored"

    renewal = asyncio.ensure_future(outage.through(renews))
    await tried_again.wait()
    assert await outage.through(stored) == "stored"
    assert [each.away for each in notices] == [True]
    renewal.cancel()
    with pytest.raises(asyncio.CancelledError):
        await renewal
    assert [each.away for each in notices] == [True, False]


# A server


@asynccontextmanager
async def at_a_server(url: str, folder: Path) -> AsyncIterator[House]:
    ledger = await PostgresLedger.open(url, patience=5.0)
    try:
        yield House(ledger, folder)
    finally:
        await ledger.close()


@pytest.fixture(scope="module")
def restarting() -> Iterator[RestartingServer]:
    with postgres_that_restarts() as server:
        yield server


@pytest.mark.requirement("Z-01")
@pytest.mark.parametrize("stage", range(1, CALLS + 1))
async def test_a_server_that_is_restarted_at_any_stage_is_waited_for(
    tmp_path: Path, restarting: RestartingServer, stage: int
) -> None:
    async with at_a_server(restarting.url, tmp_path) as house:
        house.voice = Struck(stage, restarting.stop)
        house.clock.at[8] = restarting.start
        id_ = await house.open()
        state = await house.run(id_)
        assert is_whole(state, await house.ledger.read(id_))
    assert len(house.voice.requests) == CALLS
    assert house.told == [f"{AWAY} {AGAIN}", BACK]


@pytest.mark.requirement("Z-01")
async def test_whoever_waits_for_a_discussion_hears_of_it_again_after_a_restart(
    tmp_path: Path, restarting: RestartingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_watch, "SELDOM", 3600.0)
    async with (
        asyncio.timeout(60),
        at_a_server(restarting.url, tmp_path) as house,
        at_a_server(restarting.url, tmp_path / "other") as other,
    ):
        id_ = await house.open()
        tail = house.ledger.tail(id_)
        (first, *_) = [await anext(tail) for _ in range(len(await house.ledger.read(id_)))]
        async with house.ledger.listening(id_) as ear, aclosing(tail):
            for number in range(2):
                seq = (await house.ledger.read(id_))[-1].seq
                heard = asyncio.create_task(ear.change_beyond(partial(max, seq, 0)))
                followed = asyncio.ensure_future(anext(tail))
                restarting.stop()
                restarting.start()
                note = NewEvent(NoteAdded(code="x", text=str(number)), first.at)
                while True:
                    try:
                        await other.ledger.append(id_, [note], expected=seq)
                        break
                    except LedgerUnreachable:  # the first who asks finds its connection cut
                        continue
                await heard
                assert (await followed).seq == seq + 1


async def test_connections_that_are_cut_are_made_anew(postgres_url: str, tmp_path: Path) -> None:
    async def cut() -> None:
        other = await asyncpg.connect(postgres_url)
        await other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'roundtable'"
        )
        await other.close()

    class Cutting(Struck):
        async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
            reply = await super().speak(request, on_words)
            await cut()
            return reply

    async with at_a_server(postgres_url, tmp_path) as house:
        house.voice = Cutting(0, lambda: None)
        id_ = await house.open()
        state = await house.run(id_)
        assert is_whole(state, await house.ledger.read(id_))
    assert len(house.voice.requests) == CALLS
