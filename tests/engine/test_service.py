"""The service: open, run, stop, speak, read, list, delete, each from any process at any time."""

from __future__ import annotations

import asyncio

import pytest

from roundtable.core.errors import (
    BadSetting,
    BadTopic,
    LeaseHeld,
    NotAllowed,
    UnknownDiscussion,
    UnknownName,
)
from roundtable.core.events import AttemptFailed, SpeechGiven, StoredEvent
from roundtable.core.state import State, fold
from roundtable.core.turns import UNDECLARED
from roundtable.core.values import OUTSIDE, Budget, Material
from roundtable.ledger.memory import MemoryLedger
from roundtable.ports import SpeakRequest
from roundtable.procedures.opening import MAX_TOPIC, OpenRequest
from roundtable.version import __version__
from roundtable.views.notes import notes
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time, types

ANSWER = "## Findings\nCoffee.\n## Sources\nnone\n## Confidence\nlow\n## Dissent\nnone"


def hanging(*parts: str) -> Voice:
    """A dutiful voice that falls silent in the turns whose ids contain one of these."""

    def script(request: SpeakRequest) -> str | None:
        hangs = any(part in request.idempotency_key for part in parts)
        return None if hangs else dutiful(request)

    return Voice(script)


async def started(table: Table, seconds: float = 3) -> tuple[str, asyncio.Task[State]]:
    """A council that is being driven, seconds later. A call takes one: after three of them the
    briefing is over, and all have answered who do not hang."""
    state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
    run = asyncio.create_task(table.service.run(state.discussion_id))
    await asyncio.sleep(seconds)
    return state.discussion_id, run


# Open


def test_opening_puts_the_topic_to_the_table_and_spends_nothing() -> None:
    table = Table()
    request = OpenRequest(
        topic="  Tea or coffee?\n",
        context=(Material(source="notes.md", text="We have a kettle."),),
        budget=Budget(max_calls=9),
        created_by="anna",
    )
    state = run_in_virtual_time(table.service.open(request))
    assert table.requests == []
    assert state.start.topic == "Tea or coffee?"
    assert state.start.context == request.context
    assert state.start.budget == request.budget
    assert (state.start.created_by, state.start.seed) == ("anna", 7)
    assert state.start.program_version == __version__
    assert state.status == "running"


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("request_", "error", "says"),
    [
        (OpenRequest(topic=" \n"), BadTopic, "empty"),
        (OpenRequest(topic="x" * (MAX_TOPIC + 1)), BadTopic, "100,001 characters"),
        (OpenRequest(topic="tea\x00"), BadTopic, "U\\+0000"),
        (OpenRequest(topic="tea\x1b[2J"), BadTopic, "U\\+001B"),
        (
            OpenRequest(topic="tea", context=(Material(source="a.png", text="\x89PNG\x00"),)),
            BadTopic,
            "a.png",
        ),
        (OpenRequest(topic="tea", procedure="counsel"), UnknownName, "council"),
        (OpenRequest(topic="tea", options={"presett": "cheap"}), UnknownName, "preset"),
        (OpenRequest(topic="tea", options={"preset": "cheep"}), UnknownName, "cheap"),
        (OpenRequest(topic="tea", options={"budget": "huge"}), BadSetting, "'medium'"),
    ],
)
def test_a_request_that_cannot_be_carried_out_is_refused_with_what_to_do(
    request_: OpenRequest, error: type[Exception], says: str
) -> None:
    table = Table()
    with pytest.raises(error, match=says):
        run_in_virtual_time(table.service.open(request_))
    assert run_in_virtual_time(table.service.summaries()) == []


def test_an_id_that_is_taken_is_drawn_again() -> None:
    ledger = MemoryLedger(lambda: 0.0)

    async def main() -> list[str]:
        # Both tables draw the same ids in the same order.
        first = await Table(ledger=ledger).service.open(OpenRequest(topic="Tea?"))
        second = await Table(ledger=ledger).service.open(OpenRequest(topic="Coffee?"))
        return [first.discussion_id, second.discussion_id]

    assert run_in_virtual_time(main()) == ["rt_00000001", "rt_00000002"]


# Run


def test_a_closed_discussion_is_returned_as_it_is() -> None:
    table = Table()

    async def main() -> None:
        state = await table.ask()
        before = await table.records(state)
        assert await table.service.run(state.discussion_id) == state
        assert await table.records(state) == before

    run_in_virtual_time(main())


def test_what_the_driver_reports_equals_what_the_ledger_says() -> None:
    table = Table()
    heard: list[StoredEvent] = []

    async def main() -> None:
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        over = await table.service.run(
            state.discussion_id, on_event=lambda record, _: heard.append(record)
        )
        assert over == await table.service.read(state.discussion_id)
        assert [*(await table.records(state))[: state.seq], *heard] == await table.records(state)

    run_in_virtual_time(main())


@pytest.mark.requirement("I-14")
def test_only_one_process_drives_a_discussion() -> None:
    table = Table()

    async def main() -> None:
        discussion_id, run = await started(table)
        with pytest.raises(LeaseHeld, match="test"):
            await table.service.run(discussion_id)
        with pytest.raises(LeaseHeld):
            await table.service.delete(discussion_id)
        assert (await run).status == "concluded"

    run_in_virtual_time(main())
    assert len(table.requests) == 9


@pytest.mark.requirement("I-14", "Z-01")
def test_the_lease_of_a_process_that_vanished_runs_out() -> None:
    table = Table()

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        await table.ledger.take_lease(state.discussion_id, "vanished", ttl=30)
        with pytest.raises(LeaseHeld, match="vanished"):
            await table.service.run(state.discussion_id)
        await asyncio.sleep(31)
        return await table.service.run(state.discussion_id)

    assert run_in_virtual_time(main()).status == "concluded"


@pytest.mark.requirement("Z-10")
def test_a_late_reader_sees_the_same_events_as_one_from_the_beginning() -> None:
    table = Table()

    async def follow(discussion_id: str, after: int) -> list[StoredEvent]:
        return [record async for record in table.service.events(discussion_id, after=after)]

    async def main() -> None:
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        early = asyncio.create_task(follow(state.discussion_id, 0))
        run = asyncio.create_task(table.service.run(state.discussion_id))
        await asyncio.sleep(3)
        late = asyncio.create_task(follow(state.discussion_id, 4))
        over = await run
        whole = await early
        assert whole == await table.service.records(state.discussion_id)
        assert await late == whole[4:]
        assert await table.service.records(state.discussion_id, after=4) == whole[4:]
        assert fold(whole) == over

    run_in_virtual_time(main())


# Stop


@pytest.mark.requirement("I-07")
def test_a_stop_from_elsewhere_ends_a_call_in_flight_and_keeps_what_exists() -> None:
    table = Table({"*": hanging("/answer/muse")})

    async def main() -> State:
        discussion_id, run = await started(table)
        elsewhere = Table(ledger=table.ledger)
        seen = await elsewhere.service.stop(discussion_id, by="anna", reason="enough")
        assert seen.closed is None
        at = table.clock.monotonic()
        over = await run
        assert table.clock.monotonic() - at <= 2
        assert elsewhere.requests == []
        return over

    state = run_in_virtual_time(main())
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason, state.closed.detail) == (
        "stopped",
        "stopped_by_user",
        "enough",
    )
    assert state.verdict is not None
    assert (state.verdict.method, state.verdict.partial) == ("extractive", True)
    assert state.verdict.cites == ("1/answer/scholar", "1/answer/engineer")
    muse = state.turns["1/answer/muse"]
    assert [a.failed.cause for a in muse.attempts if a.failed] == ["cancelled"]


def test_a_discussion_that_nobody_drives_is_closed_by_the_stop_itself() -> None:
    table = Table()

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        return await table.service.stop(state.discussion_id, by="anna")

    state = run_in_virtual_time(main())
    assert state.status == "stopped"
    assert state.verdict is None
    assert table.requests == []


def test_a_second_stop_changes_nothing_and_a_closed_discussion_cannot_be_stopped() -> None:
    table = Table({"*": hanging("/answer/")})

    async def main() -> None:
        discussion_id, run = await started(table)
        await table.service.stop(discussion_id, by="anna", reason="first")
        await table.service.stop(discussion_id, by="ben", reason="second")
        over = await run
        assert over.closed is not None
        assert over.closed.detail == "first"
        with pytest.raises(NotAllowed, match="already closed"):
            await table.service.stop(discussion_id, by="anna")
        assert types(await table.records(over)).count("StopRequested") == 1

    run_in_virtual_time(main())


def test_a_stop_that_comes_as_the_discussion_closes_leaves_no_trace_behind_the_end() -> None:
    class Closing(MemoryLedger):
        """Lets the discussion be closed between a stop's look and its word."""

        hook: asyncio.Task[State] | None = None

        async def read(self, *args: object, **kwargs: object) -> list[StoredEvent]:
            records = await super().read(*args, **kwargs)  # type: ignore[arg-type]
            if self.hook:
                hook, self.hook = self.hook, None
                await hook
            return records

    ledger = Closing(lambda: 0.0)
    table = Table(ledger=ledger)

    async def main() -> None:
        discussion_id, run = await started(table)
        ledger.hook = run
        with pytest.raises(NotAllowed, match="already closed"):
            await table.service.stop(discussion_id, by="anna")
        records = await ledger.read(discussion_id)
        assert types(records)[-1] == "DiscussionClosed"

    run_in_virtual_time(main())


@pytest.mark.requirement("Z-01", "Z-09")
def test_a_stop_after_a_crash_still_counts_the_call_that_was_under_way() -> None:
    ledger = MemoryLedger(lambda: 0.0)
    table = Table({"*": hanging("/answer/muse")}, ledger=ledger)

    async def main() -> State:
        discussion_id, run = await started(table)
        on_disk = list(await ledger.read(discussion_id))  # at kill -9
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        stream = ledger._streams[discussion_id]
        stream.events[:] = on_disk
        stream.keys = {record.key: record for record in on_disk if record.key}
        return await table.service.stop(discussion_id, by="anna")

    state = run_in_virtual_time(main())
    assert state.status == "stopped"
    assert state.usage.cost_usd is None
    assert [note.code for note in notes(state)].count("lost_calls") == 1


# Speak


@pytest.mark.requirement("X-48", "X-37")
def test_a_remark_of_the_coordinator_reaches_every_later_prompt_inside_a_fence() -> None:
    table = Table()

    async def main() -> SpeechGiven:
        discussion_id, run = await started(table, 1.5)
        remark = await table.service.speak(discussion_id, "coordinator", "Mind the budget.")
        await run
        return remark

    remark = run_in_virtual_time(main())
    assert remark == SpeechGiven(
        turn_id="0/remark/coordinator-1",
        stage="remark",
        round=0,
        participant="captain",
        model=OUTSIDE,
        text="Mind the budget.",
        after_round=1,
    )
    told = {r.idempotency_key.split("/")[2] for r in table.requests if "Mind the budget." in r.user}
    assert told == {"summary", "cross-examination", "synthesis"}
    for request in table.requests:
        if "Mind the budget." in request.user:
            fenced = request.user.split("---REMARK (untrusted)---")[1].split("---END REMARK---")[0]
            assert "Mind the budget." in fenced
            assert request.user.count("Mind the budget.") == 1


@pytest.mark.requirement("X-48")
def test_a_participant_fills_its_own_open_turn_in_place_of_its_speaker() -> None:
    table = Table({"*": hanging("/answer/scholar")})

    async def main() -> State:
        discussion_id, run = await started(table)
        given = await table.service.speak(discussion_id, "scholar", ANSWER)
        assert (given.turn_id, given.model, given.flags) == (
            "1/answer/scholar",
            OUTSIDE,
            (UNDECLARED,),
        )
        assert given.sections["Findings"] == "Coffee."
        return await run

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    speech = state.speech("1/answer/scholar")
    assert speech is not None
    assert speech.text == ANSWER
    # The speaker's own call was ended, and nobody heard it.
    (attempt,) = state.turns["1/answer/scholar"].attempts
    assert isinstance(attempt.failed, AttemptFailed)
    assert attempt.failed.cause == "cancelled"
    records = run_in_virtual_time(table.records(state))
    ended = types(records).index("AttemptFailed")
    assert isinstance(records[ended - 1].event, SpeechGiven)
    assert any("Coffee." in r.user for r in table.requests if "/synthesis/" in r.idempotency_key)


@pytest.mark.requirement("X-48")
def test_a_discussion_begun_by_a_run_takes_a_speech_by_tool_and_is_finished_by_a_run() -> None:
    table = Table({"*": hanging("/answer/scholar")})

    async def main() -> State:
        discussion_id, run = await started(table)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await table.service.speak(discussion_id, "scholar", ANSWER)
        return await table.service.run(discussion_id)

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    assert [s.model == OUTSIDE for s in state.spoken_in("answer", 1)] == [True, False, False]


@pytest.mark.requirement("C-68")
def test_a_speech_from_outside_is_held_to_the_same_contract() -> None:
    table = Table({"*": hanging("/answer/scholar")})

    async def main() -> SpeechGiven:
        discussion_id, run = await started(table)
        given = await table.service.speak(discussion_id, "scholar", "Just coffee.")
        await run
        return given

    assert run_in_virtual_time(main()).flags == ("[unstructured response]", UNDECLARED)


@pytest.mark.requirement("I-16", "I-28")
def test_who_may_not_speak_is_told_why_and_nothing_is_recorded() -> None:
    table = Table({"*": hanging("/answer/scholar")})

    async def main() -> None:
        opened = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        with pytest.raises(NotAllowed, match="not scholar's turn"):
            await table.service.speak(opened.discussion_id, "scholar", "Too early.")
        discussion_id, run = await started(table)
        before = await table.service.records(discussion_id)
        for who, text, error, says in [
            ("engineer", "I spoke already.", NotAllowed, "not engineer's turn"),
            ("scholr", "Hello.", UnknownName, "scholar"),
            ("scholar", " \n", NotAllowed, "empty"),
        ]:
            with pytest.raises(error, match=says):
                await table.service.speak(discussion_id, who, text)
        with pytest.raises(UnknownDiscussion):
            await table.service.speak("rt_ffffffff", "scholar", "Hello.")
        assert await table.service.records(discussion_id) == before
        await table.service.speak(discussion_id, "scholar", ANSWER)
        await run
        for who in ("coordinator", "scholar"):
            with pytest.raises(NotAllowed, match="closed"):
                await table.service.speak(discussion_id, who, "Too late.")

    run_in_virtual_time(main())


@pytest.mark.requirement("I-17")
def test_a_repeated_call_with_the_same_key_records_nothing_new() -> None:
    table = Table({"*": hanging("/answer/scholar")})

    async def main() -> None:
        discussion_id, run = await started(table)
        speak = table.service.speak
        remarks = [await speak(discussion_id, "coordinator", "Go on.", key="k1") for _ in range(3)]
        assert len(set(remarks_of(await table.service.read(discussion_id)))) == 1
        assert remarks[0] == remarks[1] == remarks[2]
        first = await speak(discussion_id, "scholar", ANSWER, key="k2")
        assert await speak(discussion_id, "scholar", ANSWER, key="k2") == first
        over = await run
        # Also much later, when the turn is long over.
        assert [s.turn_id for s in over.speeches].count("1/answer/scholar") == 1
        assert await speak(discussion_id, "scholar", ANSWER, key="k2") == first

    run_in_virtual_time(main())


def remarks_of(state: State) -> list[str]:
    return [speech.turn_id for speech in state.speeches if speech.stage == "remark"]


@pytest.mark.requirement("I-17")
def test_the_same_words_with_another_key_or_none_are_another_speech() -> None:
    table = Table({"*": hanging("/scholar")})

    async def main() -> None:
        discussion_id, run = await started(table)
        speak = table.service.speak
        for key in ("k1", "1", None, None):
            await speak(discussion_id, "coordinator", "Go on.", key=key)
        assert len(remarks_of(await table.service.read(discussion_id))) == 4
        await speak(discussion_id, "scholar", ANSWER, key="k2")
        await asyncio.sleep(3)
        second = await speak(discussion_id, "scholar", ANSWER, key="k3")
        assert second.turn_id == "2/cross-examination/scholar"
        await run

    run_in_virtual_time(main())


@pytest.mark.requirement("I-16", "I-17")
def test_of_two_speeches_for_one_turn_at_the_same_instant_the_first_stands() -> None:
    table = Table({"*": hanging("/answer/scholar")})

    async def main() -> State:
        discussion_id, run = await started(table)
        outcomes = await asyncio.gather(
            table.service.speak(discussion_id, "scholar", ANSWER),
            table.service.speak(discussion_id, "scholar", "Me too."),
            return_exceptions=True,
        )
        assert isinstance(outcomes[0], SpeechGiven)
        assert isinstance(outcomes[1], NotAllowed)
        return await run

    state = run_in_virtual_time(main())
    speech = state.speech("1/answer/scholar")
    assert speech is not None
    assert speech.text == ANSWER


# Read, list, delete


@pytest.mark.requirement("I-10")
def test_discussions_are_listed_searched_and_deleted() -> None:
    table = Table()

    async def main() -> None:
        tea = await table.ask("Tea?")
        await asyncio.sleep(1)
        coffee = await table.service.open(OpenRequest(topic="Coffee?"))
        listed = [(h.topic, h.status, h.procedure) for h in await table.service.summaries()]
        assert listed == [("Coffee?", "running", "council"), ("Tea?", "concluded", "council")]
        assert [h.topic for h in await table.service.summaries(search="tea")] == ["Tea?"]
        assert [h.topic for h in await table.service.summaries(limit=1)] == ["Coffee?"]
        await table.service.delete(tea.discussion_id)
        assert [h.topic for h in await table.service.summaries()] == ["Coffee?"]
        for call in (table.service.read, table.service.run, table.service.delete):
            with pytest.raises(UnknownDiscussion, match=tea.discussion_id):
                await call(tea.discussion_id)
        assert (await table.service.read(coffee.discussion_id)).start.topic == "Coffee?"

    run_in_virtual_time(main())


@pytest.mark.requirement("X-48")
def test_the_same_service_works_over_another_ledger() -> None:
    table = Table()
    other = table.service.with_ledger(MemoryLedger(lambda: 0.0))

    async def main() -> None:
        state = await other.open(OpenRequest(topic="Tea?"))
        assert (await other.run(state.discussion_id)).status == "concluded"
        assert await table.service.summaries() == []

    run_in_virtual_time(main())
