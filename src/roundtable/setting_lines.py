"""Where a setting stands, to the line: for those who show it, and for names in it that mean
nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .config_files import contents, line_of, text_of
from .core.errors import BadSetting, RoundtableError, UnknownName
from .core.limits import OLDER
from .project import PANELS_JSON, PROJECT_TOML
from .settings import CONFIG_JSON, SET_UP, Settings

BUILT_IN = "built in"


class SettingLines:
    """Finds the lines on which settings stand."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._read: dict[str, str] = {}

    def origin(self, key: str) -> str:
        """The file or variable that it comes from."""
        return self._settings.origins.get(key, BUILT_IN)

    def line(self, key: str) -> int:
        """Its line there; 0 if there is none, or it is not found."""
        where = self.origin(key)
        path = Path(where) if os.sep in where else self._settings.workspace / where
        if where == BUILT_IN or path.suffix not in (".toml", ".json"):
            return 0
        if where not in self._read:
            try:
                self._read[where] = text_of(contents(path) or b"", where)
            except RoundtableError:
                self._read[where] = ""
        return next(filter(None, (line_of(self._read[where], n) for n in _names(key, path))), 0)

    def place(self, key: str) -> str:
        """Both, as an error names them."""
        where, line = self.origin(key), self.line(key)
        return f"{where}:{line}" if line else where

    def called(self, key: str) -> str:
        """What it is called there, before a colon; nothing where a variable says it all."""
        where = self.origin(key)
        return f"{_names(key, Path(where))[0]}: " if Path(where).suffix else ""

    @contextmanager
    def naming(self, *keys: str) -> Iterator[None]:
        """Where a name that one of these settings holds turns out to mean nothing, the error says
        where it stands: nobody typed it just now."""
        try:
            yield
        except UnknownName as error:
            for key in keys:
                where = self.origin(key)
                parts = (part for each in self._held(key) for part in (each, *each.split("/", 1)))
                if where != BUILT_IN and error.name in parts:
                    called = _names(key, Path(where))[0]
                    remedy = error.remedy or "Correct it."
                    raise BadSetting(self.place(key), called, error.expected, remedy) from None
            raise

    def _held(self, key: str) -> tuple[str, ...]:
        value = getattr(self._settings.choices, key)
        if isinstance(value, dict):  # of names on both sides
            return tuple(name for each, chain in value.items() for name in (each, *chain))
        return (value,) if isinstance(value, str) else tuple(value or ())


def _names(key: str, path: Path) -> list[str]:
    """What a setting may be called in a file, a limit by its older name too."""
    names = _stored_names(key, path)
    table, _, name = key.rpartition(".")
    if table in ("budget", "caps") and name in OLDER:
        names += [f"{each.rpartition('.')[0]}.{OLDER[name]}" for each in names]
    return names


def _stored_names(key: str, path: Path) -> list[str]:
    if path.name == CONFIG_JSON:
        own = {name: each for each, name in SET_UP.items()}
        first, _, rest = key.partition(".")
        if first == "council":
            return [rest]
        return [own.get(key, key), "preset"] if key == "models" else [own.get(first, key)]
    if path.name == PROJECT_TOML:
        return [key.replace("caps.", "budget.", 1)]  # its limits are caps, too
    return [key.removeprefix("adaptive.")] if path.name == PANELS_JSON else [key]
