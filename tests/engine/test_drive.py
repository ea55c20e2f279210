"""The loop: searches, questions to a person, and interruptions at every point of a discussion."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import pytest

from roundtable.core.errors import LeaseLost, SpeakerError
from roundtable.core.events import (
    AttemptFailed,
    AttemptFinished,
    AttemptStarted,
    ChoiceMade,
    NewEvent,
    NoteAdded,
    SearchFailed,
    SearchFinished,
    SpeechGiven,
    StoredEvent,
)
from roundtable.core.state import State
from roundtable.core.values import SearchHit
from roundtable.ledger.memory import MemoryLedger
from roundtable.ports import SpeakRequest
from roundtable.procedures.opening import OpenRequest
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time

HIT = SearchHit(title="Tea", url="https://example.org/tea", text="Tea is old.")


class Finder:
    """A search by function."""

    name = "finder"

    def __init__(self, found: Sequence[SearchHit] | Exception | None) -> None:
        self.found = found
        self.queries: list[tuple[str, int]] = []

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        self.queries.append((query, count))
        if self.found is None:
            await asyncio.Event().wait()
        if isinstance(self.found, Exception):
            raise self.found
        assert self.found is not None
        return self.found


@pytest.mark.requirement("C-19", "X-30")
def test_a_search_is_made_once_and_its_hits_are_in_the_ledger() -> None:
    finder = Finder([HIT])
    state = run_in_virtual_time(Table(search=finder).ask())
    assert finder.queries == [("Tea or coffee?", 5)]
    assert state.searches == [
        SearchFinished(query="Tea or coffee?", provider="finder", hits=(HIT,))
    ]


@pytest.mark.requirement("X-30")
@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, "No answer within 10 s."),
        (OSError("token=abcdefghij123456 is wrong"), "token=[redacted] is wrong"),
        (ValueError(), ""),
    ],
)
def test_a_search_that_fails_or_hangs_never_breaks_the_discussion(
    found: Exception | None, message: str
) -> None:
    state = run_in_virtual_time(Table(search=Finder(found)).ask())
    assert state.searches == [
        SearchFailed(query="Tea or coffee?", provider="finder", message=message)
    ]
    assert state.status == "concluded"


@pytest.mark.requirement("X-30")
def test_no_search_is_made_when_it_is_not_wanted() -> None:
    finder = Finder([HIT])
    state = run_in_virtual_time(Table(search=finder).ask(search=False))
    assert finder.queries == []
    assert [note.code for note in state.notes] == ["no_search"]


class Person:
    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        self.asked.append((question, tuple(options)))
        await asyncio.sleep(300)  # people take their time, and no clock of a turn runs
        return self.answer


@pytest.mark.requirement("C-11")
@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("yes", ChoiceMade(question="round2", answer="yes", by="person")),
        ("no", ChoiceMade(question="round2", answer="no", by="person")),
        (None, ChoiceMade(question="round2", answer="no", by="default")),
        ("maybe", ChoiceMade(question="round2", answer="no", by="default")),
    ],
)
def test_a_person_is_asked_once_and_the_default_stands_in(
    answer: str | None, choice: ChoiceMade
) -> None:
    person = Person(answer)
    state = run_in_virtual_time(Table(asker=person, defaults={"round2": "ask"}).ask())
    assert len(person.asked) == 1
    assert person.asked[0][1] == ("yes", "no")
    assert state.choices == {"round2": choice}


# Interruptions


class Boom(Exception):
    """The disk, the power, the process."""


Fault = Literal["before", "after", "dead", "cancel", "cancel late"]
NEVER = -1


class Faltering(MemoryLedger):
    """Fails at its n-th append after the opening: before or after writing, from then on for good
    (a killed process), or by having its driver cancelled (Ctrl-C)."""

    def __init__(self, at: int, fault: Fault) -> None:
        super().__init__(lambda: 0.0)
        self.at = at
        self.fault = fault
        self.count = -1
        self.driving: asyncio.Task[State] | None = None

    async def append(
        self, discussion_id: str, events: Sequence[NewEvent], **rules: Any
    ) -> list[StoredEvent]:
        self.count += 1
        hit = self.count == self.at
        if (hit and self.fault == "before") or (self.fault == "dead" and self.count >= self.at > 0):
            raise Boom
        if hit and self.fault == "cancel" and self.driving is not None:
            self.driving.cancel()
        await asyncio.sleep(0)  # as a real ledger, it lets others run before and after it writes
        stored = await super().append(discussion_id, events, **rules)
        if hit and self.fault == "after":
            raise Boom
        if hit and self.fault == "cancel late" and self.driving is not None:
            self.driving.cancel()
        await asyncio.sleep(0)
        return stored

    def mend(self) -> None:
        self.at = NEVER


def interrupted_run(at: int, fault: Fault) -> tuple[Table, Faltering, list[StoredEvent]]:
    """A council that is interrupted at its n-th append, and then resumed."""
    ledger = Faltering(at, fault)
    table = Table(ledger=ledger, search=Finder([HIT]))

    async def main() -> list[StoredEvent]:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        ledger.driving = asyncio.create_task(table.service.run(state.discussion_id))
        await asyncio.gather(ledger.driving, return_exceptions=True)
        ledger.mend()
        await table.service.run(state.discussion_id)
        return await table.records(state)

    unheard: list[dict[str, Any]] = []
    records = run_in_virtual_time(main())
    assert unheard == [], "an error of a task that nobody waited for"
    return table, ledger, records


@pytest.mark.requirement("C-31")
def test_an_undisturbed_council_makes_six_specialist_calls_and_three_by_its_captain() -> None:
    table, _, _ = interrupted_run(NEVER, "before")
    who = Counter(request.idempotency_key.split("/")[3] for request in table.requests)
    assert who == {"scholar": 2, "engineer": 2, "muse": 2, "captain": 3}


@pytest.mark.requirement("Z-01", "I-07", "I-08")
@pytest.mark.parametrize("fault", ["before", "after", "dead", "cancel", "cancel late"])
def test_interrupted_at_any_append_a_council_resumes_without_repeating_a_finished_call(
    fault: Fault,
) -> None:
    _, whole, undisturbed = interrupted_run(NEVER, fault)
    kinds = {"answers": 9, "searches": 1, "calls that begin": 5, "decisions": 11}
    assert whole.count >= sum(kinds.values())
    for at in range(1, whole.count + 1):
        table, _, records = interrupted_run(at, fault)
        events = [record.event for record in records]
        finished = Counter(e.turn_id for e in events if isinstance(e, AttemptFinished))
        speeches = Counter(e.turn_id for e in events if isinstance(e, SpeechGiven))
        attempts = [f"{e.turn_id}/{e.attempt}" for e in events if isinstance(e, AttemptStarted)]
        keys = [request.idempotency_key.split("/", 1)[1] for request in table.requests]
        where = f"append {at}"
        # Every turn was paid for once and spoke once, as if nothing had happened.
        assert set(finished.values()) == set(speeches.values()) == {1}, where
        assert len(speeches) == 9, where
        # The provider's own count: no key comes twice, and each one is in the ledger.
        assert len(set(keys)) == len(keys), where
        assert set(keys) <= set(attempts), where
        # Whatever was made again had been under way, and is counted.
        interrupted = [e for e in events if isinstance(e, AttemptFailed)]
        assert {e.cause for e in interrupted} <= {"lost", "cancelled"}, where
        assert len(attempts) == 9 + len(interrupted), where
        assert len(interrupted) <= 3, where
        assert [r.event.type for r in records][-2:] == ["VerdictReached", "DiscussionClosed"], where
        assert records[-2].event == undisturbed[-2].event, where


@pytest.mark.requirement("I-08")
def test_a_run_cancelled_after_round_one_resumes_with_the_calls_that_are_left() -> None:
    hang = True

    def script(request: SpeakRequest) -> str | None:
        return None if hang and "joint summary" in request.user else dutiful(request)

    table = Table({"*": Voice(script)})

    async def main() -> State:
        nonlocal hang
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        run = asyncio.create_task(table.service.run(state.discussion_id))
        await asyncio.sleep(30)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        hang = False
        table.voices["*"].requests.clear()
        return await table.service.run(state.discussion_id)

    state = run_in_virtual_time(main())
    again = [r.idempotency_key.split("/", 1)[1] for r in table.requests]
    assert sorted(again) == [
        "0/summary/captain/2",
        "0/synthesis/captain/1",
        "2/cross-examination/engineer/1",
        "2/cross-examination/muse/1",
        "2/cross-examination/scholar/1",
    ]
    assert state.status == "concluded"


@pytest.mark.requirement("I-14")
def test_a_process_that_lost_its_lease_stops_and_writes_nothing_more() -> None:
    table = Table()

    async def main() -> None:
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        run = asyncio.create_task(table.service.run(state.discussion_id))
        await asyncio.sleep(0.5)
        ledger = table.ledger
        assert isinstance(ledger, MemoryLedger)
        # Its lease runs out while it hangs, and another process takes over.
        ledger._leases[state.discussion_id].until = -1
        newer = await ledger.take_lease(state.discussion_id, "another", ttl=60)
        before = len(await ledger.read(state.discussion_id))
        with pytest.raises(LeaseLost):
            await run
        assert len(await ledger.read(state.discussion_id)) == before
        # And it does not give back a lease that is no longer its own.
        await ledger.renew_lease(newer, ttl=60)

    run_in_virtual_time(main())


@pytest.mark.requirement("I-14")
def test_a_driver_keeps_its_lease_alive_however_long_a_call_takes() -> None:
    def script(request: SpeakRequest) -> float | str:
        return 80.0 if "/1/answer/" in request.idempotency_key else dutiful(request)

    table = Table({"*": Voice(script)})

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        run = asyncio.create_task(table.service.run(state.discussion_id))
        for _ in range(7):
            await asyncio.sleep(10)
            (headline,) = await table.service.summaries()
            assert headline.driver == "test"
        return await run

    assert run_in_virtual_time(main()).status == "concluded"


def test_a_defect_of_a_speaker_ends_the_run_but_not_the_discussion() -> None:
    broken = True

    def script(request: SpeakRequest) -> str:
        if broken and "/answer/muse" in request.idempotency_key:
            raise ZeroDivisionError
        return dutiful(request)

    table = Table({"*": Voice(script)})

    async def main() -> State:
        nonlocal broken
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        with pytest.raises(ZeroDivisionError):
            await table.service.run(state.discussion_id)
        broken = False
        return await table.service.run(state.discussion_id)

    assert run_in_virtual_time(main()).status == "concluded"


def test_what_others_append_meanwhile_is_taken_in() -> None:
    table = Table()

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        run = asyncio.create_task(table.service.run(state.discussion_id))
        note = NoteAdded(code="hello", text="from elsewhere")
        for _ in range(8):
            await asyncio.sleep(0.7)
            await table.ledger.append(state.discussion_id, [NewEvent(note, table.clock.now())])
        return await run

    state = run_in_virtual_time(main())
    assert [n.code for n in state.notes].count("hello") >= 6
    assert len(table.requests) == 9
    assert state.status == "concluded"


def test_a_dead_captain_does_not_stop_the_council() -> None:
    table = Table({"test/captain": Voice(lambda _: SpeakerError("auth", "No key.")), "*": Voice()})
    state = run_in_virtual_time(table.ask())
    assert state.status == "concluded"
    assert len(state.failures) == 3
