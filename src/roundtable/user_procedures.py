"""The user's own procedures: TOML files, read when they are asked for by name.

A file's name is the name of its procedure, so looking one up reads one file, and a mistake in
another file is in nobody's way. The project's folder is stronger than the user's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .core.errors import BadSetting
from .procedures import PROCEDURES

if TYPE_CHECKING:
    from .procedures.custom import Definition

MAX_FILE = 500_000
"""Bytes."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


class ProcedureFiles:
    """Implements UserProcedures of procedures/custom: folders of definitions, the weaker first."""

    def __init__(self, folders: Sequence[Path], taken: Collection[str] = tuple(PROCEDURES)) -> None:
        self._folders = tuple(folders)
        self._taken = taken

    def names(self) -> tuple[str, ...]:
        """Those that there are, good or not, in order."""
        files = (path for folder in self._folders for path in folder.glob("*.toml"))
        return tuple(sorted({path.stem for path in files if path.is_file()}))

    def place(self, name: str) -> Path | None:
        """The file of this name; of several the strongest."""
        if not _NAME.fullmatch(name):
            return None
        found = (folder / f"{name}.toml" for folder in reversed(self._folders))
        return next((path for path in found if path.is_file()), None)

    def find(self, name: str) -> Definition | None:
        """The definition of this name, None if there is no file for it. BadSetting or UnknownName
        names the file, the key and what was expected."""
        path = self.place(name)
        if path is None:
            return None
        if name in self._taken:
            raise BadSetting(
                str(path), "the name of the file", f"another name: {name} is a built-in procedure"
            )
        definition = read_definition(path)
        if definition.name != name:
            raise BadSetting(str(path), "name", f"“{name}”, as the file is called")
        return definition


def read_definition(path: Path) -> Definition:
    """The definition that a file holds. Errors as in `ProcedureFiles.find`."""
    from .procedures.custom import define

    where = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadSetting(where, "the file", f"a readable file ({error.strerror})") from None
    if len(data) > MAX_FILE:
        raise BadSetting(where, "the file", f"at most {MAX_FILE:,} bytes")
    try:
        values = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadSetting(where, "the file", f"UTF-8 text ({error})") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        at = f"{where}:{line[1]}" if line else where
        raise BadSetting(at, "the file", f"valid TOML ({error})") from None
    return define(values, where)
