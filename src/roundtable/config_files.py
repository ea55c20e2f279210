"""Reading the files that people write: one reader for all of them.

Whatever such a file may be instead (a folder, a pipe, a link that leads nowhere, a film, another
program's text, one of a newer Roundtable), what comes of it is one error that names the file, the
place in it and what to do. Nothing here writes.
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import stat
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

from .core.errors import BadSetting, NewerFile, UnknownName

MOST_BYTES = 1_000_000
"""No file of settings is larger: what is larger is something else."""
MOST_DEEP = 64
"""Nothing of settings is nested deeper."""
VERSION = 1
"""The form of all files of settings; a file that does not say has this one."""
WHOLE = "the file"
"""In place of a key, where it is the file that is wrong and not a line of it."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_EVERYBODY_WRITES = stat.S_IWOTH


def contents(path: Path, *, most: int = MOST_BYTES, ours: bool = False) -> bytes | None:
    """What a file says; None if there is none. BadSetting if it is no readable file, or too large.

    `ours`: it may say which programs run, where keys go or what models are told, so one that
    somebody else owns, or that everybody could have written, does not count.
    """
    where = str(path)
    try:
        # A pipe would be waited for, so it is opened without waiting and looked at first.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            found = f"a link to a file; {path.readlink()} is not there"
            raise BadSetting(where, WHOLE, found, "Fix the link or remove it.") from None
        return None
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        found_at = os.fstat(descriptor)
        if not stat.S_ISREG(found_at.st_mode):
            kind = _kind(found_at.st_mode)
            raise BadSetting(where, WHOLE, f"a file; {kind} is there", "Move it away.")
        if ours:
            _refuse_others(path, found_at)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(most + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    finally:
        os.close(descriptor)
    if len(data) > most:
        told = f"at most {most / 1e6:g} MB; it has {found_at.st_size / 1e6:,.1f}"
        raise BadSetting(where, WHOLE, told, "It is not a file of settings: move it away.")
    return data


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device or socket"


def refuse_home(home: Path) -> None:
    """BadSetting if the folder of all these files is closed to us, or somebody else's, who could
    put any file there: it is one matter, and not one of each file that could be in it."""
    if not os.access(home, os.F_OK):
        return
    closed = not os.access(home, os.R_OK | os.X_OK)
    owner = home.stat().st_uid
    foreign = _is_anothers(owner)
    if closed or foreign:
        told = "a folder that you may read" if closed else "a folder of yours"
        whose = f"; it belongs to another user ({owner})" if foreign else ""
        remedy = "Name a folder of yours with ROUNDTABLE_HOME, or ask its owner."
        raise BadSetting(str(home), "the home", f"{told}{whose}", remedy)


def _is_anothers(owner: int) -> bool:
    """Whether it belongs neither to us nor to root, who can change everything anyway."""
    return sys.platform != "win32" and owner not in (os.geteuid(), 0)


def unreadable(path: Path, error: OSError) -> BadSetting:
    """The error for a file that the system does not let us read."""
    remedy = "Make it readable for yourself, or remove it."
    if error.errno == errno.ELOOP:
        remedy = "Fix the link or remove it."
    return BadSetting(str(path), WHOLE, f"a readable file ({error.strerror})", remedy)


def _refuse_others(path: Path, found: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    where = str(path)
    if _is_anothers(found.st_uid):
        told = f"a file of yours; it belongs to another user ({found.st_uid}), who could change it"
        remedy = "Read it, then make it yours with chown; or remove it."
        raise BadSetting(where, WHOLE, told, remedy)
    if found.st_mode & _EVERYBODY_WRITES and _closed(path, found):
        told = "a file that only you can write; everybody could"
        remedy = "It is closed to others now: read whether it still says what you wrote, run again."
        raise BadSetting(where, WHOLE, told, remedy)


def _closed(path: Path, found: os.stat_result) -> bool:
    """Whether it can be closed to others: where it cannot, the file system knows no rights, and
    everything there looks open to everybody."""
    try:
        path.chmod(stat.S_IMODE(found.st_mode) & ~(_EVERYBODY_WRITES | stat.S_IWGRP))
        return not path.stat().st_mode & _EVERYBODY_WRITES
    except OSError:
        return False


def text_of(data: bytes, where: str) -> str:
    """A file's text. BadSetting if it is none."""
    try:
        text = data.decode("utf-8-sig")  # Windows editors like to begin with a mark
    except UnicodeDecodeError as error:
        if data.startswith(_UTF_16):
            raise BadSetting(where, WHOLE, _IS_UTF_16, "Save it as UTF-8.") from None
        told = f"UTF-8 text; what begins at byte {error.start + 1} is something else"
        raise BadSetting(where, WHOLE, told, "Save it as UTF-8, or move it away.") from None
    if "\0" in text:
        remedy = "Save it as UTF-8, or move it away."
        raise BadSetting(where, WHOLE, "UTF-8 text (it holds zero bytes)", remedy)
    return text


_IS_UTF_16 = "UTF-8 text; it is UTF-16"


def text_at(path: Path, *, most: int = MOST_BYTES, ours: bool = False) -> str:
    """A file's text; empty if there is no such file. BadSetting as in `contents` and `text_of`."""
    data = contents(path, most=most, ours=ours)
    return "" if data is None else text_of(data, str(path))


def toml_table(text: str, where: str, *, versioned: bool = True) -> dict[str, Any]:
    """The table that a TOML file holds. BadSetting with the line; NewerFile, unless its `version`
    is not ours to read."""
    try:
        table = tomllib.loads(text)
    except ValueError as error:
        told = _said(error, tomllib.TOMLDecodeError)
        raise BadSetting(_at(where, told), WHOLE, f"valid TOML ({told})") from None
    except RecursionError:
        raise _too_deep(where) from None
    _refuse_odd(table, where)
    return known_version(table, where) if versioned else table


def json_object(text: str, where: str) -> dict[str, Any]:
    """The object that a JSON file holds; an empty file holds an empty one. Errors as above."""
    try:
        values = json.loads(text if text.strip() else "{}")
    except ValueError as error:
        told = _said(error, json.JSONDecodeError)
        raise BadSetting(_at(where, told), WHOLE, f"valid JSON ({told})") from None
    except RecursionError:
        raise _too_deep(where) from None
    _refuse_odd(values, where)
    if not isinstance(values, dict):
        raise BadSetting(where, WHOLE, "a JSON object")
    return known_version(values, where)


def _said(error: ValueError, own: type[ValueError]) -> str:
    """What a parser says is wrong; what it only passes on is a number that Python does not read."""
    return str(error) if isinstance(error, own) else "a number in it has thousands of digits"


def _refuse_odd(whole: object, where: str) -> None:
    """BadSetting for what no settings hold, and nobody after the reader expects: numbers without
    end, and tables within tables without end."""
    left: list[tuple[str, object, int]] = [("", whole, 0)]
    while left:
        key, value, depth = left.pop()
        if isinstance(value, float) and not isfinite(value):
            raise BadSetting(where, key or WHOLE, "a finite number")
        if not isinstance(value, dict | list):
            continue
        if depth == MOST_DEEP:
            raise _too_deep(where)
        inner = value.items() if isinstance(value, dict) else ((None, each) for each in value)
        left += [
            (key if name is None else f"{key}.{name}".lstrip("."), each, depth + 1)
            for name, each in inner
        ]


def _too_deep(where: str) -> BadSetting:
    told = f"at most {MOST_DEEP} tables and lists within each other"
    return BadSetting(where, WHOLE, told, "It is not a file of settings: move it away.")


def known_version(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The table without its `version`. NewerFile if it is one that this Roundtable does not know:
    what it means cannot be guessed, and nothing may be written over it."""
    rest = dict(table)
    found = rest.pop("version", VERSION)
    if isinstance(found, bool) or not isinstance(found, int):
        raise BadSetting(where, "version", f"the number {VERSION}")
    if found > VERSION:
        raise NewerFile(where, found, VERSION)
    return rest


def _at(where: str, told: str) -> str:
    line = re.search(r"\bline (\d+)", told)
    return f"{where}:{line[1]}" if line else where


@contextmanager
def placed(text: str, where: str) -> Iterator[None]:
    """Errors about a key of this file name its line as well."""
    try:
        yield
    except BadSetting as error:
        if error.where != where or error.key == WHOLE or not (line := line_of(text, error.key)):
            raise
        raise BadSetting(f"{where}:{line}", error.key, error.expected, error.remedy) from None
    except UnknownName as error:
        if error.kind != f"key in {where}:" or not (line := line_of(text, error.name)):
            raise
        kind = f"key in {where}:{line}:"
        raise UnknownName(kind, error.name, remedy=error.remedy) from None


def line_of(text: str, key: str) -> int:
    """The line on which a dotted key of a JSON or TOML text stands, or the nearest table that it
    is in; 0 if it is not found."""
    begin, found = 0, 0
    lines = text.splitlines()
    for name in key.split("."):
        quoted = re.escape(name)
        pattern = re.compile(
            rf"""^\s*\[+[^\[\]]*\b{quoted}["']?\s*\]+|(?:^|[\[{{.,\s])["']?{quoted}["']?\s*[:=.]"""
        )
        for number in range(begin, len(lines)):
            if pattern.search(lines[number]):
                begin, found = number, number + 1
                break
        else:
            break
    return found
