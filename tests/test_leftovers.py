"""What a killed process leaves: ended and removed by the next one, and nothing else is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from roundtable.leftovers import MARK, SCRATCH, Leftovers, began
from tests.surfaces.desk import SOURCES

pytestmark = [
    pytest.mark.requirement("Z-39"),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
AGENT = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""
CALLER = """
import asyncio, pathlib, sys, tempfile
from roundtable.leftovers import MARK, Leftovers
from roundtable.program_runner import run_program
from roundtable.programs import child
import os
tempfile.tempdir = sys.argv[3]
async def main():
    with Leftovers(pathlib.Path(sys.argv[1])).call() as call:
        (call.folder / "prompt.txt").write_text("secret prompt")
        env = {**os.environ, MARK: call.mark}
        agent = child([sys.executable, "-c", sys.argv[4], sys.argv[2]], env)
        await run_program(agent, on_start=call.begun)
asyncio.run(main())
"""


def wait_until(done: object) -> None:
    for _ in range(2000):
        if done():  # type: ignore[operator]
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def alive(pid: int) -> bool:
    return began(pid) is not None


def test_whatever_a_killed_process_left_is_ended_and_removed_by_the_next(tmp_path: Path) -> None:
    notes, pids = tmp_path / "calls", tmp_path / "pids"
    arguments = [str(notes), str(pids), str(tmp_path), AGENT]
    env = {**os.environ, "PYTHONPATH": str(SOURCES)}
    caller = subprocess.Popen([sys.executable, "-c", CALLER, *arguments], env=env)
    try:
        wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        wait_until(lambda: any("program" in n.read_text() for n in notes.glob("*.json")))
        assert Leftovers(notes).reap() == 0, "who made it still lives"
        [scratch] = tmp_path.glob(f"{SCRATCH}*")
        assert scratch.stat().st_mode & 0o777 == 0o700
    finally:
        caller.kill()
        caller.wait()
    agent, grandchild = map(int, pids.read_text().split())
    assert alive(grandchild), "a death signal reaches the program only"
    assert Leftovers(notes).reap() == 1
    wait_until(lambda: not alive(agent) and not alive(grandchild))
    assert not scratch.exists()
    assert list(notes.iterdir()) == []


def test_a_number_that_was_given_to_somebody_else_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        mine = tmp_path / "precious"
        mine.mkdir()
        note = {
            "owner": [2**22 + 1, "gone"],
            "program": [stranger.pid, "another boot/1"],
            "scratch": str(mine),
            "mark": "no such mark",
        }
        (tmp_path / "x.json").write_text(json.dumps(note))
        (tmp_path / "y.json").write_text("no note")
        (tmp_path / "z.json").write_text('{"owner": 7}')
        assert Leftovers(tmp_path).reap() == 1
        assert stranger.poll() is None
        assert mine.exists(), "only folders of ours are removed"
    finally:
        stranger.kill()
        stranger.wait()


def test_a_call_that_ends_leaves_nothing(tmp_path: Path) -> None:
    notes = tmp_path / "calls"
    with Leftovers(notes).call() as call:
        assert call.folder.is_dir()
        [note] = notes.glob("*.json")
        assert note.stat().st_mode & 0o777 == 0o600
    assert not call.folder.exists()
    assert list(notes.iterdir()) == []
    assert Leftovers(None).reap() == 0
    assert MARK
