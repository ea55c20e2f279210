"""What git ignores in a folder.

Git itself is asked, if it is there: which files are tracked although a pattern says otherwise, and
what the user ignores everywhere, only git knows. It must not heed the repository's own settings,
which may name programs to be run; so it is given settings of ours, and of the repository only its
index and its list of excluded files. Without git, and outside of repositories, the patterns of
`.gitignore` are read here.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from subprocess import DEVNULL, SubprocessError, TimeoutExpired
from typing import TYPE_CHECKING, Protocol

from ..programs import child
from .limits import DEEPEST, LARGEST_IN_A_FOLDER, MOST_ENTRIES

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

BY_GIT, BY_PATTERN = "ignored by git", "matched by a .gitignore"
_HERE = PurePosixPath()
_REPOSITORIES = 50
"""How many of those that lie in a folder git is asked about."""
_SECONDS = 20.0
_BYTES = 200 * MOST_ENTRIES
"""Of its answer: what would not fit is not looked at either."""
_HANDED_ON = ("PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SYSTEMROOT", "LD_LIBRARY_PATH")
"""Of the environment: what git needs to start and to find what the user ignores everywhere."""
_CASELESS = str(sys.platform in ("darwin", "win32")).lower()
_LIST = (
    "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
    "-c", f"core.ignoreCase={_CASELESS}",
    "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z",
)  # fmt: skip


class Ignored(Protocol):
    """What is ignored in one folder and below it."""

    def why(self, path: PurePosixPath, *, folder: bool) -> str | None:
        """Why this is ignored; None if it is not. Paths are seen from where it began."""

    def within(self, folder: Path, name: PurePosixPath) -> Ignored:
        """What holds in a folder below."""


def ignored_in(root: Path, env: Mapping[str, str] | None = None) -> Ignored:
    """What is ignored in a folder that somebody named, whether or not that is ignored itself."""
    asking = _Asking(os.environ if env is None else env)
    root = root.absolute()
    above = list(root.parents)[:DEEPEST]
    top = next((each for each in (root, *above) if _keeps(each)), None)
    if top is not None and (listed := asking.about(root, top)) is not None:
        return _Listed(_HERE, listed, asking)
    return _Patterns(tuple(_inherited(root, top)), asking)


# --- by git ---------------------------------------------------------------------------------------


@dataclass
class _Asking:
    """Asks git, so many times at most."""

    env: Mapping[str, str]
    left: int = _REPOSITORIES

    def about(self, folder: Path, top: Path) -> frozenset[str] | None:
        """What git ignores in a folder of the repository `top`, folders with a slash at their end;
        None if it cannot be asked. Both paths are full ones."""
        if not self.left:
            return None
        self.left -= 1
        try:
            told = _asked(folder, top, self.env)
        except TimeoutExpired:  # somebody may have seen to it
            self.left = 0
            return None
        except (OSError, ValueError, SubprocessError):
            return None
        within = "" if folder == top else f"{folder.relative_to(top).as_posix()}/"
        names = os.fsdecode(told).split("\0")
        return frozenset(each.removeprefix(within) for each in names if each.startswith(within))


def _asked(folder: Path, top: Path, given: Mapping[str, str]) -> bytes:
    """What git lists, seen from the top. OSError, ValueError or SubprocessError if it does not."""
    kept = _kept(top)
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryFile() as told:
        ours = Path(made)
        for name in ("objects", "refs", "info"):
            (ours / name).mkdir()
        (ours / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
        (ours / "info" / "exclude").write_text("\n".join(_excluded(kept)), "utf-8")
        env = {name: given[name] for name in _HANDED_ON if name in given} | {
            "GIT_DIR": str(ours),
            "GIT_WORK_TREE": str(top),
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
        }
        if _is_file(kept / "index"):
            env["GIT_INDEX_FILE"] = str(kept / "index")
        ended = child(("git", "-C", str(top), *_LIST, "--", str(folder)), env).run(
            stdin=DEVNULL, stdout=told, stderr=DEVNULL, timeout=_SECONDS
        )
        ended.check_returncode()
        told.seek(0)
        return told.read(_BYTES)


def _keeps(folder: Path) -> bool:
    return os.path.lexists(folder / ".git")


def _kept(top: Path) -> Path:
    """Where a repository keeps what is known of its files. A second work tree, or a part of another
    repository, has a file there that says where it is. ValueError if it does not."""
    at = top / ".git"
    if at.is_dir():
        return at
    line = next(iter(_lines(at)), "")
    if not line.startswith("gitdir: "):
        raise ValueError("no repository")
    return _led(top, line.removeprefix("gitdir: "))


def _excluded(kept: Path) -> list[str]:
    common = next(iter(_lines(kept / "commondir")), "")
    return _lines(_led(kept, common) / "info" / "exclude")


def _led(base: Path, where: str) -> Path:
    """Where a file of a repository leads. ValueError for another machine: it would be called."""
    if where.strip().replace("\\", "/").startswith("//"):
        raise ValueError("on another machine")
    return base / where.strip()


@dataclass(frozen=True, slots=True)
class _Listed:
    """As git said of one repository."""

    root: PurePosixPath
    listed: frozenset[str]
    asking: _Asking

    def why(self, path: PurePosixPath, *, folder: bool) -> str | None:
        seen = f"{path.relative_to(self.root)}{'/' if folder else ''}"
        return BY_GIT if seen in self.listed else None

    def within(self, folder: Path, name: PurePosixPath) -> Ignored:
        if name == self.root or not _keeps(folder):
            return self
        return _nested(folder, name, self.asking)


def _nested(folder: Path, name: PurePosixPath, asking: _Asking) -> Ignored:
    """What a repository within another folder ignores: nobody else's patterns hold there."""
    listed = asking.about(folder.absolute(), folder.absolute())
    if listed is not None:
        return _Listed(name, listed, asking)
    return _Patterns(tuple(_patterns(folder, name)), asking)


# --- by patterns ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The patterns of one file, which hold below the folder that it lies in."""

    folder: PurePosixPath
    up: PurePosixPath
    """From that folder to the one that is looked through, if it lies above."""
    spec: GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class _Patterns:
    """As the files named .gitignore say."""

    files: tuple[_Pattern, ...]
    asking: _Asking

    def why(self, path: PurePosixPath, *, folder: bool) -> str | None:
        # The last pattern that says something holds.
        for each in reversed(self.files):
            seen = each.up / path.relative_to(each.folder)
            said = each.spec.check_file(f"{seen}/" if folder else str(seen)).include
            if said is not None:
                return BY_PATTERN if said else None
        return None

    def within(self, folder: Path, name: PurePosixPath) -> Ignored:
        if name != _HERE and _keeps(folder):
            return _nested(folder, name, self.asking)
        return replace(self, files=(*self.files, *_patterns(folder, name)))


def _patterns(folder: Path, name: PurePosixPath, up: PurePosixPath = _HERE) -> list[_Pattern]:
    found = []
    for file in (folder / ".git" / "info" / "exclude", folder / ".gitignore"):
        lines = [_inside(line) for line in _lines(file)]
        if lines:
            from pathspec import GitIgnoreSpec

            found.append(_Pattern(name, up, GitIgnoreSpec.from_lines(lines)))
    return found


def _inside(line: str) -> str:
    """What ends in /** means what lies in a folder, and not the folder: that is looked into, since
    a later pattern may want some of it back."""
    return f"{line.rstrip()}/*" if line.rstrip().endswith("/**") else line


def _inherited(root: Path, top: Path | None) -> Sequence[_Pattern]:
    """What the folders above say, up to the repository that a folder is a part of."""
    above = [] if top in (None, root) else root.parents[: root.parents.index(top) + 1]
    return [
        found
        for folder in reversed(above)
        for found in _patterns(folder, _HERE, PurePosixPath(root.relative_to(folder).as_posix()))
    ]


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _lines(file: Path) -> list[str]:
    try:
        if not _is_file(file) or file.stat().st_size > LARGEST_IN_A_FOLDER:
            return []
        return file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
