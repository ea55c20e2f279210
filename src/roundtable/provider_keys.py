"""The keys of model providers that were entered in the set-up or on the page, by their variables.

They lie in `keys.toml` in the program's home, for its owner alone, or in the system's keyring where
the package `keyring` finds a real one; the file then only says which are there. Beside each stands
the address that it was entered for: it goes nowhere else (`models/keyed.py`). A variable of the
environment is stronger than a key that is kept here. A file that was changed counts at once, also
for a process that began before. Nobody shows a key again: it can be used, replaced and removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Literal, Protocol

from .config_files import WHOLE, line_of, text_at, toml_table
from .core.addresses import wrong_address
from .core.errors import BadSetting, NewerFile, UsageError
from .private import private_folder, put_private

FILE = "keys.toml"
LONGEST_KEY = 4_000
MOST_BYTES = 1_000_000
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,79}")
BARE_ADDRESS = "an address of a server without a user, a password and a query"
REMEDY = "The stored keys are ignored: correct the file, or remove it and run roundtable setup."
NEWER = "one that this Roundtable knows; a newer Roundtable wrote it"
UPGRADE = "The stored keys are ignored. Upgrade Roundtable; the file was not changed."
_HEAD = (
    "# Keys of model providers, entered in Roundtable, and the addresses that they are for. Only "
    "you can read this file.\n"
)
_TABLES = ("keys", "in_keyring", "addresses")

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


def is_sound_address(address: str) -> bool:
    """Whether it can be the address of a server, as it is kept: without a user or a password."""
    bare = is_sound_key(address) and not set(address) & set("@?#")
    return bare and not wrong_address(address)


@dataclass(frozen=True, slots=True)
class _Contents:
    """What the file holds, by the variables of keys."""

    keys: Mapping[str, str] = field(default_factory=dict)
    in_ring: tuple[str, ...] = ()
    addresses: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


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
        self._seen: tuple[_Stamp | None, _Contents] | None = None
        self._from_ring: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        stored = self._stored()
        if name in stored.keys:
            return stored.keys[name]
        if name in stored.in_ring and (key := self._of_ring(name)):
            return key
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        stored = self._stored()
        return iter({**stored.keys, **dict.fromkeys(stored.in_ring)})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"ProviderKeys({sorted(self)})"

    @property
    def problem(self) -> str:
        """Why the file does not count; empty if it does, or is not there."""
        return self._stored().problem

    @property
    def trouble(self) -> BadSetting | None:
        """The error for whoever would speak with a stored key: it names the file and what to do."""
        if not self.problem:
            return None
        remedy = UPGRADE if self.problem == NEWER else REMEDY
        return BadSetting(str(self._path), "the file", self.problem, remedy)

    def check(self) -> None:
        """Raise the trouble, if there is any."""
        if (trouble := self.trouble) is not None:
            raise trouble

    def kept(self, name: str) -> Kept | None:
        """Where a key is kept; None if none is."""
        stored = self._stored()
        return "file" if name in stored.keys else "keyring" if name in stored.in_ring else None

    @property
    def addresses(self) -> Mapping[str, str]:
        """The address that a key was entered for, by its variable; also of servers that want no
        key. A key without one is for its provider's own."""
        return self._stored().addresses

    @property
    def place(self) -> Kept:
        """Where the next key would be kept."""
        return "file" if _system_ring() is None else "keyring"

    def put(self, name: str, key: str, address: str = "") -> Kept:
        """Keep a key, and the address that it is for, in place of the one before; without a key, a
        server that wants none. UsageError if it cannot be one, BadSetting if the file is somebody's
        own and cannot be read."""
        if not _VARIABLE.fullmatch(name) or not self._counts(name):
            raise UsageError(
                f"{name!r} is not the variable of a provider's key.", "Choose a provider."
            )
        if not is_sound_key(key) and (key or not address):
            raise UsageError(
                "That is not a key: it contains spaces, quotation marks, line breaks or letters no "
                f"key has, or is longer than {LONGEST_KEY:,} characters.",
                "Copy only the key, and try again.",
            )
        if address and not is_sound_address(address):
            raise UsageError(
                "That is not the address of a server.",
                "It begins with http:// or https:// and contains no user, password or query.",
            )
        with self._writing:
            before = self._without(name)
            place: Kept = "file"
            if key and (ring := _system_ring()) is not None:
                # A ring that is locked, or that nobody can open here, is as good as none.
                with suppress(Exception):
                    ring.set_password(self._service, name, key)
                    place = "keyring"
            keys = {**before.keys, name: key} if key and place == "file" else before.keys
            in_ring = (*before.in_ring, name) if place == "keyring" else before.in_ring
            addresses = {**before.addresses, name: address} if address else before.addresses
            self._write(_Contents(keys, in_ring, addresses))
            return place

    def remove(self, name: str) -> bool:
        """Forget a key and its address; whether there was one."""
        with self._writing:
            left = self._without(name)
            stored = self._stored()
            if name not in {*stored.keys, *stored.in_ring, *stored.addresses}:
                return False
            if name in stored.in_ring and (ring := _system_ring()) is not None:
                with suppress(Exception):  # it is gone from there already
                    ring.delete_password(self._service, name)
            self._write(left)
            return True

    def _without(self, name: str) -> _Contents:
        """What the file holds beside this."""
        self.check()
        # Also those of variables that nobody asks for now: they are not ours to lose.
        stored = _read(self._path)
        return _Contents(
            {each: key for each, key in stored.keys.items() if each != name},
            tuple(each for each in stored.in_ring if each != name),
            {each: address for each, address in stored.addresses.items() if each != name},
        )

    def _write(self, stored: _Contents) -> None:
        private_folder(self._path.parent)
        lines = [_HEAD]
        if stored.in_ring:
            named = ", ".join(f'"{each}"' for each in sorted(stored.in_ring))
            lines.append(f"in_keyring = [{named}]\n")
        # Neither names nor keys nor addresses hold anything that TOML would want escaped.
        lines += ["[keys]\n", *(f'{name} = "{key}"\n' for name, key in sorted(stored.keys.items()))]
        if stored.addresses:
            lines.append("[addresses]\n")
        lines += (f'{name} = "{each}"\n' for name, each in sorted(stored.addresses.items()))
        put_private(self._path, "".join(lines))
        self._seen = None

    def _counts(self, name: str) -> bool:
        return self._variables is None or name in self._variables

    def _stored(self) -> _Contents:
        try:
            found = self._path.stat()
            stamp: _Stamp | None = (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError:
            stamp = (0, 0, 0) if self._path.is_symlink() else None  # it leads nowhere
        if self._seen is None or self._seen[0] != stamp:
            self._from_ring = {}
            whole = _read(self._path) if stamp else _Contents()
            counting = replace(
                whole,
                keys={name: key for name, key in whole.keys.items() if self._counts(name)},
                in_ring=tuple(name for name in whole.in_ring if self._counts(name)),
                addresses={n: each for n, each in whole.addresses.items() if self._counts(n)},
            )
            self._seen = (stamp, counting)
        return self._seen[1]

    def _of_ring(self, name: str) -> str:
        if name not in self._from_ring:
            key = ""
            if (ring := _system_ring()) is not None:
                with suppress(Exception):
                    key = ring.get_password(self._service, name) or ""
            self._from_ring[name] = key if is_sound_key(key) else ""
        return self._from_ring[name]


def _read(path: Path) -> _Contents:
    """The keys, the names of those in the keyring, the addresses, and what is wrong. Never a word
    of the file."""
    text = ""
    try:
        text = text_at(path, most=MOST_BYTES, ours=True)
        table = toml_table(text, str(path))
    except BadSetting as error:
        # What a parser says of a broken line may hold a part of a key.
        told = "valid TOML" if error.expected.startswith("valid TOML") else error.expected
        if error.key != WHOLE:
            told = f"{told} at {error.key}"
        line = error.where.removeprefix(str(path)).lstrip(":")
        return _Contents(problem=told + (f" (line {line})" if line else ""))
    except NewerFile:
        return _Contents(problem=NEWER)
    if stray := next((key for key in table if key not in _TABLES), None):
        return _Contents(problem=f"nothing but in_keyring, [keys] and [addresses], not {stray!r}")
    keys, in_ring = table.get("keys", {}), table.get("in_keyring", [])
    addresses = table.get("addresses", {})
    if not (isinstance(keys, dict) and isinstance(in_ring, list) and isinstance(addresses, dict)):
        return _Contents(problem="the tables [keys] and [addresses] by variables")
    names = tuple(each for each in in_ring if isinstance(each, str) and _VARIABLE.fullmatch(each))
    sound, unsound = _sound(keys, is_sound_key)
    places, odd = _sound(addresses, is_sound_address)
    problem = f"a key without stray characters at {', '.join(unsound)}" if unsound else ""
    if odd:
        first, at = addresses[odd[0]], line_of(text, f"addresses.{odd[0]}")
        expected = wrong_address(first) if isinstance(first, str) else ""
        problem = f"{expected or BARE_ADDRESS} at {', '.join(odd)} (line {at})"
    # A key whose address cannot be read must not go to another one.
    return _Contents(
        {name: key for name, key in sound.items() if name not in odd},
        tuple(name for name in names if name not in odd),
        places,
        problem,
    )


def _sound(
    table: Mapping[str, object], fits: Callable[[str], bool]
) -> tuple[dict[str, str], list[str]]:
    """The rows that can be what they should be, and the names of the others."""
    named = {name: value for name, value in table.items() if _VARIABLE.fullmatch(name)}
    sound = {name: text for name, text in named.items() if isinstance(text, str) and fits(text)}
    return sound, [name for name in named if name not in sound]


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
