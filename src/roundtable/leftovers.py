"""What a killed process leaves behind: programs that still run, and folders with prompts.

Each call of a program is noted down in the home while it lasts: who makes it, which process it
became, and its temporary folder. A process that starts reads the notes of those that are gone, ends
what still runs of them and removes their folders. A process is known by its number and the moment
it began, and on Linux also by a mark in its environment that its children inherit; never by name.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .private import private_folder, private_opener
from .programs import child

SCRATCH = "roundtable-agent-"
"""How the temporary folders of calls begin."""
CALLS = "calls"
"""The folder of the notes in the home."""
MARK = "ROUNDTABLE_CALL"
"""The variable by which the children of a call are known."""
_UNKNOWN_SECONDS = 24 * 3600.0
"""After this time a call is over, where nobody can tell when a process began."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call while it lasts."""

    folder: Path
    """An empty folder of its own."""
    mark: str
    note: Path | None

    def begun(self, pid: int) -> None:
        """The program runs, and leads a session of its own."""
        if self.note is not None:
            told = json.loads(self.note.read_text("utf-8"))
            _put(self.note, {**told, "program": [pid, began(pid)]})


class Leftovers:
    """The notes of all calls that are under way, in a folder of the home; None keeps none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @contextmanager
    def call(self) -> Iterator[Call]:
        """A call, with its folder, until it ends."""
        scratch = Path(tempfile.mkdtemp(prefix=SCRATCH))
        mark = secrets.token_hex(16)
        note = None
        try:
            if self._folder is not None:
                private_folder(self._folder)
                note = self._folder / f"{mark}.json"
                us = os.getpid()
                _put(note, {"owner": [us, began(us)], "scratch": str(scratch), "mark": mark})
            yield Call(scratch, mark, note)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            if note is not None:
                note.unlink(missing_ok=True)

    def reap(self) -> int:
        """End what processes left that are gone, and remove their folders; how many calls it was.
        Never raises: nobody is kept from starting by what somebody else left."""
        count = 0
        with suppress(OSError):
            for note in sorted(self._folder.glob("*.json")) if self._folder else ():
                with suppress(OSError, ValueError, KeyError, TypeError):
                    count += _reap(note)
        return count


def began(pid: int) -> str | None:
    """When a process began, in the system's own words, which no later process of this number has
    too; None if there is none, or nobody can tell."""
    return _BEGAN.get(sys.platform, _began_elsewhere)(pid)


def _began_on_linux(pid: int) -> str | None:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = told.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else f"{boot}/{fields[19]}"


def _began_elsewhere(pid: int) -> str | None:
    if os.name == "nt":
        return None
    try:
        listed = child(["/bin/ps", "-o", "lstart=", "-p", str(pid)], {"LC_ALL": "C"})
        told = listed.run(capture_output=True, text=True).stdout
    except OSError:
        return None
    return str(told).strip() or None


_BEGAN = {"linux": _began_on_linux}


def _reap(note: Path) -> bool:
    told: dict[str, Any] = json.loads(note.read_text("utf-8"))
    pid, moment = told["owner"]
    if moment is None:
        if time.time() - note.stat().st_mtime < _UNKNOWN_SECONDS:
            return False
    elif began(int(pid)) == moment:
        return False
    _end(told.get("program"), str(told["mark"]))
    scratch = Path(told["scratch"])
    if scratch.name.startswith(SCRATCH) and not scratch.is_symlink():
        shutil.rmtree(scratch, ignore_errors=True)
    note.unlink(missing_ok=True)
    return True


def _end(program: Any, mark: str) -> None:
    """End a program's whole session, and whatever of it has gone elsewhere."""
    if os.name == "nt":
        return
    if program is not None and program[1] is not None and began(int(program[0])) == program[1]:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(int(program[0]), signal.SIGKILL)
    if sys.platform == "linux":
        wanted = f"{MARK}={mark}".encode()
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal() and int(folder.name) != os.getpid():
                with suppress(OSError):
                    if wanted in (folder / "environ").read_bytes().split(b"\0"):
                        os.kill(int(folder.name), signal.SIGKILL)


def _put(path: Path, document: dict[str, Any]) -> None:
    fresh = path.with_suffix(".new")
    with open(fresh, "w", encoding="utf-8", opener=private_opener) as file:
        json.dump(document, file)
    fresh.replace(path)
