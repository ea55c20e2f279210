"""Who drives a discussion that the tools started: a process that outlives the call."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ...private import private_folder, private_opener
from ...programs import WORKSPACE, python_child


class Drives(Protocol):
    """Sees to it that a discussion is driven."""

    def drive(self, discussion_id: str) -> None:
        """Let it go on in the background. Asked twice it does nothing more, and it never raises
        what goes wrong in there: the discussion's own events tell."""
        ...


class Detached:
    """A process of its own for each discussion, for callers that end before it does. The lease
    keeps a second one from doing anything."""

    def __init__(self, env: Mapping[str, str], workspace: Path, log: Path) -> None:
        """`log` gets what these processes say, of which nobody would hear otherwise."""
        self._env = {**env, WORKSPACE: str(workspace)}
        self._log = log

    def drive(self, discussion_id: str) -> None:
        private_folder(self._log.parent)
        with open(self._log, "ab", opener=private_opener) as log:
            again = ("resume", discussion_id, "--plain")
            process = python_child("roundtable", again, self._env).popen(
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        # It outlives this process on purpose: nobody will ever wait for it.
        process.returncode = 0


class NobodyDrives:
    """For callers that only look, or drive it themselves."""

    def drive(self, discussion_id: str) -> None:
        pass
