"""Leading a discussion through the tools."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import BadSetting, NotAllowed, UnknownDiscussion, UnknownName
from roundtable.engine.moderation import LONGEST_SPEECH
from roundtable.speakers.scripted import Line, ScriptedSpeaker
from roundtable.surfaces.toolset.results import Advanced
from roundtable.surfaces.web.links import load_links

from .tables import NAMES, SEATS, TOLD, TOPIC, declares, started, stored, tools


@pytest.mark.requirement("D-02", "D-05", "D-06")
async def test_a_discussion_starts_with_all_arguments_and_with_only_the_required_ones(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        least = await toolset.create_discussion(topic=TOPIC, participants=SEATS)
        assert re.fullmatch(r"rt_[0-9a-f]{8}", least.discussion_id)
        assert (least.state, least.round, least.max_rounds) == ("running", 0, 3)
        assert (least.next_speaker, least.web_url, least.notifications) == ("arch", None, "off")
        assert "Nobody is told" in least.hint
        most = await toolset.create_discussion(
            topic=TOPIC,
            context="The shop has two of them.",
            participants=SEATS[:2],
            created_by="the lead",
            max_rounds=1,
            speech_order="parallel",
            notifications=TOLD,
            output_path="decisions/database.md",
            web=False,
            web_port=8300,
            host=None,
            turn_seconds=30,
            key="once",
        )
        assert (most.created_by, most.max_rounds, most.speech_order) == ("the lead", 1, "parallel")
        assert most.notifications == "on"
        state = await stored(toolset, most.discussion_id)
        assert [each.text for each in state.start.context] == ["The shop has two of them."]
        await toolset.speak(most.discussion_id, "back", "B.")
        last = await toolset.speak(most.discussion_id, "arch", "A.")
        assert last.state == "awaiting_conclusion"
        ended = await toolset.end_discussion(most.discussion_id, conclusion="One.")
        assert ended.state == "concluded"
        assert (tmp_path / "work" / "decisions" / "database.md").is_file()


@pytest.mark.requirement("D-03", "D-07", "D-08")
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"participants": SEATS[:1]}, "2 to 12"),
        ({"participants": [{"role": "Architect"}, *SEATS[:1]]}, "participant 1: profile"),
        ({"participants": [{"profile": "a"}, *SEATS[:1]]}, "participant 1: role"),
        ({"participants": [{**SEATS[0], "hat": "red"}, *SEATS[1:]]}, "hat"),
        ({"participants": "everybody"}, "participants"),
        ({"speech_order": "loudest"}, "speech_order"),
        ({"max_rounds": 0}, "rounds"),
        ({"output_path": "../elsewhere.md"}, "output_path"),
        ({"topic": " "}, "empty"),
    ],
)
async def test_a_discussion_that_cannot_be_held_is_refused_and_nothing_is_stored(
    tmp_path: Path, wrong: dict[str, Any], told: str
) -> None:
    async with tools(tmp_path) as toolset:
        with pytest.raises(Exception, match=told) as refused:
            await toolset.call("init", {"topic": TOPIC, "participants": SEATS, **wrong})
        assert getattr(refused.value, "remedy", "")
        assert (await toolset.list_discussions()).total == 0


@pytest.mark.requirement("D-03")
async def test_a_display_name_defaults_to_the_profile(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        opened = await toolset.create_discussion(topic=TOPIC, participants=SEATS)
        assert [each.display_name for each in opened.participants] == ["Ann", "Bob", "prod"]


@pytest.mark.requirement("D-09", "D-37", "D-66", "D-67", "D-13")
async def test_three_rounds_of_three_count_the_same_in_every_answer(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        opening = await toolset.speak(id_, "coordinator", "Welcome.")
        assert (opening.round, opening.round_complete, opening.next_speaker) == (0, False, "arch")
        for round_ in (1, 2, 3):
            for place, who in enumerate(NAMES):
                spoken = await toolset.speak(id_, who, f"{who} in {round_}")
                last = place == 2
                assert (spoken.round, spoken.round_complete) == (round_, last)
                over = round_ == 3 and last
                assert spoken.next_speaker == (None if over else NAMES[(place + 1) % 3])
                status = await toolset.status(id_)
                assert status.round == (round_ + 1 if last and not over else round_)
                assert status.next_speaker == spoken.next_speaker
                assert status.speeches == spoken.number
        rounds = [0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
        assert [each.round for each in (await toolset.read(id_)).speeches] == rounds[::-1]
        summary = await toolset.summarize(id_)
        assert [each.round for each in summary.speeches] == rounds
        assert (summary.state, summary.rounds) == ("awaiting_conclusion", 3)


@pytest.mark.requirement("D-10", "D-11", "I-16", "D-95")
async def test_whoever_may_not_speak_is_refused_and_nothing_is_recorded(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", "First.")
        before = (await stored(toolset, id_)).seq
        for who, error in (("Back", UnknownName), ("nobody", UnknownName), ("prod", NotAllowed)):
            with pytest.raises(error) as refused:
                await toolset.speak(id_, who, "Me!")
            assert refused.value.remedy
        assert "Now it is the turn of back." in refused.value.remedy
        with pytest.raises(NotAllowed, match="at most 200,000 fit"):
            await toolset.speak(id_, "back", "x" * (LONGEST_SPEECH + 1))
        with pytest.raises(NotAllowed, match="empty"):
            await toolset.speak(id_, "back", " \n")
        with pytest.raises(UnknownDiscussion, match="rt_00000000"):
            await toolset.speak("rt_00000000", "back", "Hello?")
        assert (await stored(toolset, id_)).seq == before


@pytest.mark.requirement("D-15", "D-95", "D-42")
async def test_a_discussion_ends_with_a_conclusion_or_is_cancelled_and_then_stays_so(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        one, other = await started(toolset), await started(toolset)
        await toolset.speak(one, "arch", **declares("NEW: one database is enough"))
        with pytest.raises(NotAllowed, match="either a conclusion or cancel"):
            await toolset.end_discussion(one)
        concluded = await toolset.end_discussion(one, conclusion="One database.")
        assert (concluded.state, concluded.conclusion) == ("concluded", "One database.")
        assert concluded.document is not None
        assert (tmp_path / "work" / concluded.document).is_file()
        cancelled = await toolset.end_discussion(other, cancel=True, reason="no time")
        assert (cancelled.state, cancelled.stop_reason) == ("stopped", "stopped_by_user")
        for id_ in (one, other):
            with pytest.raises(NotAllowed, match="closed"):
                await toolset.speak(id_, "arch", "One more thing.")
            with pytest.raises(NotAllowed, match="closed"):
                await toolset.end_discussion(id_, conclusion="Again.")
            with pytest.raises(NotAllowed, match="closed"):
                await toolset.end_discussion(id_, cancel=True)
        with pytest.raises(UnknownDiscussion):
            await toolset.end_discussion("rt_00000000", conclusion="What?")


async def test_a_round_that_was_only_opened_is_not_counted(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, 2)
        await toolset.speak(id_, "coordinator", "Welcome.")
        for who in ("arch", "back"):
            await toolset.speak(id_, who, f"{who} agrees.")
        assert (await toolset.status(id_)).round == 2
        assert (await toolset.summarize(id_)).rounds == 1
        ended = await toolset.end_discussion(id_, conclusion="One database.")
        assert ended.rounds == 1
        assert ended.document is not None
        document = (tmp_path / "work" / ended.document).read_text("utf-8")
        assert "**Rounds**: 1 of 3" in document
        assert "### Round 1" in document
        assert "Round 2" not in document
        assert "absent" not in document
        history = (await toolset.read(id_, formatted=True)).formatted_history
        assert "[1] Round 0 | Host (Coordinator): Welcome." in history


@pytest.mark.requirement("D-17", "D-68")
async def test_advancing_ends_the_round_and_names_who_is_absent(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", "First.")
        advanced = await toolset.advance(id_)
        assert (advanced.ended_round, advanced.round) == (1, 2)
        assert (advanced.absent, advanced.next_speaker) == (["back", "prod"], "arch")
        summary = await toolset.summarize(id_)
        assert summary.by_round[0].absent == ["back", "prod"]


@pytest.mark.requirement("D-43")
async def test_all_votes_end_it_and_all_but_one_do_not(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", "First.")
        for number, who in enumerate(NAMES, 1):
            voted = await toolset.vote(id_, who)
            assert voted.votes_to_end == list(NAMES[:number])
            assert voted.needed == 3
            assert voted.state == ("awaiting_conclusion" if number == 3 else "running")


@pytest.mark.requirement("I-17")
async def test_the_same_key_does_everything_once(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:

        async def twice(name: str, **arguments: Any) -> Any:
            first = await toolset.call(name, {**arguments, "key": f"k-{name}"})
            again = await toolset.call(name, {**arguments, "key": f"k-{name}"})
            assert again.model_dump(exclude={"hint"}) == first.model_dump(exclude={"hint"})
            return first

        opened = await twice("init", topic=TOPIC, participants=SEATS)
        id_ = opened.discussion_id
        assert (await toolset.list_discussions()).total == 1
        await twice("speak", discussion_id=id_, participant="arch", content="First.")
        advanced = await twice("advance", discussion_id=id_)
        assert advanced.round == 2
        await twice("vote", discussion_id=id_, participant="arch", in_favour=True)
        await twice("join", discussion_id=id_, profile="late", role="Auditor")
        await twice("end", discussion_id=id_, conclusion="Enough.")
        assert (await twice("init", topic=TOPIC, participants=SEATS)).state == "concluded"
        state = await stored(toolset, id_)
        assert len(state.speeches) == 2
        assert len(state.advanced) == 1
        other = await toolset.create_discussion(topic=TOPIC, participants=SEATS)
        await toolset.end_discussion(other.discussion_id, cancel=True, key="c")
        again = await toolset.end_discussion(other.discussion_id, cancel=True, key="c")
        assert again.state == "stopped"


@pytest.mark.requirement("I-17")
async def test_a_vote_that_is_repeated_late_does_not_undo_a_later_one(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.vote(id_, "arch", True, key="a")
        await toolset.vote(id_, "arch", False, key="b")
        late = await toolset.vote(id_, "arch", True, key="a")
        assert late.votes_to_end == []


@pytest.mark.requirement("I-16")
async def test_of_two_speeches_at_the_same_instant_one_is_kept(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        outcomes = await asyncio.gather(
            *(toolset.speak(id_, "arch", f"Version {n}.") for n in range(5)),
            return_exceptions=True,
        )
        kept = [each for each in outcomes if not isinstance(each, BaseException)]
        refused = [each for each in outcomes if isinstance(each, NotAllowed)]
        assert (len(kept), len(refused)) == (1, 4)
        assert len((await stored(toolset, id_)).speeches) == 1


@pytest.mark.requirement("I-16")
async def test_two_coordinators_at_once_end_a_round_each_or_are_refused(tmp_path: Path) -> None:
    async with tools(tmp_path) as one, tools(tmp_path) as two:
        id_ = await started(one, max_rounds=5)
        await one.speak(id_, "arch", "First.")
        both = await asyncio.gather(one.advance(id_), two.advance(id_), return_exceptions=True)
        done = [each for each in both if isinstance(each, Advanced)]
        assert all(isinstance(each, Advanced | NotAllowed) for each in both)
        state = await stored(one, id_)
        assert sorted(state.advanced) == list(range(1, len(done) + 1))
        assert (await two.speak(id_, "arch", "Again.")).round == len(done) + 1


async def test_somebody_joins_and_is_the_last_to_speak_in_the_round(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, 2)
        await toolset.speak(id_, "arch", "First.")
        joined = await toolset.join(id_, "late", "Auditor", perspective="risk")
        assert joined.seat.profile == "late"
        assert joined.next_speaker == "back"
        second = await toolset.speak(id_, "back", "Second.")
        assert (second.round_complete, second.next_speaker) == (False, "late")
        third = await toolset.speak(id_, "late", "Third.")
        assert (third.round, third.round_complete, third.next_speaker) == (1, True, "arch")
        for wrong in ({"profile": "arch", "role": "X"}, {"profile": "coordinator", "role": "X"}):
            with pytest.raises((NotAllowed, BadSetting)):
                await toolset.join(id_, **wrong)


async def test_a_round_can_be_ended_before_whoever_joined_it_has_spoken(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, 2)
        await toolset.speak(id_, "arch", "First.")
        await toolset.speak(id_, "coordinator", "Welcome, auditor.")
        await toolset.join(id_, "late", "Auditor")
        advanced = await toolset.advance(id_)
        assert (advanced.absent, advanced.round) == (["back", "late"], 2)
        assert advanced.next_speaker == "arch"


async def test_an_invitation_says_how_a_seat_is_taken(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        invited = await toolset.invite(id_, "back")
        program, _, token = invited.command.rpartition(" ")
        assert program == "roundtable mcp --token"
        held = load_links(tmp_path / "home").read(token, now=datetime.now(UTC))
        assert held is not None
        assert (held.only, held.seat, sorted(held.acts)) == (id_, "back", ["speak"])
        assert id_ in invited.instructions
        assert "operations" in invited.instructions
        with pytest.raises(UnknownName, match="Back"):
            await toolset.invite(id_, "Back")


@pytest.mark.requirement("X-48", "D-89")
async def test_a_seat_with_a_model_speaks_by_itself_beside_those_from_outside(
    tmp_path: Path,
) -> None:
    voice = ScriptedSpeaker(lambda _: "The program speaks.")
    async with tools(tmp_path, speakers={"voice": voice}) as toolset:
        opened = await toolset.create_discussion(
            topic=TOPIC,
            participants=[SEATS[0], {**SEATS[1], "model": "scripted/voice"}],
            max_rounds=1,
        )
        id_ = opened.discussion_id
        assert opened.next_speaker == "arch"
        await toolset.speak(id_, "arch", "From outside.")
        heard = await toolset.read(id_, "coordinator", wait=50)
        assert heard.state == "awaiting_conclusion"
        await toolset.end_discussion(id_, conclusion="Both spoke.")
        assert (await toolset.collect(id_, wait=50)).done
        state = await stored(toolset, id_)
        assert [(s.participant, s.text) for s in state.speeches] == [
            ("arch", "From outside."),
            ("back", "The program speaks."),
            ("coordinator", "Both spoke."),
        ]


@pytest.mark.requirement("D-89")
async def test_an_agent_that_speaks_and_also_calls_the_tool_is_recorded_once(
    tmp_path: Path,
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    class Agent:
        async def speak(self, request: Any, on_words: Any) -> Any:
            begun.set()
            await go_on.wait()
            return await ScriptedSpeaker(lambda _: Line("By answer.")).speak(request, on_words)

        async def close(self) -> None: ...

    async with tools(tmp_path, speakers={"agent": Agent()}) as toolset:
        opened = await toolset.create_discussion(
            topic=TOPIC,
            participants=[{**SEATS[0], "model": "scripted/agent"}, SEATS[1]],
            max_rounds=1,
        )
        id_ = opened.discussion_id
        await asyncio.wait_for(begun.wait(), 30)
        by_tool = await toolset.speak(id_, "arch", "By tool.")
        assert by_tool.next_speaker == "back"
        go_on.set()
        await toolset.speak(id_, "back", "Me too.")
        assert (await toolset.read(id_, "coordinator", wait=50)).state == "awaiting_conclusion"
        texts = [speech.text for speech in (await stored(toolset, id_)).speeches]
        assert texts == ["By tool.", "Me too."]
