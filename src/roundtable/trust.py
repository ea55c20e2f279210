"""What a project brings along, and what of it the user has trusted.

A folder may be somebody else's, so its files are inert until the user has seen and trusted them.
Trust is kept in ROUNDTABLE_HOME, for one folder and for the exact content of each file: whatever
changes is inert again. A file is read once, and what was read is what is compared.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from .config_files import contents, json_object, text_of
from .core.errors import BadSetting
from .core.text import clip
from .private import private_folder

STORE = "trust.json"
MOST_BYTES = 1_000_000
"""A project's file that is larger is never trusted."""
MOST_STORED = 50_000_000
NOTHING_TRUSTED = "Fix it, or remove it to trust nothing."
EXPERTS = ".roundtable/experts"
PROCEDURES = ".roundtable/procedures"
SINGLE = ("roundtable.toml", "panels.json", "local_models.json", "roundtable_config.yaml")
"""The files that count in a project's own folder."""

_ODD = re.compile(r"[^\w./-]")

Standing = Literal["trusted", "new", "changed"]


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """One file of a project, as it was read."""

    name: str
    """Its path below the workspace, with slashes."""
    data: bytes
    standing: Standing

    @property
    def shown(self) -> str:
        """Its name, fit to be read by people and models: somebody else chose it."""
        return clip(_ODD.sub("?", self.name), 80)

    @property
    def digest(self) -> str:
        return sha256(self.data).hexdigest()


class Trust:
    """The user's trust in the files of one workspace."""

    def __init__(self, home: Path, workspace: Path, *, believed: bool = True) -> None:
        """Where what was stored is not `believed`, nothing is trusted."""
        self._store = home / STORE
        self._believed = believed
        self.workspace = workspace
        self._key = os.path.realpath(workspace)
        # The user's own folder brings nothing along that would not be the user's own.
        self._is_home = self._key == os.path.realpath(home)

    def files(self) -> list[ProjectFile]:
        """The project's files that would count if they were trusted, or do."""
        if self._is_home:
            return []
        folders = (self.workspace / each for each in (EXPERTS, PROCEDURES))
        inner = [path for folder in folders for path in sorted(folder.glob("*.toml"))]
        names = [*SINGLE, *(path.relative_to(self.workspace).as_posix() for path in inner)]
        read = ((name, _contents(self.workspace / name)) for name in names)
        found = [(name, data) for name, data in read if data is not None]
        # Where nothing could be trusted, it is in nobody's way if the store is damaged.
        known = self._known() if found else {}
        return [_judged(name, data, known) for name, data in found]

    def ignored(self) -> list[ProjectFile]:
        """Those that do not count, because nobody has trusted what they say now."""
        return [file for file in self.files() if file.standing != "trusted"]

    def odd(self) -> list[str]:
        """The names of files that would count and never can: no files, unreadable or too large."""
        if self._is_home:
            return []
        there = (name for name in SINGLE if os.path.lexists(self.workspace / name))
        return [name for name in there if _contents(self.workspace / name) is None]

    def read(self, path: Path) -> bytes | None:
        """What a file of the project says; None if it is not there or not trusted."""
        if self._is_home or (data := _contents(path)) is None:
            return None
        name = path.relative_to(self.workspace).as_posix()
        return data if _judged(name, data, self._known()).standing == "trusted" else None

    def grant(self, files: Sequence[ProjectFile]) -> None:
        """Trust these files as they were read, and no others of this workspace."""
        self._write({**stored(self._store), self._key: {each.name: each.digest for each in files}})

    def forget(self) -> bool:
        """Trust nothing of this workspace any more; False if nothing was trusted."""
        known = stored(self._store)
        if known.pop(self._key, None) is None:
            return False
        self._write(known)
        return True

    def _known(self) -> Mapping[str, str]:
        return stored(self._store).get(self._key, {}) if self._believed else {}

    def _write(self, known: Mapping[str, Mapping[str, str]]) -> None:
        private_folder(self._store.parent)
        # Whole or not at all: a file that is half written would trust nothing, or be an error.
        descriptor, name = tempfile.mkstemp(dir=self._store.parent, prefix=f".{STORE}-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(known, file, indent=2, ensure_ascii=False)
            Path(name).replace(self._store)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with files that somebody wrote: the user, or else a project, whose files count as
    far as they are trusted."""

    path: Path
    trust: Trust | None = None

    def files(self, pattern: str) -> list[Path]:
        """Those that count, in order of their names."""
        # A pipe or a link that leads nowhere is found too, so that reading it says what it is.
        found = sorted(path for path in self.path.glob(pattern) if not path.is_dir())
        return [path for path in found if self.trust is None or self.trust.read(path) is not None]

    def read(self, name: str) -> bytes | None:
        """What a file says; None if it is not there or does not count. BadSetting if it is the
        user's own and cannot be read, or may say what somebody else wrote."""
        path = self.path / name
        return contents(path, ours=True) if self.trust is None else self.trust.read(path)

    def ignores(self, name: str) -> bool:
        """Whether the project has this file, and it does not count because it is not trusted."""
        if self.trust is None:
            return False
        path = (self.path / name).relative_to(self.trust.workspace).as_posix()
        return any(each.name == path for each in self.trust.ignored())


def stored(store: Path) -> dict[str, dict[str, str]]:
    """Everything that is trusted: the digests of files by name, by workspace. BadSetting if the
    store is damaged."""
    if (data := contents(store, most=MOST_STORED, ours=True)) is None:
        return {}
    where = str(store)
    try:
        known = json_object(text_of(data, where), where)
        return {place: dict(digests.items()) for place, digests in known.items()}
    except AttributeError:
        told = "what `roundtable trust` wrote there"
        raise BadSetting(where, "the file", told, NOTHING_TRUSTED) from None
    except BadSetting as error:
        raise BadSetting(error.where, error.key, error.expected, NOTHING_TRUSTED) from None


def _judged(name: str, data: bytes, known: Mapping[str, str]) -> ProjectFile:
    digest = sha256(data).hexdigest()
    before = known.get(name)
    return ProjectFile(
        name, data, "new" if before is None else "trusted" if before == digest else "changed"
    )


def _contents(path: Path) -> bytes | None:
    """What a regular file says, if it is not too large. Nothing else is opened: a pipe would be
    waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else None
