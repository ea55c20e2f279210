"""Works in five rounds, in a user's own procedure and in a meeting: written, examined, revised,
judged, and handed over byte for byte."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from roundtable.core.deliverable import CUT, block
from roundtable.core.events import StoredEvent
from roundtable.core.state import State
from roundtable.core.versions import delivered, versions_of
from roundtable.ports import SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.files import write_outputs
from roundtable.surfaces.toolset.history import rows
from tests.rehearsal import run_in_virtual_time

from . import custom_table, five_round_table, meeting_table
from .custom_table import defined, own_table
from .five_round_table import asked_as, declaration, five_rounds, proposal, revision

TOPIC = "Write the parser for our log files. Which format does it read?"
PARSER = "".join(f"line_{n} = {n}  # ~~~ ``` ## {n}\n" for n in range(300))
SHORTER = "def parse(): ...\n"


def file_of(state: State, folder: Path, name: str = "parser.py") -> bytes:
    (path,) = [each for each in write_outputs(state, folder) if each.name == name]
    return path.read_bytes()


# Five rounds


def proposing(request: SpeakRequest) -> str:
    words = proposal(asked_as(request))
    return f"{words}\n\n{block('parser.py', PARSER)}\n\n{declaration(request)}"


def revising(request: SpeakRequest) -> str:
    words = revision(request)
    return f"{words}\n\n{block('parser.py', SHORTER, ['w1'])}\n\n{declaration(request)}"


@pytest.mark.requirement("Z-31")
def test_five_rounds_hand_a_work_on_whole_and_leave_it_as_a_file(tmp_path: Path) -> None:
    table = five_rounds({"1/proposal/product-expert": proposing})
    state = five_round_table.hold(table, TOPIC)
    assert file_of(state, tmp_path) == PARSER.encode()
    for turn in ("2/cross-reference", "3/critique", "4/revision"):
        user = five_round_table.prompt_of(table, f"{turn}/engineering-expert").user
        assert PARSER in user
        assert "from Product Expert, turn 1/proposal/product-expert: w1, parser.py" in user
        assert ("deliverable NAME.EXT" in user) is (turn == "4/revision")
    host = five_round_table.prompt_of(table, "0/arbitration/host").user
    assert "DELIVERABLES, as they stand:" in host
    assert PARSER in host
    # What is counted of a speech is its words.
    assert [s.flags for s in state.speeches if s.round == 1] == [()] * 3


@pytest.mark.requirement("Z-31")
def test_an_expert_revises_anothers_work_in_r4(tmp_path: Path) -> None:
    turns: dict[str, five_round_table.Act] = {
        "1/proposal/product-expert": proposing,
        "4/revision/engineering-expert": revising,
    }
    state = five_round_table.hold(five_rounds(turns), TOPIC)
    assert [(v.id, v.number, v.replaces) for v in versions_of(state)] == [
        ("w1", 1, ()),
        ("w2", 2, ("w1",)),
    ]
    assert file_of(state, tmp_path) == SHORTER.encode()


@pytest.mark.requirement("Z-31")
def test_the_clerk_and_the_ballots_see_which_works_stand_in_short() -> None:
    def owning(request: SpeakRequest) -> str:
        words = revision(request)
        return f"{words}\n\n{declaration(request, choice='own', position='Read CSV alone.')}"

    turns: dict[str, five_round_table.Act] = {
        "1/proposal/product-expert": proposing,
        "4/revision/engineering-expert": owning,
    }
    table = five_rounds(turns)
    five_round_table.hold(table, TOPIC)
    told = "Delivers w1, parser.py, 300 lines:\n  line_0 = 0"
    clerk = five_round_table.prompt_of(table, "0/clerk/host").user
    assert told in clerk
    assert "line_200" not in clerk
    own = five_round_table.prompt_of(table, "4/ballot/product-expert").user
    other = five_round_table.prompt_of(table, "4/ballot/architecture-expert").user
    assert told in own.split("Your own last words:")[1].split("What the others hold:")[0]
    assert told in other.split("What the others hold:")[1]
    assert "line_200" not in own + other


# A user's own procedure

FIRST = {"name": "draft", "sees": "none"}
SECOND = {"name": "review", "sees": "all", "anonymous": False}


def delivering(text: str, *revises: str) -> custom_table.Act:
    return custom_table.saying(f"Words.\n\n{block('parser.py', text, revises)}")


@pytest.mark.requirement("Z-31")
def test_a_users_own_procedure_carries_works_to_its_verdict(tmp_path: Path) -> None:
    definition = defined(FIRST, SECOND, verdict={"by": "host"})
    turns = {"1/draft/anna": delivering(PARSER), "2/review/ben": delivering(SHORTER, "w1")}
    table = own_table(definition, turns)
    state = custom_table.hold(table, topic=TOPIC)
    seen = custom_table.prompt_of(table, "2/review/cleo").user
    assert PARSER in seen
    assert "from Anna, turn 1/draft/anna: w1, parser.py" in seen
    host = custom_table.prompt_of(table, "0/verdict/host").user
    assert "DELIVERABLES, as they stand:" in host
    assert SHORTER in host
    assert "`stands`" not in host  # it declares nothing
    assert file_of(state, tmp_path) == SHORTER.encode()


def test_a_stage_that_hears_nobody_is_shown_nobodys_work() -> None:
    definition = defined(FIRST, {"name": "again", "sees": "own"})
    table = own_table(definition, {"1/draft/anna": delivering(PARSER)})
    custom_table.hold(table, topic=TOPIC)
    assert PARSER in custom_table.prompt_of(table, "2/again/anna").user
    assert "line_1 " not in custom_table.prompt_of(table, "2/again/ben").user


def test_a_stage_without_names_shows_works_without_names() -> None:
    definition = defined(FIRST, {**SECOND, "anonymous": True})
    table = own_table(definition, {"1/draft/anna": delivering(PARSER)})
    custom_table.hold(table, topic=TOPIC)
    seen = custom_table.prompt_of(table, "2/review/cleo").user
    assert PARSER in seen
    assert "Anna" not in seen


# A meeting


def bringing(text: str, *revises: str) -> meeting_table.Act:
    words, mark, declared = meeting_table.said("NEW: it is short").partition("```declaration")
    return f"{words}{block('parser.py', text, revises)}\n\n{mark}{declared}"


@pytest.mark.requirement("Z-31")
def test_in_a_meeting_a_work_is_revised_by_whoever_speaks_next(tmp_path: Path) -> None:
    turns = {"1/discussion/arch": bringing(PARSER), "1/discussion/back": bringing(SHORTER, "w1")}
    table = meeting_table.meeting(turns)
    state = meeting_table.hold(table, topic=TOPIC, options={"max_rounds": 2})
    assert PARSER in meeting_table.prompt_of(table, "1/discussion/back").user
    assert SHORTER in meeting_table.prompt_of(table, "1/discussion/prod").user
    assert [(v.participant, v.replaces) for v in versions_of(state)] == [
        ("arch", ()),
        ("back", ("w1",)),
    ]
    host = meeting_table.prompt_of(table, "0/conclusion/coordinator").user
    assert "DELIVERABLES, as they stand:" in host
    assert SHORTER in host
    assert file_of(state, tmp_path) == SHORTER.encode()


@pytest.mark.requirement("Z-31")
def test_those_who_speak_side_by_side_make_rival_works() -> None:
    turns = {"1/discussion/arch": bringing(PARSER), "1/discussion/back": bringing(SHORTER, "w1")}
    table = meeting_table.meeting(turns)
    options = {"max_rounds": 1, "speech_order": "parallel"}
    state = meeting_table.hold(table, topic=TOPIC, options=options)
    assert [v.id for v in delivered(state).versions] == ["w1", "w2"]


@pytest.mark.requirement("Z-31")
def test_an_agent_from_outside_brings_a_work_and_whoever_concludes_sees_it(tmp_path: Path) -> None:
    places = [{**meeting_table.seats(1)[0], "model": "outside"}, *meeting_table.seats(3)[1:]]
    table = meeting_table.meeting()
    options = {"participants": places, "max_rounds": 1}
    # The question does not ask for one: a block that says so is a work all the same.
    words = f"{meeting_table.words()}\n\n{block('parser.py', PARSER)}"

    async def main() -> State:
        request = OpenRequest(topic="Tea?", procedure="meeting", options=options)
        id_ = (await table.service.open(request)).discussion_id
        begun = asyncio.Event()

        def listen(_: StoredEvent, now: State) -> None:
            if ("discussion", 1) in now.stages:
                begun.set()

        driven = asyncio.create_task(table.service.run(id_, on_event=listen))
        await begun.wait()
        speech = await table.service.speak(id_, "arch", words, {"position": "Take tea."})
        assert "line_1 " not in speech.text
        return await driven

    state = run_in_virtual_time(main())
    assert PARSER in meeting_table.prompt_of(table, "0/conclusion/coordinator").user
    assert file_of(state, tmp_path) == PARSER.encode()
    (row,) = [row for row in rows(state) if row.participant == "arch"]
    assert f"w1:\n{block('parser.py', PARSER)}" in row.text


@pytest.mark.requirement("Z-31")
def test_where_nobody_is_called_works_are_revised_within_a_round_and_kept(tmp_path: Path) -> None:
    table = meeting_table.meeting()

    async def main() -> State:
        id_ = await meeting_table.among_themselves(table, max_rounds=1)
        said = (
            block("parser.py", PARSER),
            block("parser.py", SHORTER, ["w1"]),
            block("notes.md", "Not ended.\n").rstrip("~"),
        )
        for who, work in zip(meeting_table.NAMES, said, strict=False):
            await table.service.speak(id_, who, f"Here it is.\n\n{work}")
        return await table.service.conclude(id_, "Take the parser.")

    state = run_in_virtual_time(main())
    assert [v.id for v in delivered(state).versions] == ["w2", "w3"]
    assert file_of(state, tmp_path) == SHORTER.encode()
    assert CUT in state.spoken_in("discussion", 1)[2].flags
