"""The meeting led by hand: speeches from outside, rounds ended, votes, conclusions, all mixed."""

from __future__ import annotations

import asyncio
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.errors import NotAllowed, UnknownDiscussion, UnknownName
from roundtable.core.events import (
    DiscussionClosed,
    NoteAdded,
    RoundAdvanced,
    SpeechGiven,
    StoredEvent,
)
from roundtable.core.record import record_of
from roundtable.core.standing import standing_of
from roundtable.core.state import State
from roundtable.core.turns import DIFFERS, UNDECLARED
from roundtable.engine.external import SAID_ONLY
from roundtable.engine.system import SystemIds
from roundtable.procedures.opening import OpenRequest
from roundtable.views.meeting_status import awaits_conclusion, meeting_status
from tests.declaring import block, fields
from tests.rehearsal import Table, run_in_virtual_time

from .meeting_table import (
    NAMES,
    Folder,
    among_themselves,
    asked,
    codes,
    meeting,
    opened,
    participants_turns,
    rounds,
    said,
    seats,
)

# Speaking


@pytest.mark.requirement("D-09", "D-08", "D-37", "D-38", "D-66", "D-67")
def test_a_whole_meeting_can_be_held_through_speak_alone() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        assert (await table.service.speak(id_, "coordinator", "Welcome.")).after_round == 0
        walked = []
        for round_ in (1, 2, 3):
            for place, who in enumerate(NAMES[:3]):
                assert meeting_status(await table.service.read(id_)).next_speaker == who
                speech = await table.service.speak(id_, who, f"{who} in {round_}")
                state = await table.service.read(id_)
                status = meeting_status(state)
                walked.append((speech.round, status.round))
                last = place == 2
                # The next round begins by itself; the last one ends the meeting.
                assert status.round == (round_ + 1 if last and round_ < 3 else round_)
                assert (status.spoke == ()) is (last and round_ < 3)
                assert status.next_speaker == (
                    None if last and round_ == 3 else NAMES[(place + 1) % 3]
                )
        assert [spoken for spoken, _ in walked] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
        assert awaits_conclusion(state)
        state = await table.service.run(id_)  # nobody concludes: in the end the program does
        assert state.status == "concluded"
        assert "unconcluded" in codes(state)
        assert [round_ for round_, _ in rounds(state)] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
        assert state.verdict is not None
        assert state.verdict.method == "extractive"

    run_in_virtual_time(main())
    assert table.requests == []


@pytest.mark.requirement("D-10")
@pytest.mark.parametrize("name", ["Arch", "ARCH", "arch ", "Ann", "nobody", ""])
def test_only_registered_profiles_may_speak_and_vote(name: str) -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        await table.service.speak(id_, "arch", "First.")
        before = (await table.service.read(id_)).seq
        with pytest.raises(UnknownName):
            await table.service.speak(id_, name, "Let me in.")
        with pytest.raises(UnknownName):
            await table.service.vote_to_end(id_, name, True)
        assert (await table.service.read(id_)).seq == before

    run_in_virtual_time(main())


@pytest.mark.requirement("D-11", "D-30", "X-37")
def test_the_coordinator_may_speak_at_any_time_and_changes_no_counter() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table, max_rounds=2)
        anchors = []
        for round_ in (1, 2):
            for who in NAMES[:3]:
                before = meeting_status(await table.service.read(id_))
                remark = await table.service.speak(id_, "coordinator", f"Before {who}.")
                after = meeting_status(await table.service.read(id_))
                assert (after.round, after.next_speaker, after.spoke) == (
                    before.round if before.round else 1,
                    before.next_speaker,
                    before.spoke,
                )
                assert remark.round == 0
                anchors.append(remark.after_round)
                assert (await table.service.speak(id_, who, "Words.")).round == round_
        state = await table.service.read(id_)
        assert anchors == [0, 1, 1, 1, 2, 2]
        order = [s.participant for s in state.speeches]
        assert order[:4] == ["coordinator", "arch", "coordinator", "back"]

    run_in_virtual_time(main())


@pytest.mark.requirement("D-08", "I-16")
def test_whoever_is_not_next_is_refused_and_nothing_is_recorded() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        await table.service.speak(id_, "arch", "First.")
        before = (await table.service.read(id_)).seq
        for who in ("arch", "prod"):
            with pytest.raises(NotAllowed, match="not"):
                await table.service.speak(id_, who, "Me!")
        assert (await table.service.read(id_)).seq == before

    run_in_virtual_time(main())


@pytest.mark.requirement("D-93")
@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1))
def test_any_text_is_stored_intact(text: str) -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        if not text.strip():
            with pytest.raises(NotAllowed):
                await table.service.speak(id_, "arch", text)
            return
        await table.service.speak(id_, "arch", text)
        assert (await table.service.read(id_)).speeches[0].text == text

    run_in_virtual_time(main())


# Declaring


@pytest.mark.requirement("Z-22")
def test_whoever_speaks_from_outside_declares_in_fields_and_hears_what_they_lack() -> None:
    table = meeting()

    async def main() -> State:
        id_ = await among_themselves(table, max_rounds=2)
        await table.service.hear(id_, "arch", "One.", fields("VOTE o1", "NEW: It is simple."))
        said_ = await table.service.hear(id_, "back", "Two.", fields("VOTE o2", "NEW: It is slow."))
        assert UNDECLARED not in said_.speech.flags
        assert said_.remarks == (
            "Not answered: p1.",
            "The speech has 1 words; at least 200 are needed. It is recorded, and flagged.",
        )
        await table.service.speak(id_, "prod", "Three.", fields("VOTE o1", "AGREE p1"))
        moved = fields("VOTE o2 FROM o1", "AGREE p2", "NEW: A late point.")
        (unnamed, left_out, _) = (await table.service.hear(id_, "arch", "Four.", moved)).remarks
        assert "named no argument" in unnamed
        assert left_out == "Not asked for now, and left out: new_points."
        await table.service.speak(id_, "back", "Five.", fields("VOTE o2", "DISAGREE p1"))
        await table.service.speak(id_, "prod", "Six.", fields("VOTE o1", "DISAGREE p2"))
        return await table.service.conclude(id_, "One database.")

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    question = standing_of(state).question
    assert question is not None
    assert question.counts == {"o1": 1, "o2": 2}
    assert question.gave_in == ("arch",)
    assert [p.text for p in record_of(state).points] == ["It is simple.", "It is slow."]


@pytest.mark.requirement("Z-22")
def test_words_from_outside_that_vote_otherwise_are_flagged_and_their_speaker_is_told() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table, max_rounds=2)
        said_ = await table.service.hear(id_, "arch", "Hm. I vote no.", fields("VOTE o1"))
        assert DIFFERS in said_.speech.flags
        assert f"It is recorded, and flagged {DIFFERS}: the declaration counts." in said_.remarks
        await table.service.speak(id_, "back", "Two.", fields("VOTE o2"))
        await table.service.speak(id_, "prod", "Three.", fields("VOTE o1"))
        await table.service.speak(id_, "arch", "Still.", fields("VOTE o1"))
        # Whatever it says it held before: the record knows better.
        revised = await table.service.hear(id_, "back", "Four.", fields("VOTE o1 FROM o1"))
        assert any("named no argument" in each for each in revised.remarks)

    run_in_virtual_time(main())


@pytest.mark.requirement("Z-22", "I-16")
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"position": "Wait."}, "The vote on d1 is missing."),
        (fields("VOTE o9"), "must be one of o1, o2"),
        ({**fields("VOTE o1"), "stances": [{"id": "p1", "stance": "ja"}]}, "The stance on p1"),
        ({**fields("VOTE o1"), "abstain": "I do not know"}, "abstains and yet takes part"),
        ({}, "The vote on d1 is missing."),
        ('```declaration\n{"position": \n```', "no JSON"),
    ],
)
def test_a_declaration_that_cannot_be_read_is_refused_and_nothing_is_recorded(
    wrong: dict[str, Any] | str, told: str
) -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        await table.service.speak(id_, "arch", "One.", fields("VOTE o1", "NEW: It is simple."))
        before = (await table.service.read(id_)).seq
        words = f"Two.\n\n{wrong}" if isinstance(wrong, str) else "Two."
        given = None if isinstance(wrong, str) else wrong
        with pytest.raises(NotAllowed, match=re.escape(told)) as refused:
            await table.service.speak(id_, "back", words, given)
        assert "call again" in refused.value.remedy
        assert (await table.service.read(id_)).seq == before
        # Mended, it is taken.
        await table.service.speak(id_, "back", "Two.", fields("VOTE o2"))

    run_in_virtual_time(main())


@pytest.mark.requirement("Z-22")
@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("I agree with everybody.", [UNDECLARED]),
        ("Fine.\n\n## Points\n- AGREE p1: yes\n- END: yes", [UNDECLARED, SAID_ONLY]),
        ("> ```declaration\n> {}\n> ```\nsays Ann, and I agree.", [UNDECLARED]),
    ],
)
def test_prose_is_accepted_from_outside_and_counts_for_nothing(text: str, flags: list[str]) -> None:
    table = meeting()

    async def main() -> State:
        id_ = await among_themselves(table, 2)
        await table.service.speak(id_, "arch", "One.", fields("VOTE o1", "NEW: It is simple."))
        said_ = await table.service.hear(id_, "back", text)
        assert said_.speech.text == text
        assert "nothing of it is counted" in said_.remarks[0]
        return await table.service.read(id_)

    state = run_in_virtual_time(main())
    assert [f for f in state.speeches[-1].flags if f in (UNDECLARED, SAID_ONLY)] == flags
    assert record_of(state).undeclared == ("back",)
    assert record_of(state).points[0].holders == ("arch",)
    assert state.end_votes == {"arch": False}


@pytest.mark.requirement("Z-22")
def test_a_block_in_the_words_is_read_as_well_and_taken_out_of_them() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        speech = await table.service.speak(id_, "arch", f"One.\n\n{block(fields('VOTE o1'))}")
        assert speech.text == "One."
        assert speech.declaration is not None
        words = f"Two.\n\n{block(fields('VOTE o1'))}"
        with pytest.raises(NotAllowed, match="two declarations"):
            await table.service.speak(id_, "back", words, fields("VOTE o2"))
        with pytest.raises(NotAllowed, match="never votes"):
            await table.service.speak(id_, "coordinator", "Order!", fields("VOTE o2"))

    run_in_virtual_time(main())


# Ending a round


@pytest.mark.requirement("D-17", "D-68", "X-38")
def test_a_round_ended_by_hand_records_who_is_absent_and_the_next_begins() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        await table.service.speak(id_, "arch", "First.")
        state = await table.service.advance(id_, by="the chair")
        assert state.advanced[1] == RoundAdvanced(round=1, absent=("back", "prod"), by="the chair")
        assert {(f.participant, f.cause) for f in state.failures} == {
            ("back", "absent"),
            ("prod", "absent"),
        }
        closed = state.stages["discussion", 1].closed
        assert closed is not None
        assert (closed.spoke, closed.missing) == (("arch",), ("back", "prod"))
        status = meeting_status(state)
        assert (status.round, status.next_speaker) == (2, "arch")
        assert (await table.service.speak(id_, "arch", "Second.")).round == 2

    run_in_virtual_time(main())


@pytest.mark.requirement("D-17", "D-68")
def test_ending_a_round_while_a_model_speaks_takes_the_turn_from_it() -> None:
    table = meeting({"1/discussion/back": None})

    async def main() -> State:
        id_ = await opened(table)
        run = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(5)
        await table.service.advance(id_, by="the chair")
        return await run

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    assert rounds(state) == [(1, "arch"), *((r, who) for r in (2, 3) for who in NAMES[:3])]


@pytest.mark.requirement("D-17")
def test_no_round_can_be_ended_while_the_host_speaks() -> None:
    table = meeting({"opening": None})

    async def main() -> None:
        id_ = await opened(table)
        run = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(3)
        with pytest.raises(NotAllowed, match="No round is open"):
            await table.service.advance(id_, by="the chair")
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)

    run_in_virtual_time(main())


@pytest.mark.requirement("D-17")
def test_every_round_ended_by_hand_before_anybody_spoke_is_a_meeting_without_a_result() -> None:
    table = meeting()

    async def main() -> State:
        id_ = await among_themselves(table)
        for _ in range(3):
            state = await table.service.advance(id_, by="the chair")
        return state

    state = run_in_virtual_time(main())
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("failed", "too_few_answers")


def test_a_council_is_not_led_by_hand() -> None:
    table = Table()

    async def main() -> None:
        id_ = (await table.service.open(OpenRequest(topic="Tea?"))).discussion_id
        for act in (
            table.service.advance(id_, by="me"),
            table.service.vote_to_end(id_, "scholar", True),
            table.service.conclude(id_, "Done."),
        ):
            with pytest.raises(NotAllowed, match="by hand"):
                await act
        assert (await table.service.read(id_)).seq == 2

    run_in_virtual_time(main())


# Votes


@pytest.mark.requirement("D-43")
def test_all_votes_end_the_meeting_and_one_less_does_not() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        await table.service.speak(id_, "arch", said("NEW: One database."))
        for who in NAMES[:2]:
            state = await table.service.vote_to_end(id_, who, True)
        assert state.status == "running"
        assert meeting_status(state).votes_to_end == NAMES[:2]
        state = await table.service.vote_to_end(id_, "arch", False)
        state = await table.service.vote_to_end(id_, "prod", True)
        assert state.status == "running"
        state = await table.service.vote_to_end(id_, "arch", True)
        assert awaits_conclusion(state)
        with pytest.raises(NotAllowed, match="not back's turn"):
            await table.service.speak(id_, "back", "One more thing.")
        state = await table.service.run(id_)
        assert state.status == "concluded"
        assert "wrap_up/votes" in codes(state)
        assert state.end_votes == dict.fromkeys(NAMES[:3], True)

    run_in_virtual_time(main())


@pytest.mark.requirement("D-43")
def test_the_host_never_votes_and_the_same_vote_is_recorded_once() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        with pytest.raises(NotAllowed, match="never votes"):
            await table.service.vote_to_end(id_, "coordinator", True)
        first = (await table.service.vote_to_end(id_, "arch", True)).seq
        assert (await table.service.vote_to_end(id_, "arch", True)).seq == first

    run_in_virtual_time(main())


@pytest.mark.requirement("D-43")
def test_a_vote_while_the_program_drives_ends_it_with_a_written_conclusion() -> None:
    table = meeting({"2/discussion/arch": None})

    async def main() -> State:
        id_ = await opened(table)
        run = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(8)
        for who in NAMES[:3]:
            await table.service.vote_to_end(id_, who, True)
        # Once it is decided, nothing opens it again.
        await table.service.vote_to_end(id_, "arch", False)
        return await run

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    assert state.verdict is not None
    assert state.verdict.method == "written"
    assert len(rounds(state)) == 3
    assert participants_turns(table)[-1] == "2/discussion/arch"


# The end


@pytest.mark.requirement("D-15", "D-77", "D-42")
def test_the_chair_concludes_in_mid_round_with_its_own_words() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        await table.service.speak(id_, "arch", said("NEW: One database."))
        state = await table.service.conclude(id_, "We take one database. Bob tests it.")
        assert state.status == "concluded"
        assert state.verdict is not None
        assert state.verdict.answer == "We take one database. Bob tests it."
        assert rounds(state) == [(1, "arch")]
        with pytest.raises(NotAllowed, match="closed"):
            await table.service.speak(id_, "back", "Wait!")

    run_in_virtual_time(main())


@pytest.mark.requirement("D-15", "D-42")
def test_a_meeting_can_be_stopped_at_any_time_and_keeps_what_was_said() -> None:
    table = meeting({"1/discussion/back": None})

    async def main() -> State:
        id_ = await opened(table)
        run = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(5)
        await table.service.stop(id_, by="the chair", reason="lunch")
        return await run

    state = run_in_virtual_time(main())
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason, state.closed.detail) == (
        "stopped",
        "stopped_by_user",
        "lunch",
    )
    assert rounds(state) == [(1, "arch")]
    assert state.verdict is not None
    assert (state.verdict.partial, state.verdict.method) == (True, "extractive")


@pytest.mark.requirement("D-95")
def test_concluding_twice_speaking_after_the_end_and_unknown_ids_are_clear_errors() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await among_themselves(table)
        await table.service.speak(id_, "arch", "Words.")
        await table.service.conclude(id_, "Done.")
        service = table.service
        for again in (
            service.conclude(id_, "Done again."),
            service.speak(id_, "back", "Wait!"),
            service.speak(id_, "coordinator", "Order!"),
            service.vote_to_end(id_, "back", True),
            service.advance(id_, by="me"),
            service.stop(id_, by="me"),
        ):
            with pytest.raises(NotAllowed, match="closed") as refused:
                await again
            assert refused.value.remedy
        for unknown in (
            service.conclude("rt_00000000", "Done."),
            service.stop("rt_00000000", by="me"),
            service.advance("rt_00000000", by="me"),
            service.vote_to_end("rt_00000000", "arch", True),
        ):
            with pytest.raises(UnknownDiscussion):
                await unknown
        with pytest.raises(NotAllowed, match="empty"):
            await service.conclude(id_, "  ")

    run_in_virtual_time(main())


@pytest.mark.requirement("D-06")
def test_ids_are_rt_and_eight_hex_characters() -> None:
    ids = SystemIds()
    assert all(re.fullmatch(r"rt_[0-9a-f]{8}", ids.discussion()) for _ in range(10_000))


# Mixed


@pytest.mark.requirement("X-48", "D-89")
def test_start_by_run_add_a_speech_from_outside_and_finish_by_run() -> None:
    table = meeting({"1/discussion/back": None})

    async def main() -> State:
        id_ = await opened(table, options={"participants": seats(3), "max_rounds": 2})
        run = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(5)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        speech = await table.service.speak(id_, "back", said("DISAGREE p1: by hand"))
        assert (speech.round, speech.model) == (1, "outside")
        return await table.service.run(id_)

    state = run_in_virtual_time(main())
    assert state.status == "concluded"
    assert rounds(state) == [(r, who) for r in (1, 2) for who in NAMES[:3]]
    point = record_of(state).point("p1")
    assert point is not None
    assert point.opponents == ("back",)
    assert participants_turns(table).count("1/discussion/back") == 1


@pytest.mark.requirement("X-48", "D-89")
def test_a_speech_from_outside_takes_the_turn_from_a_model_that_is_speaking() -> None:
    table = meeting({"1/discussion/back": 60.0})

    async def main() -> State:
        id_ = await opened(table, options={"participants": seats(3), "max_rounds": 1})
        run = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(5)
        await table.service.speak(id_, "back", "I speak myself.", key="k1")
        again = await table.service.speak(id_, "back", "I speak myself.", key="k1")
        assert again.text == "I speak myself."
        return await run

    state = run_in_virtual_time(main())
    assert [s.text for s in state.speeches if s.participant == "back"] == ["I speak myself."]


@pytest.mark.requirement("X-48")
def test_an_outside_seat_is_waited_for_and_nobody_is_called_for_it() -> None:
    table = meeting()

    async def main() -> State:
        seated = [
            {**seat, "model": "outside"} if n == 1 else seat for n, seat in enumerate(seats(3))
        ]
        id_ = await opened(table, options={"participants": seated, "max_rounds": 2})
        run = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(100)
        speech = await table.service.speak(id_, "back", said("DISAGREE p1: not so"))
        assert speech.round == 1
        return await run

    state = run_in_virtual_time(main())
    assert not any(turn.endswith("/back") for turn in asked(table))
    assert rounds(state) == [(1, "arch"), (1, "back"), (1, "prod"), (2, "arch"), (2, "prod")]
    (absent,) = state.failures
    assert (absent.turn_id, absent.cause) == ("2/discussion/back", "absent")
    assert "180 s" in absent.message
    assert state.usage.calls == len(table.requests) == 7
    assert not state.turns["1/discussion/back"].attempts
    assert "outside" in codes(state)


@pytest.mark.requirement("X-48", "X-13")
def test_a_table_of_nobody_but_absentees_fails_when_its_time_is_over() -> None:
    table = meeting()

    async def main() -> State:
        id_ = await among_themselves(table, turn_seconds=5)
        return await table.service.run(id_)

    state = run_in_virtual_time(main())
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("failed", "too_few_answers")


@pytest.mark.requirement("D-30")
def test_a_remark_made_while_the_program_drives_reaches_the_next_prompt() -> None:
    table = meeting({"1/discussion/arch": 5.0})

    async def main() -> None:
        id_ = await opened(table, options={"participants": seats(3), "max_rounds": 1})
        run = asyncio.create_task(table.service.run(id_))
        await asyncio.sleep(4)
        await table.service.speak(id_, "coordinator", "Mind the clock!")
        state = await run
        (remark,) = [s for s in state.speeches if s.stage == "remark"]
        assert (remark.round, remark.after_round) == (0, 1)

    run_in_virtual_time(main())
    heard = [r.idempotency_key for r in table.requests if "Mind the clock!" in r.user]
    assert any("1/discussion/back" in key for key in heard)


@pytest.mark.requirement("D-33")
def test_the_file_exists_at_the_moment_the_state_flips() -> None:
    folder = Folder()
    table = meeting(delivery=folder)
    closed_with: list[int] = []

    async def main() -> State:
        id_ = await opened(table)

        def listen(record: StoredEvent, _: State) -> None:
            if isinstance(record.event, DiscussionClosed):
                closed_with.append(len(folder.files))

        return await table.service.run(id_, on_event=listen)

    state = run_in_virtual_time(main())
    assert closed_with == [1]
    (note,) = [n for n in state.notes if n.code == "delivered"]
    assert isinstance(note, NoteAdded)
    assert note.text == f"Written: {next(iter(folder.files))}"
    assert state.verdict is not None
    assert state.verdict.answer in next(iter(folder.files.values()))


# Any order of acts


ACTS = (*["speak"] * 6, *["next"] * 12, *["advance"] * 4, *["vote"] * 5, "remark", "conclude")


class Model:
    """What a meeting must do, in a few lines."""

    def __init__(self, count: int, rounds_: int) -> None:
        self.names = NAMES[:count]
        self.max = rounds_
        self.round = 1
        self.place = 0
        self.spoken: list[tuple[int, str]] = []
        self.votes: dict[str, bool] = {}
        self.closed = False

    @property
    def over(self) -> bool:
        """Nobody may speak any more; the coordinator is waited for."""
        voted = all(self.votes.get(each) for each in self.names)
        return self.closed or self.round > self.max or voted

    def went_on(self) -> bool:
        self.closed = self.closed or (self.over and not self.spoken)
        return True

    def next_round(self) -> None:
        self.round, self.place = self.round + 1, 0

    def speak(self, who: str) -> bool:
        if self.over or self.names[self.place] != who:
            return False
        self.spoken.append((self.round, who))
        self.place += 1
        if self.place == len(self.names):
            self.next_round()
        return True

    def advance(self) -> bool:
        if self.over:
            return False
        self.next_round()
        return self.went_on()

    def vote(self, who: str, in_favour: bool) -> bool:
        if self.closed:
            return False
        self.votes[who] = in_favour
        return self.went_on()


async def play(dice: random.Random) -> None:
    table = meeting()
    count, limit = dice.randint(2, 4), dice.randint(1, 3)
    id_ = await among_themselves(table, count, max_rounds=limit)
    model = Model(count, limit)
    for _ in range(dice.randint(1, 14)):
        act = dice.choice(ACTS)
        who = model.names[model.place] if act == "next" and not model.over else dice.choice(NAMES)
        known = who in model.names
        try:
            allowed = await _perform(table, id_, act, who, dice)
        except (NotAllowed, UnknownName):
            allowed = None
        match act:
            case "speak" | "next":
                expected = model.speak(who) if known else False
            case "advance":
                expected = model.advance()
            case "vote":
                assert allowed is None or isinstance(allowed, bool)
                expected = model.vote(who, bool(allowed)) if known else False
                if expected:
                    assert allowed is not None
            case "conclude":
                expected, model.closed = not model.closed, True
            case _:
                expected = not model.closed
        assert (allowed is not None) is expected, (act, who)
        _compare(await table.service.read(id_), model)


async def _perform(
    table: Table, id_: str, act: str, who: str, dice: random.Random
) -> bool | SpeechGiven | State:
    match act:
        case "speak" | "next":
            return await table.service.speak(id_, who, f"Words of {who}.")
        case "advance":
            return await table.service.advance(id_, by="dice")
        case "vote":
            in_favour = dice.random() < 0.8
            await table.service.vote_to_end(id_, who, in_favour)
            return in_favour
        case "conclude":
            return await table.service.conclude(id_, "Enough.")
        case _:
            return await table.service.speak(id_, "coordinator", "A remark.")


def _compare(state: State, model: Model) -> None:
    assert rounds(state) == model.spoken
    assert (state.closed is not None) is model.closed
    assert awaits_conclusion(state) is (model.over and not model.closed)
    status = meeting_status(state)
    if not model.over and state.stages:
        assert (status.round, status.next_speaker) == (model.round, model.names[model.place])
    absent = {(f.round, f.participant) for f in state.failures}
    assert not absent & set(model.spoken)
    closed = [r for (name, r), s in state.stages.items() if s.closed and name == "discussion"]
    for round_ in closed:
        stage = state.stages["discussion", round_].closed
        assert stage is not None
        assert {*stage.spoke, *stage.missing} == set(model.names)


@pytest.mark.requirement("D-68", "D-17", "D-37", "D-66")
@pytest.mark.parametrize("hundred", range(4))
def test_rounds_stay_right_in_hundreds_of_random_meetings(hundred: int) -> None:
    async def main() -> None:
        for seed in range(100):
            await play(random.Random(hundred * 100 + seed))

    run_in_virtual_time(main())
