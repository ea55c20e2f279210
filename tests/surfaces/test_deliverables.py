"""Works on the command line: shown, exported, and left in the workspace, exactly as written."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from roundtable.core.deliverable import Deliverable
from roundtable.core.events import Event, NewEvent, SpeechGiven
from roundtable.ledger.sqlite import SqliteLedger
from roundtable.settings import DATABASE
from roundtable.surfaces.files import write_new

from .desk import Desk

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
TEXT = 'token = "make_the_session_token"\r\n\tx = 1  \n# 结束\n'


def bring(desk: Desk, *works: Deliverable) -> str:
    """A discussion at this desk in which somebody brought these."""
    desk.ask()
    found = desk.last_id()
    speech: Event = SpeechGiven(
        turn_id="1/answer/late",
        stage="answer",
        round=1,
        participant="engineer",
        model="test/a",
        text="Here it is.",
        deliverables=works,
    )

    async def append() -> None:
        ledger = await SqliteLedger.open(desk.home / DATABASE)
        try:
            await ledger.append(found, [NewEvent(speech, NOON)])
        finally:
            await ledger.close()

    asyncio.run(append())
    return found


@pytest.mark.requirement("Z-31")
def test_a_work_is_printed_and_written_byte_for_byte(desk: Desk) -> None:
    found = bring(
        desk, Deliverable(name="结果.py", text=TEXT), Deliverable(name="b.md", text="b\n")
    )
    printed = desk("show", found, "--deliverable", "结果.py")
    assert printed.out == TEXT
    exported = desk("export", found, "--deliverables", "works")
    assert exported.code == 0
    folder = desk.workspace / "works"
    assert sorted(path.name for path in folder.iterdir()) == ["b.md", "结果.py"]
    assert (folder / "结果.py").read_bytes() == TEXT.encode()
    again = desk("export", found, "--deliverables", "works")
    assert again.code == 0
    assert len(list(folder.iterdir())) == 2
    assert "# 结束" in desk("show", found).out
    listed = desk("show", found, "--json").document["deliverables"]
    assert [each["text"] for each in listed] == [TEXT, "b\n"]


@pytest.mark.requirement("Z-31")
def test_a_wrong_name_and_a_discussion_without_works_are_answered_with_what_to_do(
    desk: Desk,
) -> None:
    found = bring(desk, Deliverable(name="plan.md", text="x\n"))
    wrong = desk("show", found, "--deliverable", "plam.md")
    assert wrong.code == 2
    assert "Did you mean plan.md?" in wrong.err
    desk.ask()
    for args in (("show", "--deliverable", "plan.md"), ("export", "--deliverables", "works")):
        command, *rest = args
        none = desk(command, desk.last_id(), *rest)
        assert none.code == 2
        assert "brought no deliverables" in none.err


@pytest.mark.requirement("Z-31", "Z-39")
def test_a_ledger_from_elsewhere_cannot_write_outside_the_folder(desk: Desk) -> None:
    found = bring(desk, Deliverable(name="../../evil.sh", text="x\n"))
    assert desk("export", found, "--deliverables", "a/b").code == 0
    assert (desk.workspace / "a" / "b" / "evil.sh").is_file()
    assert not list(desk.workspace.parent.glob("evil.sh"))


@pytest.mark.requirement("Z-31")
def test_a_work_too_large_to_be_kept_is_said_to_be_in_its_turn(desk: Desk) -> None:
    found = bring(desk, Deliverable(name="big.txt", left_out=9_000_000))
    told = desk("show", found, "--deliverable", "big.txt")
    assert told.code == 2
    assert "9,000,000 bytes, too large" in told.err.replace("\n", " ")


@pytest.mark.requirement("Z-31", "I-10")
def test_a_file_is_written_with_its_own_line_ends_and_never_over_another(tmp_path: Path) -> None:
    first = write_new(tmp_path / "a.py", TEXT)
    second = write_new(tmp_path / "a.py", "other\n")
    assert first.read_bytes() == TEXT.encode()
    assert (second.name, second.read_bytes()) == ("a-2.py", b"other\n")
    assert write_new(tmp_path / "a.py", TEXT, again=True) == first
