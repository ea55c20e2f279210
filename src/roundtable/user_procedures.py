"""The user's own procedures: TOML files, read when they are asked for by name.

A file's name is the name of its procedure, so looking one up reads one file, and a mistake in
another file is in nobody's way. The project's folder is stronger than the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .config_files import text_of, toml_table
from .core.agents import names_program
from .core.errors import BadSetting, UnknownName
from .procedures import PROCEDURES
from .trust import PROCEDURES as PROJECT_PROCEDURES
from .trust import Folder

if TYPE_CHECKING:
    from .procedures.custom.model import Definition

MAX_FILE = 500_000
"""Bytes."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


class ProcedureFiles:
    """Implements UserProcedures of procedures/custom: folders of definitions, the weaker first."""

    def __init__(
        self,
        folders: Sequence[Folder],
        taken: Collection[str] = tuple(PROCEDURES),
        *,
        is_program: Callable[[str], bool] = names_program,
    ) -> None:
        """`is_program` says whether a model's name means a program of this machine, which a
        project may not let run."""
        self._folders = tuple(folders)
        self._taken = taken
        self._is_program = is_program

    def names(self) -> tuple[str, ...]:
        """Those that there are, good or not, in order."""
        files = (path for folder in self._folders for path in folder.files("*.toml"))
        return tuple(sorted({path.stem for path in files}))

    def place(self, name: str) -> Path | None:
        """The file of this name; of several the strongest."""
        found = self._found(name)
        return found[0].path / f"{name}.toml" if found else None

    def _found(self, name: str) -> tuple[Folder, bytes] | None:
        if not _NAME.fullmatch(name):
            return None
        for folder in reversed(self._folders):
            data = folder.read(f"{name}.toml")
            if data is not None:
                return folder, data
        return None

    def find(self, name: str) -> Definition | None:
        """The definition of this name, None if there is no file for it. BadSetting or UnknownName
        names the file, the key and what was expected; UnknownName also if there is only a file
        that nobody has trusted."""
        found = self._found(name)
        if found is None:
            self._refuse_untrusted(name)
            return None
        folder, data = found
        path = folder.path / f"{name}.toml"
        if name in self._taken:
            raise BadSetting(
                str(path), "the name of the file", f"another name: {name} is a built-in procedure"
            )
        definition = read_definition(path, data)
        if definition.name != name:
            raise BadSetting(str(path), "name", f"“{name}”, as the file is called")
        if folder.trust is not None:
            refuse_programs(definition, str(path), self._is_program)
        return definition

    def _refuse_untrusted(self, name: str) -> None:
        # A built-in procedure is never hidden by what a project brings along.
        if name in self._taken or not _NAME.fullmatch(name):
            return
        if any(folder.ignores(f"{name}.toml") for folder in self._folders):
            remedy = (
                f"{PROJECT_PROCEDURES}/{name}.toml defines it, but is ignored until you trust it: "
                "roundtable trust"
            )
            raise UnknownName("procedure", name, remedy=remedy)


def refuse_programs(definition: Definition, where: str, is_program: Callable[[str], bool]) -> None:
    """BadSetting if a procedure of a project gives a seat to a program of this machine."""
    seats = [(f"participants.{seat.id}.model", seat.model) for seat in definition.participants]
    for key, model in [*seats, ("host.model", definition.host.model)]:
        if model is not None and is_program(model):
            expected = "a model; a project cannot let a program of this machine run"
            raise BadSetting(where, key, expected)


def read_definition(path: Path, data: bytes) -> Definition:
    """The definition that a file holds. Errors as in `ProcedureFiles.find`."""
    from .procedures.custom.checks import define

    where = str(path)
    if len(data) > MAX_FILE:
        raise BadSetting(where, "the file", f"at most {MAX_FILE:,} bytes")
    # Its version is its author's own.
    return define(toml_table(text_of(data, where), where, versioned=False), where)
