"""Every example runs, and says what its text promises."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .forked import Program

EXAMPLES = Path(__file__).parent.parent / "examples"
PROMISES = {
    "rehearsal.py": "muse: yes",
    "follow_events.py": "DiscussionClosed",
    "meeting_4x4.py": "16 calls to participants",
    "notifications.py": "[team #billing] 🏁",
    "release_planning.py": "## Acceptance Criteria",
    "follow_up_dispatch.py": "[slack:#backend] 📋 Backend",
    "quick_verification.py": "concluded, 0 calls: The release waits",
    "resume_after_interruption.py": "3 calls in round 1, none of them again: concluded",
}


def test_every_example_has_a_promise() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PROMISES)


@pytest.mark.requirement("I-38", "D-102")
@pytest.mark.parametrize("name", PROMISES)
def test_an_example_runs_and_keeps_its_promise(name: str, tmp_path: Path) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    code = Program(
        ["program", str(EXAMPLES / name)],
        cwd=EXAMPLES.parent,
        env=os.environ,
        stdout=out,
        stderr=err,
        module="tests.python_files",
    ).wait()
    assert (code, err.read_text("utf-8")) == (0, "")
    assert PROMISES[name] in out.read_text("utf-8")
