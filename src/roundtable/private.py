"""What lies in the program's home is the user's alone: folders 0700, files 0600.

They are made so from the start, by the mode they are opened with: a file that is closed to others
only after it was written could have been opened by them meanwhile. The process's umask is left as
it is, because files in the workspace and those of programs that we start are not ours to close.
On Windows, and on file systems without modes, all of this does nothing and disturbs nothing; of
the latter a line tells.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

FILE = 0o600
FOLDER = 0o700
_OTHERS = 0o077
_MODES = sys.platform != "win32"
_SURELY_OURS = (
    "roundtable.db*",
    "web.key",
    "bundle.key",
    "tokens.json",
    "keys.toml",
    "trust.json",
    "web.log",
    "driving.log",
)

_READ_WITH_CARE = (
    "config.toml",
    "config.json",
    "models.toml",
    "local_models.json",
    "roundtable_config.yaml",
    "keys.toml",
    "tokens.json",
    "trust.json",
)
"""Their reader must see that everybody could write them: it refuses them once and closes them."""

NO_RIGHTS_TOLD = ".no-access-rights"
"""Says that it was said."""

_kept: set[Path] = set()
"""The homes of this process. A file that the user wants written somewhere is closed to others if
that is in one of them, and those who write it know of no settings."""


def private_opener(path: str, flags: int) -> int:
    """For `open(…, opener=private_opener)`: a file that is made is its owner's alone."""
    return os.open(path, flags, FILE)


def opener_at(path: Path) -> Callable[[str, int], int] | None:
    """The opener for a file that the user chose a place for: private within a home of ours, and
    otherwise None, as the user's umask says."""
    real = Path(os.path.realpath(path))
    return None if _kept.isdisjoint((real, *real.parents)) else private_opener


def private_folder(path: Path) -> None:
    """Make a folder with all that lead to it; what is made is its owner's alone."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    for each in reversed(missing):
        with suppress(FileExistsError):
            each.mkdir(FOLDER)
    path.mkdir(FOLDER, exist_ok=True)  # says so if something else than a folder is there


def put_private(path: Path, text: str) -> None:
    """Write a file whole or not at all, in place of what was there."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    try:
        with open(fresh, "x", encoding="utf-8", opener=private_opener) as file:
            file.write(text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def put_key(path: Path, text: str) -> None:
    """Put a key in place as a whole or not at all, and never over another: of two processes that
    begin together, one key stays."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        with open(fresh, "x", encoding="ascii", opener=private_opener) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # somebody else was first: theirs it is
            try:
                os.link(fresh, path)
            except FileExistsError:
                raise
            except OSError:  # no hard links there; what exists is still not replaced
                with open(path, "x", encoding="ascii", opener=private_opener) as file:
                    file.write(text)
    finally:
        fresh.unlink(missing_ok=True)


def touch_private(path: Path) -> None:
    """Make an empty file for somebody who would make it for everybody (SQLite gives what it writes
    beside a database the database's own mode). One that exists stays as it is; whoever opens it
    next says why it cannot be made."""
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE))


def _on_stderr(line: str) -> None:
    with suppress(OSError, ValueError, AttributeError):  # closed, or not there at all
        print(line, file=sys.stderr)  # noqa: T201


def keep_private(home: Path, say: Callable[[str], None] = _on_stderr) -> None:
    """Close what others of this machine could look into, and say so in one line.

    No link is followed. Where the file system knows no modes, that is said once for each home:
    there would be no end to it.
    """
    home = Path(os.path.realpath(home))
    _kept.add(home)
    if not _MODES:
        return
    # What lies in a closed folder nobody else could read, whatever its own mode.
    reached = _lets_others_in(home)
    if [path for path in _to_close(home) if _close(path)] and reached:
        say(f"Note: other users of this machine could read {home}; it is closed to them now.")
    if open_to_others(home) and _is_first(home / NO_RIGHTS_TOLD):
        say(
            f"Note: {home} is on a file system without access rights: other users of this "
            "machine may be able to read it. ROUNDTABLE_HOME chooses another place."
        )


def open_to_others(home: Path) -> bool:
    """Whether others can look into a home of ours although we would not have it."""
    try:
        found = home.stat()
        return (
            _MODES
            and bool(found.st_mode & _OTHERS)
            and found.st_uid == os.geteuid()
            and not _is_shared(home)
        )
    except OSError:
        return False


def _lets_others_in(home: Path) -> bool:
    try:
        return bool(home.stat().st_mode & _OTHERS)
    except OSError:
        return False


def _is_first(mark: Path) -> bool:
    """Whether nobody left this mark before; it is there now."""
    try:
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE))
    except OSError:
        return False
    return True


def _to_close(home: Path) -> Iterator[Path]:
    try:
        shared = _is_shared(home)
        inside = sorted(home.iterdir())
    except OSError:  # not there yet, or not ours to read
        return
    if not shared:
        yield home
    for path in inside:
        if not shared or any(fnmatch(path.name, pattern) for pattern in _SURELY_OURS):
            yield path


def _is_shared(home: Path) -> bool:
    """Whether a folder serves others too, like /tmp or the user's own home: it is not closed, and
    only what is surely ours in it is."""
    if home.stat().st_mode & stat.S_ISVTX:
        return True
    try:
        return Path(os.path.realpath(Path.home())).is_relative_to(home)
    except RuntimeError:  # nobody knows where the user's home is
        return False


def _close(path: Path) -> bool:
    """Whether it was open to others, and is not any more."""
    try:
        before = path.lstat()
        kind = stat.S_ISREG(before.st_mode) or stat.S_ISDIR(before.st_mode)
        if not kind or not before.st_mode & _OTHERS or before.st_uid != os.geteuid():
            return False
        left = stat.S_IWOTH if path.name in _READ_WITH_CARE else 0
        if not before.st_mode & _OTHERS & ~left:
            return False
        path.chmod(stat.S_IMODE(before.st_mode) & ~(_OTHERS & ~left))
        return not path.lstat().st_mode & _OTHERS & ~left
    except OSError:
        return False
