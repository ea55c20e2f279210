"""The keys of model providers that were entered in the set-up or on the page, by their variables.

They lie in `keys.toml` in the program's home, for its owner alone, or in the system's keyring where
the package `keyring` finds a real one; the file then only says which are there. A variable of the
environment is stronger than a key that is kept here. A file that was changed counts at once, also
for a process that began before. Nobody shows a key again: it can be used, replaced and removed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Literal, Protocol

from .config_files import text_at, toml_table
from .core.errors import BadSetting, NewerFile, UsageError
from .private import private_folder, put_private

FILE = "keys.toml"
LONGEST_KEY = 4_000
MOST_BYTES = 1_000_000
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,79}")
REMEDY = "The stored keys do not count: correct the file, or remove it and run roundtable setup."
_HEAD = "# Keys of model providers, entered in Roundtable. Only you can read this file.\n"

Kept = Literal["file", "keyring"]
_Stamp = tuple[int, int, int]


class Ring(Protocol):
    """What of the package `keyring` is used."""

    def get_password(self, service: str, name: str, /) -> str | None: ...
    def set_password(self, service: str, name: str, password: str, /) -> None: ...
    def delete_password(self, service: str, name: str, /) -> None: ...


def is_sound_key(key: str) -> bool:
    """Whether it can be a key at all. One with a stray character fails only when it is sent, in
    words that nobody understands; one with a line break would be a second header."""
    return (
        0 < len(key) <= LONGEST_KEY
        and key.isascii()
        and key.isprintable()
        and not set(key) & set(" \"'`\\")
    )


class ProviderKeys(Mapping[str, str]):
    """The stored keys. Reading never raises: what cannot be read is not there, and `problem` says
    why."""

    def __init__(self, home: Path, variables: Collection[str] | None = None) -> None:
        """`variables` are those that may hold a provider's key; whatever else the file names is
        ignored, so that it cannot move a provider elsewhere. None: all."""
        self._path = home / FILE
        self._variables = None if variables is None else frozenset(variables)
        self._service = f"roundtable {home.absolute()}"
        self._writing = Lock()
        self._seen: tuple[_Stamp | None, dict[str, str], tuple[str, ...], str] | None = None
        self._from_ring: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        stored, in_ring = self._stored()
        if name in stored:
            return stored[name]
        if name in in_ring and (key := self._of_ring(name)):
            return key
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        stored, in_ring = self._stored()
        return iter({**stored, **dict.fromkeys(in_ring)})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"ProviderKeys({sorted(self)})"

    @property
    def problem(self) -> str:
        """Why the file does not count; empty if it does, or is not there."""
        self._stored()
        assert self._seen is not None
        return self._seen[3]

    @property
    def trouble(self) -> BadSetting | None:
        """The error for whoever would speak with a stored key: it names the file and what to do."""
        return (
            BadSetting(str(self._path), "the file", self.problem, REMEDY) if self.problem else None
        )

    def kept(self, name: str) -> Kept | None:
        """Where a key is kept; None if none is."""
        stored, in_ring = self._stored()
        return "file" if name in stored else "keyring" if name in in_ring else None

    @property
    def place(self) -> Kept:
        """Where the next key would be kept."""
        return "file" if _system_ring() is None else "keyring"

    def put(self, name: str, key: str) -> Kept:
        """Keep a key in place of the one before. UsageError if it cannot be one, BadSetting if the
        file is somebody's own and cannot be read."""
        if not _VARIABLE.fullmatch(name) or not self._counts(name):
            raise UsageError(f"{name!r} is no variable of a provider's key.", "Choose a provider.")
        if not is_sound_key(key):
            raise UsageError(
                "That is no key: it holds spaces, quotation marks, line breaks or letters that no "
                f"key has, or is longer than {LONGEST_KEY:,} characters.",
                "Copy the key once more, alone.",
            )
        with self._writing:
            stored, in_ring = self._to_change()
            place: Kept = "file"
            if (ring := _system_ring()) is not None:
                # A ring that is locked, or that nobody can open here, is as good as none.
                with suppress(Exception):
                    ring.set_password(self._service, name, key)
                    place = "keyring"
            stored.pop(name, None)
            if place == "file":
                stored[name] = key
            names = {each for each in in_ring if each != name}
            self._write(stored, sorted(names | {name}) if place == "keyring" else sorted(names))
            return place

    def remove(self, name: str) -> bool:
        """Forget a key; whether there was one."""
        with self._writing:
            stored, in_ring = self._to_change()
            if name not in stored and name not in in_ring:
                return False
            if name in in_ring and (ring := _system_ring()) is not None:
                with suppress(Exception):  # it is gone from there already
                    ring.delete_password(self._service, name)
            stored.pop(name, None)
            self._write(stored, [each for each in in_ring if each != name])
            return True

    def _to_change(self) -> tuple[dict[str, str], tuple[str, ...]]:
        if (trouble := self.trouble) is not None:
            raise trouble
        # Also those of variables that nobody asks for now: they are not ours to lose.
        stored, in_ring, _ = _read(self._path)
        return dict(stored), in_ring

    def _write(self, stored: Mapping[str, str], in_ring: Collection[str]) -> None:
        private_folder(self._path.parent)
        lines = [_HEAD]
        if in_ring:
            named = ", ".join(f'"{each}"' for each in in_ring)
            lines.append(f"in_keyring = [{named}]\n")
        # Neither names nor keys hold anything that TOML would want escaped.
        lines += ["[keys]\n", *(f'{name} = "{key}"\n' for name, key in sorted(stored.items()))]
        put_private(self._path, "".join(lines))
        self._seen = None

    def _counts(self, name: str) -> bool:
        return self._variables is None or name in self._variables

    def _stored(self) -> tuple[dict[str, str], tuple[str, ...]]:
        try:
            found = self._path.stat()
            stamp: _Stamp | None = (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError:
            stamp = (0, 0, 0) if self._path.is_symlink() else None  # it leads nowhere
        if self._seen is None or self._seen[0] != stamp:
            self._from_ring = {}
            stored, in_ring, problem = _read(self._path) if stamp else ({}, (), "")
            self._seen = (
                stamp,
                {name: key for name, key in stored.items() if self._counts(name)},
                tuple(name for name in in_ring if self._counts(name)),
                problem,
            )
        return self._seen[1], self._seen[2]

    def _of_ring(self, name: str) -> str:
        if name not in self._from_ring:
            key = ""
            if (ring := _system_ring()) is not None:
                with suppress(Exception):
                    key = ring.get_password(self._service, name) or ""
            self._from_ring[name] = key if is_sound_key(key) else ""
        return self._from_ring[name]


def _read(path: Path) -> tuple[dict[str, str], tuple[str, ...], str]:
    """The keys, the names of those in the keyring, and what is wrong. Never a word of the file."""
    try:
        table = toml_table(text_at(path, most=MOST_BYTES, ours=True), str(path))
    except BadSetting as error:
        # What a parser says of a broken line may hold a part of a key.
        told = "valid TOML" if error.expected.startswith("valid TOML") else error.expected
        line = error.where.removeprefix(str(path)).lstrip(":")
        return {}, (), f"a file of keys: {told}" + (f" (line {line})" if line else "")
    except NewerFile:
        return {}, (), "one that this Roundtable knows; a newer Roundtable wrote it"
    if stray := next((key for key in table if key not in ("keys", "in_keyring")), None):
        return {}, (), f"nothing but in_keyring and [keys], not {stray!r}"
    keys, in_ring = table.get("keys", {}), table.get("in_keyring", [])
    if not isinstance(keys, dict) or not isinstance(in_ring, list):
        return {}, (), "the table [keys] of variables and keys"
    sound = {
        name: key
        for name, key in keys.items()
        if _VARIABLE.fullmatch(name) and isinstance(key, str) and is_sound_key(key)
    }
    names = tuple(each for each in in_ring if isinstance(each, str) and _VARIABLE.fullmatch(each))
    unsound = ", ".join(name for name in keys if name not in sound and _VARIABLE.fullmatch(name))
    return sound, names, f"a key without stray characters at {unsound}" if unsound else ""


def _system_ring() -> Ring | None:
    """The system's keyring, where the package is installed and has found a safe one."""
    try:
        module = import_module("keyring")
        # 1 and more are the real ones: below are those that fail, and those that hide nothing.
        good = float(module.get_keyring().priority) >= 1
    except Exception:  # it has many ways not to work on a machine, and none of them is our error
        return None
    ring: Ring = module
    return ring if good else None
