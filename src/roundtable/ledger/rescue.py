"""Rescue files: answers that arrived while there was no database to put them in.

One file for each discussion, the user's alone, beside the database; where there is no room, in the
machine's folder for temporary files. A line holds what was to be appended at once. The next process
that drives the discussion, or starts after its driver is gone, takes it in.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from ..core.events import NewEvent, dump, load
from ..private import FILE, private_folder
from .leases import owner_is_dead

SUFFIX = ".rescue"
"""Of the folder beside a database that is a file."""
OF_A_SERVER = "rescue-"
"""How the folder in the home begins, for a database that has an address."""
SPARE = "roundtable-rescue-"
"""How the folder among the temporary files begins."""
_NAME = re.compile(r"(rt_[0-9a-f]{8})\.jsonl\Z")
LARGEST = 64_000_000
"""Bytes of one file: more than a whole table can say at once."""


class RescueFiles:
    """See `roundtable.ports.Rescue`. `owner` is the name of this process among its drivers."""

    def __init__(self, folder: Path, spare: Path | None, owner: str) -> None:
        self._places = [folder] if spare is None else [folder, spare]
        self._owner = owner

    @classmethod
    def beside(cls, db: str, home: Path, owner: str) -> RescueFiles:
        """Beside a database that is a file; in the home for one that has an address."""
        # Without the user and the password, which may change.
        address = db.partition("://")[2].rpartition("@")[2] or db
        mark = sha256(address.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        folder = home / f"{OF_A_SERVER}{mark}" if "://" in db else Path(db + SUFFIX)
        return cls(folder, spare_place(mark), owner)

    def keep(self, discussion_id: str, events: Sequence[NewEvent]) -> str:
        line = json.dumps({"by": self._owner, "events": [_written(new) for new in events]})
        for place in self._places:
            path = place / f"{discussion_id}.jsonl"
            with suppress(OSError):
                private_folder(place)
                if _is_ours(place):
                    _add(path, line.encode("ascii") + b"\n")
                    return str(path)
        return ""

    def kept(self, discussion_id: str) -> list[list[NewEvent]]:
        return [events for _, events in self._lines(discussion_id)]

    def drop(self, discussion_id: str) -> None:
        for place in self._places:
            with suppress(OSError):
                if _is_ours(place):
                    (place / f"{discussion_id}.jsonl").unlink(missing_ok=True)
                    place.rmdir()  # unless there is more in it

    def waiting(self) -> list[str]:
        found: list[str] = []
        for place in self._places:
            with suppress(OSError):
                names = (_NAME.match(each.name) for each in place.iterdir())
                found.extend(name[1] for name in names if name)
        return [each for each in dict.fromkeys(found) if self._is_left(each)]

    def where(self, discussion_id: str) -> str:
        files = (place / f"{discussion_id}.jsonl" for place in self._places)
        return " and ".join(str(each) for each in files if each.exists())

    def _is_left(self, discussion_id: str) -> bool:
        """Whether whoever wrote it is certainly gone: else it is still at it."""
        return all(by == self._owner or owner_is_dead(by) for by, _ in self._lines(discussion_id))

    def _lines(self, discussion_id: str) -> list[tuple[str, list[NewEvent]]]:
        found: list[tuple[str, list[NewEvent]]] = []
        for place in self._places:
            with suppress(OSError):
                if _is_ours(place):
                    for line in _read(place / f"{discussion_id}.jsonl").splitlines():
                        # The last one may be cut: its writer had no more room, or was killed.
                        with suppress(ValueError, LookupError, TypeError, ValidationError):
                            found.append(_line(line))
        return found


def spare_place(mark: str) -> Path | None:
    """A folder of this user's among the temporary files, for when there is no room elsewhere. None
    where there is none there either."""
    try:
        folder = Path(tempfile.gettempdir())
    except FileNotFoundError:  # it is found by writing, so a full disk has none
        return None
    if not hasattr(os, "geteuid"):  # Windows: its folder for temporary files is the user's alone
        return folder / f"{SPARE}{mark}"
    return folder / f"{SPARE}{os.geteuid()}-{mark}"


def _is_ours(place: Path) -> bool:
    """Whether nobody else can have put it there, or anything in it."""
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return False
    return not hasattr(os, "geteuid") or (
        found.st_uid == os.geteuid() and not found.st_mode & ~stat.S_IFMT(found.st_mode) & 0o022
    )


def _add(path: Path, line: bytes) -> None:
    """Write a line through to the disk, or nothing. What a killed process left half stays alone."""
    line = b"\n" + line
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    target = os.open(path, flags, FILE)
    try:
        before = os.fstat(target).st_size
        try:
            if before + len(line) > LARGEST:
                raise OSError("too much is kept already")
            written = 0
            while written < len(line):
                written += os.write(target, line[written:])
            os.fsync(target)
        except OSError:
            os.ftruncate(target, before)
            raise
    finally:
        os.close(target)


def _read(path: Path) -> bytes:
    source = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(source, "rb") as file:
        return file.read(2 * LARGEST)


def _written(new: NewEvent) -> dict[str, str | None]:
    return {"at": new.at.isoformat(), "key": new.key, "event": dump(new.event)}


def _line(line: bytes) -> tuple[str, list[NewEvent]]:
    whole = json.loads(line)
    return str(whole["by"]), [
        NewEvent(load(each["event"]), datetime.fromisoformat(each["at"]), str(each["key"]))
        for each in whole["events"]
    ]
