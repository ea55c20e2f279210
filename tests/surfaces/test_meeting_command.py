"""Meetings from the command line and from Python: held, led by hand, and left in the workspace."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from roundtable import Roundtable
from tests.procedures.meeting_table import seats

from .desk import Desk

MODEL = ("--model", "scripted/stubborn")
MEETING = ("--procedure", "meeting", *MODEL)


def opened(desk: Desk) -> str:
    """A meeting for which nobody is called, in the ledger of the desk."""

    async def main() -> str:
        async with Roundtable(home=desk.home) as table:
            participants = seats(2, model="outside")
            state = await table.open(
                "One database?", procedure="meeting", participants=participants, host="outside"
            )
            return state.discussion_id

    return asyncio.run(main())


@pytest.mark.requirement("D-17")
def test_whom_a_meeting_waits_for_is_said_with_how_they_speak(desk: Desk) -> None:
    id_ = opened(desk)
    with desk.start("resume", id_) as running:
        running.wait_until_it_says(f"Waiting for Ann to speak: roundtable speak {id_} TEXT")
        assert desk("speak", id_, "One.", "--as", "arch").code == 0
        running.wait_until_it_says("Waiting for Bob to speak")
        running.process.send_signal(signal.SIGINT)
        assert running.end().code == 130


@pytest.mark.requirement("D-36", "D-45", "D-46", "D-33", "D-25")
def test_a_meeting_is_held_by_a_roster_and_leaves_its_document_where_it_was_asked_to(
    desk: Desk,
) -> None:
    outcome = desk(
        "One database?", *MEETING, "--roster", "tech-design-review", "--max-rounds", "2",
        "--format", "decision", "--output", "docs/deep/x.md", "--plain",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "\n\n  4 of 4" in outcome.out
    text = (desk.workspace / "docs/deep/x.md").read_text("utf-8")
    assert text.startswith("# Roundtable Conclusion: One database?\n")
    assert "## MVP Scope" in text
    assert "Software Architect(Software Architect)" in text
    assert "Written: docs/deep/x.md" in outcome.err
    assert "words; next: turn 2 of 8" in outcome.err
    assert list((desk.workspace / "docs" / "deep").iterdir()) == [desk.workspace / "docs/deep/x.md"]


@pytest.mark.requirement("D-46")
def test_without_a_path_the_document_goes_to_docs_and_with_no_log_nowhere(desk: Desk) -> None:
    desk("One database?", *MEETING, "--quick", "--summaries", "off")
    (written,) = (desk.workspace / "docs").iterdir()
    assert written.name.endswith("-one-database.md")
    outcome = desk("Two databases?", *MEETING, "--quick", "--no-log")
    assert outcome.code == 0
    assert len(list((desk.workspace / "docs").iterdir())) == 1


@pytest.mark.requirement("D-17", "D-43", "D-09", "D-15")
def test_a_meeting_is_led_by_hand_from_the_command_line(desk: Desk) -> None:
    id_ = opened(desk)
    assert "Recorded as turn 1/discussion/arch." in desk("speak", id_, "First.", "--as", "arch").err
    advanced = desk("advance", id_)
    assert (advanced.code, "Round 1 is over; absent from it: back." in advanced.err) == (0, True)
    assert "To end: 1 of 2." in desk("vote", id_, "--as", "arch").err
    assert "To end: 0 of 2." in desk("vote", id_, "--as", "arch", "--no-end").err
    desk("vote", id_, "--as", "arch", "--end")
    ended = desk("vote", id_, "--as", "back", "--end")
    assert "To end: 2 of 2." in ended.err
    assert f"roundtable conclude {id_} TEXT" in ended.err
    assert "It is closed." in desk("conclude", id_, "Enough.").err
    (written,) = (desk.workspace / "docs").iterdir()
    assert "- **Backend(Bob)**: absent" in written.read_text("utf-8")
    late = desk("speak", id_, "Wait!", "--as", "back")
    assert late.code == 2
    assert "is closed" in late.err


@pytest.mark.requirement("D-15", "D-77", "D-93")
def test_a_chair_concludes_from_standard_input(desk: Desk) -> None:
    id_ = opened(desk)
    desk("speak", id_, "-", "--as", "arch", stdin="“Öl” & $(rm) 🙂\n'EOF'".encode())
    outcome = desk("conclude", id_, "-", stdin=b"We take one.")
    assert outcome.code == 0
    document = desk("show", id_, "--json").document
    assert document["verdict"]["answer"] == "We take one."
    assert document["status"] == "concluded"
    assert document["speeches"][0]["text"] == "“Öl” & $(rm) 🙂\n'EOF'"


@pytest.mark.requirement("D-17", "D-10", "I-28")
@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("vote", "ID", "--as", "Arch"), "Unknown participant 'Arch'"),
        (("vote", "ID", "--as", "coordinator"), "never votes"),
        (("advance", "rt_00000000"), "no discussion 'rt_00000000'"),
        (("conclude", "ID", " "), "empty"),
    ],
)
def test_what_cannot_be_done_by_hand_is_an_error_with_a_next_step(
    desk: Desk, command: tuple[str, ...], says: str
) -> None:
    id_ = opened(desk)
    outcome = desk(*(id_ if part == "ID" else part for part in command))
    assert outcome.code == 2
    assert says in outcome.err


@pytest.mark.requirement("D-03", "D-46", "X-48")
def test_from_python_a_meeting_takes_participants_and_a_workspace(
    desk: Desk, tmp_path: Path
) -> None:
    async def main() -> None:
        workspace = tmp_path / "elsewhere"
        async with Roundtable(home=desk.home, workspace=workspace, model="scripted/echo") as table:
            verdict = await table.ask(
                "One database?", procedure="meeting", participants=seats(3), max_rounds=1,
                output_path="minutes.md",
            )  # fmt: skip
            assert verdict.answer
            assert (workspace / "minutes.md").is_file()
            state = await table.open(
                "Two?", procedure="meeting", participants=seats(2, model="outside"), host="outside"
            )
            await table.speak(state.discussion_id, "arch", "First.")
            state = await table.advance(state.discussion_id)
            assert state.advanced[1].absent == ("back",)
            state = await table.vote_to_end(state.discussion_id, "arch", True)
            assert state.end_votes == {"arch": True}
            state = await table.conclude(state.discussion_id, "Enough.")
            assert state.verdict is not None
            assert state.verdict.answer == "Enough."

    asyncio.run(main())
