"""What a chair does by hand while the program drives: every act is an event, nothing is lost."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from roundtable.core.errors import BadTopic, NotAllowed, UnknownName
from roundtable.core.events import DiscussionPaused, SpeechGiven, StoredEvent
from roundtable.core.state import State
from roundtable.core.values import OUTSIDE_SPEAKER, Material, Participant
from roundtable.procedures.opening import OpenRequest
from tests.procedures.meeting_table import acting, among_themselves, meeting, opened, rounds
from tests.rehearsal import Table, Voice, run_in_virtual_time

NEWCOMER = Participant(id="ops", name="Olu", role="Operations", speakers=(OUTSIDE_SPEAKER,))


async def _after(table: Table, id_: str, speeches: int) -> State:
    """The state once this many speeches of participants are in."""
    while True:
        state = await table.service.read(id_)
        if len(rounds(state)) >= speeches:
            return state
        await asyncio.sleep(0.5)


@pytest.mark.requirement("I-33")
def test_whoever_speaks_finishes_and_nobody_begins_while_it_is_paused() -> None:
    table = meeting()

    async def main() -> State:
        id_ = await opened(table)
        driving = asyncio.create_task(table.service.run(id_))
        await _after(table, id_, 1)
        await table.service.pause(id_, by="the host", reason="a call")
        await asyncio.sleep(600)
        paused = await table.service.read(id_)
        assert not driving.done()
        assert paused.paused == DiscussionPaused(by="the host", reason="a call")
        assert not any(a.in_flight for turn in paused.turns.values() for a in turn.attempts)
        calls = len(table.requests)
        await asyncio.sleep(600)
        assert len(table.requests) == calls, "somebody began although it is paused"
        await table.service.pause(id_, by="the host")  # twice says nothing new
        await table.service.resume(id_, by="the host")
        return await driving

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    assert state.paused is None
    assert len(rounds(state)) == 9
    events = [record.event.type for record in run_in_virtual_time(table.records(state))]
    assert [events.count("DiscussionPaused"), events.count("DiscussionResumed")] == [1, 1]
    attempts = [len(turn.attempts) for turn in state.turns.values() if turn.attempts]
    assert set(attempts) == {1}, "a call was made twice because of the pause"


@pytest.mark.requirement("I-33")
def test_a_paused_discussion_can_be_stopped_and_says_why_nobody_may_speak() -> None:
    table = meeting()

    async def main() -> State:
        id_ = await among_themselves(table)
        await table.service.pause(id_, by="ada")
        with pytest.raises(NotAllowed, match="was paused by ada"):
            await table.service.speak(id_, "arch", "May I?")
        assert (await table.service.speak(id_, "coordinator", "Back at two.")).stage == "remark"
        await table.service.resume(id_, by="ada")
        await table.service.speak(id_, "arch", "Now I may.")
        await table.service.pause(id_, by="ada")
        return await table.service.stop(id_, by="ada")

    state = run_in_virtual_time(main())
    assert state.status == "stopped"
    assert rounds(state) == [(1, "arch")]


@pytest.mark.requirement("I-33")
@pytest.mark.parametrize("procedure", ["council", "deliberation", "adaptive", "five-round"])
def test_every_procedure_pauses_and_goes_on_to_its_verdict(procedure: str) -> None:
    table = Table({"*": Voice()})

    async def main() -> tuple[State, int, int]:
        request = OpenRequest(topic="Tea or coffee?", procedure=procedure, search=False)
        id_ = (await table.service.open(request)).discussion_id
        await table.service.pause(id_, by="ada")
        driving = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(60)
        before = len(table.requests)
        await table.service.resume(id_, by="ada")
        return await driving, before, len(table.requests)

    state, before, after = run_in_virtual_time(main())
    assert state.closed is not None
    assert (before, after > 0) == (0, True)


@pytest.mark.requirement("I-33")
def test_a_skipped_speaker_is_absent_and_the_round_goes_on() -> None:
    voice = acting({"1/discussion/back": None})
    table = Table({"*": voice})

    async def main() -> State:
        id_ = await opened(table, options={"max_rounds": 1})
        driving = asyncio.create_task(table.service.run(id_))
        await _after(table, id_, 1)
        await asyncio.sleep(5)
        with pytest.raises(NotAllowed, match="prod has no open turn"):
            await table.service.skip(id_, "prod", by="the host")
        with pytest.raises(UnknownName):
            await table.service.skip(id_, "Back", by="the host")
        await table.service.skip(id_, "back", by="the host")
        return await driving

    state = run_in_virtual_time(main())
    assert rounds(state) == [(1, "arch"), (1, "prod")]
    (failure,) = state.failures
    assert (failure.participant, failure.cause) == ("back", "absent")
    assert failure.message == "the host skipped this turn."


@pytest.mark.requirement("I-33")
def test_a_document_on_the_table_is_in_every_later_prompt_and_in_none_before() -> None:
    table = meeting()

    async def main() -> State:
        id_ = await opened(table, options={"max_rounds": 2})
        driving = asyncio.create_task(table.service.run(id_))
        await _after(table, id_, 3)
        paper = Material(source="figures.md", text="The PAPER says 42.")
        for _ in range(2):  # the same key once more is harmless
            await table.service.add_material(id_, paper, by="ada", key="k1")
        return await driving

    state = run_in_virtual_time(main())
    assert [each.by for each in state.added] == ["ada"]
    carried = {r.idempotency_key.split("/")[1] for r in table.requests if "PAPER says 42" in r.user}
    bare = {
        r.idempotency_key.split("/")[1]
        for r in table.requests
        if "/discussion/" in r.idempotency_key and "PAPER says 42" not in r.user
    }
    assert carried >= {"2"}
    assert bare == {"1"}


@pytest.mark.requirement("I-33")
@pytest.mark.parametrize("procedure", ["council", "deliberation", "adaptive", "five-round"])
def test_added_material_reaches_the_prompts_of_every_procedure(procedure: str) -> None:
    table = Table({"*": Voice()})

    async def main() -> None:
        request = OpenRequest(topic="Tea or coffee?", procedure=procedure, search=False)
        id_ = (await table.service.open(request)).discussion_id
        paper = Material(source="figures.md", text="The PAPER says 42.")
        await table.service.add_material(id_, paper, by="ada")
        await table.service.run(id_)

    run_in_virtual_time(main())
    assert any("PAPER says 42" in request.user for request in table.requests)
    assert not any("PAPER says 42" in request.system for request in table.requests)


@pytest.mark.requirement("I-33", "I-13")
def test_a_document_that_others_have_to_make_room_for_is_condensed_with_them_and_it_is_said() -> (
    None
):
    table = Table({"*": Voice()})

    async def main() -> State:
        long = Material(source="long.md", text="Nothing happened.\n\n" * 40_000)
        request = OpenRequest(topic="Tea or coffee?", procedure="council", context=(long,))
        id_ = (await table.service.open(request)).discussion_id
        paper = Material(source="more.md", text="Coffee is black.\n\n" * 40_000)
        return await table.service.add_material(id_, paper, by="ada")

    first, then = (n for n in run_in_virtual_time(main()).notes if n.code.startswith("condensed"))
    assert "more.md" not in first.text
    shown = [int(n.replace(",", "")) for n in re.findall(r"\.md ([\d,]+) of", then.text)]
    before = [int(n.replace(",", "")) for n in re.findall(r"\.md ([\d,]+) of", first.text)]
    assert len(shown) == 2
    assert sum(shown) <= before[0] * 1.01, "the marks between passages take more room or less"


@pytest.mark.requirement("I-33")
def test_the_chair_can_give_more_rounds_and_only_where_there_is_room() -> None:
    table = meeting()

    async def main() -> State:
        id_ = await opened(table, options={"max_rounds": 1})
        for wrong in (0, -1, 21):
            with pytest.raises(NotAllowed, match="more rounds cannot be added"):
                await table.service.extend(id_, wrong, by="ada")
        await table.service.extend(id_, 1, by="ada")
        state = await table.service.run(id_)
        with pytest.raises(NotAllowed, match="closed"):
            await table.service.extend(id_, 1, by="ada")
        council = await table.service.open(OpenRequest(topic="Tea?", search=False))
        with pytest.raises(NotAllowed, match=r"fixed course.*adaptive, meeting"):
            await table.service.extend(council.discussion_id, 1, by="ada")
        return state

    state = run_in_virtual_time(main())
    assert {round_ for round_, _ in rounds(state)} == {1, 2}
    assert any("Round 2 / 2" in request.user for request in table.requests)


@pytest.mark.requirement("I-33")
def test_somebody_may_join_and_somebody_may_leave_between_rounds() -> None:
    table = meeting()

    async def main() -> State:
        id_ = await among_themselves(table, max_rounds=2)
        for who in ("arch", "back", "prod"):
            await table.service.speak(id_, who, f"{who} in round 1")
        for _ in range(2):  # joining twice says nothing new
            await table.service.join(id_, NEWCOMER, by="ada")
        other = NEWCOMER.model_copy(update={"name": "Ola"})
        with pytest.raises(NotAllowed, match="already has a seat in"):
            await table.service.join(id_, other, by="ada")
        chair = NEWCOMER.model_copy(update={"id": "coordinator"})
        with pytest.raises(NotAllowed, match="the host's name"):
            await table.service.join(id_, chair, by="ada")
        await table.service.leave(id_, "prod", by="ada")
        for who in ("arch", "back", "ops"):
            await table.service.speak(id_, who, f"{who} in round 2")
        return await table.service.conclude(id_, "Enough.")

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    assert rounds(state) == [
        (1, "arch"), (1, "back"), (1, "prod"), (2, "arch"), (2, "back"), (2, "ops"),
    ]  # fmt: skip


def test_a_seat_can_be_given_a_model_and_two_must_stay() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table, count=2)
        state = await table.service.join(id_, NEWCOMER, by="ada", model="test/new")
        assert state.participants[-1].speaker.model == "test/new"
        await table.service.leave(id_, "arch", by="ada")
        with pytest.raises(NotAllowed, match="Two participants must stay"):
            await table.service.leave(id_, "ops", by="ada")
        council = await table.service.open(OpenRequest(topic="Tea?", search=False))
        with pytest.raises(NotAllowed, match="not led by hand"):
            await table.service.join(council.discussion_id, NEWCOMER, by="ada")

    run_in_virtual_time(main())


def test_a_document_that_is_no_text_is_refused_and_nothing_is_recorded() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await opened(table)
        before = await table.service.records(id_)
        with pytest.raises(BadTopic):
            await table.service.add_material(id_, Material(source="x", text="\x00"), by="ada")
        assert await table.service.records(id_) == before

    run_in_virtual_time(main())


@pytest.mark.requirement("X-48", "I-33")
@pytest.mark.parametrize("procedure", ["council", "deliberation"])
def test_a_person_can_hold_a_seat_in_a_procedure_that_the_program_drives(procedure: str) -> None:
    table = Table({"*": Voice()})
    options: dict[str, dict[str, Any]] = {
        "council": {"muse": "outside"},
        "deliberation": {"models": ["outside", "test/b", "test/c"]},
    }

    async def main() -> tuple[State, str]:
        request = OpenRequest(
            topic="Tea or coffee?", procedure=procedure, options=options[procedure], search=False
        )
        state = await table.service.open(request)
        (person,) = [p.id for p in state.participants if p.speaker == OUTSIDE_SPEAKER]
        driving = asyncio.create_task(table.service.run(state.discussion_id))
        while not driving.done():
            await asyncio.sleep(1)
            try:
                await table.service.speak(state.discussion_id, person, "Tea, because I like it.")
            except NotAllowed:
                continue
        return await driving, person

    state, person = run_in_virtual_time(main())
    spoken = [s for s in state.speeches if s.participant == person]
    assert spoken
    assert {speech.model for speech in spoken} == {"outside"}
    assert state.verdict is not None


@pytest.mark.requirement("X-48")
def test_whoever_is_waited_for_is_reminded_once_and_then_done_without() -> None:
    table = meeting()

    async def main() -> tuple[State, list[StoredEvent]]:
        id_ = await among_themselves(table, turn_seconds=60, max_rounds=1)
        state = await table.service.run(id_)
        return state, await table.records(state)

    state, records = run_in_virtual_time(main())
    opened_at = records[0].at
    told = [
        (record.event.text, (record.at - opened_at).total_seconds())
        for record in records
        if record.event.type == "NoteAdded" and record.event.code == "waiting"
    ]
    assert told == [
        (f"{name} has 30 s left to speak in round 1.", at)
        for name, at in (("Ann", 30), ("Bob", 90), ("Cleo", 150))
    ]
    assert not any(isinstance(record.event, SpeechGiven) for record in records)
    assert state.status == "failed"
