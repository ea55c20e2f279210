"""Every example runs, and says what its text promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
def test_an_example_runs_and_keeps_its_promise(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert PROMISES[name] in done.stdout
