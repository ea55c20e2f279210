"""The commands of whoever leads a discussion, and the person who holds a seat at the keyboard."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import subprocess
import sys

import pytest

from roundtable import Roundtable

from .desk import Desk, environment

MEETING = (
    *("--procedure", "meeting", "--model", "scripted/echo", "--max-rounds", "1"),
    *("--no-log", "--no-search", "--plain"),
)


def _opened(desk: Desk) -> str:
    """A meeting of people among themselves, which nobody drives."""

    async def main() -> str:
        async with Roundtable(home=desk.home) as table:
            seats = [
                {"profile": name, "role": name.title(), "model": "outside"}
                for name in ("ann", "bob")
            ]
            state = await table.open(
                "Tea or coffee?",
                procedure="meeting",
                participants=seats,
                host="outside",
                max_rounds=1,
            )
            return state.discussion_id

    return asyncio.run(main())


@pytest.mark.requirement("I-33")
def test_a_chair_leads_from_the_command_line(desk: Desk) -> None:
    id_ = _opened(desk)
    assert desk("pause", id_, "--reason", "lunch").code == 0
    refused = desk("speak", id_, "Now?", "--as", "ann")
    assert refused.code == 2
    assert f"roundtable resume {id_}" in refused.err
    paper = desk.workspace / "paper.md"
    paper.write_text("Forty-two.", "utf-8")
    assert "On the table" in desk("add", id_, str(paper)).err
    assert "1 round more" in desk("extend", id_, "1").err
    assert "ann, bob, cleo" in desk("invite", id_, "cleo", "--role", "Ops").err
    assert "ann, cleo" in desk("dismiss", id_, "bob").err
    assert "ann is skipped" in desk("skip", id_, "ann").err
    shown = desk("show", id_, "--json").document
    assert shown["discussion_id"] == id_


def test_what_cannot_be_done_says_what_can(desk: Desk) -> None:
    id_ = _opened(desk)
    assert "There is no discussion" in desk("pause", "rt_00000000").err
    assert "Between 1 and 20" in desk("extend", id_, "99").err
    assert "no open turn" in desk("skip", id_, "bob").err
    assert "cannot be read" in desk("add", id_, "no-such-file").err
    assert desk("dismiss", id_, "nobody").code == 2
    long = b"x" * 5_000_000
    for words in (("speak", id_, "-", "--as", "ann"), ("speak", id_, "-"), ("conclude", id_, "-")):
        refused = desk(*words, stdin=long)
        assert refused.code == 2
        assert "5,000,000 characters; at most 200,000 fit" in refused.err
    assert desk("show", id_, "--json").document["speeches"] == []


@pytest.mark.requirement("I-33", "X-48")
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are not for Windows")
def test_a_person_at_the_keyboard_is_asked_when_the_turn_comes(desk: Desk) -> None:
    screen, keyboard = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "roundtable", "Tea or coffee?", *MEETING, "--join", "Ada"],
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        cwd=desk.workspace,
        env=environment({"TERM": "dumb"}),
    )
    os.close(keyboard)
    seen = b""
    try:
        seen = _read_until(screen, b"Your turn, Ada")
        os.write(screen, b"Tea keeps me calm.\nAnd it is cheap.\n\n")
        seen += _read_until(screen, b"in one sentence?")
        # What may be skipped is skipped.
        os.write(screen, b"Serve tea.\n" + b"\n" * 12)
        seen += _read_until(screen, None)
        assert b"position: Serve tea" in seen, "what was recorded is read back"
        assert process.wait(60) == 0, seen.decode("utf-8", "replace")
    finally:
        process.kill()
        process.wait()
        os.close(screen)
    id_ = desk.last_id()
    page = desk("export", id_, "--format", "md").out
    assert "Tea keeps me calm." in page
    assert "And it is cheap." in page


def _read_until(screen: int, words: bytes | None) -> bytes:
    """What the program prints up to these words, or to its end."""
    seen = b""
    while words is None or words not in seen:
        ready, _, _ = select.select([screen], [], [], 60)
        assert ready, f"nothing came after: {seen.decode('utf-8', 'replace')}"
        try:
            more = os.read(screen, 4096)
        except OSError:  # Linux says so when the other end is closed
            more = b""
        if not more:
            assert words is None, seen.decode("utf-8", "replace")
            break
        seen += more
    return seen
