"""A folder, or a git repository: which of its files are worth reading.

What git ignores is left out, and so is what nobody wrote by hand, what is no text, what is huge,
and what by its name holds secrets. Links are not followed: they may lead anywhere. Each is counted.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from .ignored import Ignored, ignored_in
from .kinds import DOCUMENTS, PAGES
from .limits import DEEPEST, IN_A_FOLDER, LARGEST_IN_A_FOLDER, MOST_BYTES, MOST_ENTRIES

FOREIGN, SECRET, LINK, SPECIAL = (
    "not written by hand (installed, built or generated)",
    "with a name that suggests secrets",
    "linked",
    "special (pipes, sockets, devices)",
)
HUGE, EMPTY, NO_DOCUMENT, NOT_UTF8, UNOPENED, NO_ROOM, MORE = (
    "too large",
    "empty",
    "of an unsupported type",
    "not UTF-8 text",
    "that may not be read",
    "for which there was no more room",
    f"beyond the first {IN_A_FOLDER:,}",
)
_KEPT_BY = frozenset({".git", ".hg", ".svn"})
"""What keeps a repository is no file of it: it is not read, and not counted either."""
_FOREIGN_FOLDERS = frozenset(
    {"node_modules", "bower_components", "vendor", "third_party",
     "site-packages", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".ruff_cache",
     ".pytest_cache", ".gradle", ".idea", ".vscode", ".next", ".nuxt", ".terraform", "target",
     "dist", "build", "Pods", "DerivedData", ".cache", "coverage"}
)  # fmt: skip
_FOREIGN_FILES = (
    "*.min.js", "*.min.css", "*.map", "*.lock", "package-lock.json", "pnpm-lock.yaml", "go.sum",
    "npm-shrinkwrap.json", "*.pyc", ".DS_Store", "Thumbs.db",
)  # fmt: skip
_SECRET_FILES = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
    "*.ppk", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".npmrc",
    ".pypirc", ".htpasswd", ".pgpass", ".git-credentials", "credentials", "credentials.*",
    "secret.*", "secrets.*", "*.tfstate", "*.tfstate.*", "service-account*.json",
)  # fmt: skip
_HARMLESS = (".env.example", ".env.sample", ".env.template", ".env.dist")
_SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"})
_NO_TEXT = (
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp", ".tif", ".tiff", ".heic", ".mp3",
    ".mp4", ".mov", ".avi", ".mkv", ".wav", ".flac", ".ogg", ".zip", ".gz", ".bz2", ".xz", ".7z",
    ".rar", ".tar", ".tgz", ".jar", ".war", ".so", ".dll", ".dylib", ".exe", ".bin", ".o", ".a",
    ".class", ".wasm", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".db", ".sqlite", ".sqlite3",
    ".parquet", ".npy", ".npz", ".pkl", ".pt", ".onnx", ".gguf", ".safetensors", ".psd", ".iso",
    ".msi",
)  # fmt: skip


_NAMED = 3
"""Files of one kind that a line names beside their number."""


@dataclass
class Looked:
    """What a folder holds."""

    files: list[tuple[str, Path]] = field(default_factory=list)
    """To be read: the name within the folder, and the path."""
    left_out: Counter[str] = field(default_factory=Counter)
    empty: list[str] = field(default_factory=list)
    """The names of those that hold nothing but white space."""
    unfinished: bool = False
    """Whether it holds more than anybody could look through."""

    @property
    def line(self) -> str:
        """What was left out, in one line; "" if nothing."""
        left_out = self.left_out + Counter({EMPTY: len(self.empty)})
        told = [f"{count:,} {why}{self._names(why)}" for why, count in left_out.most_common()]
        if self.unfinished:
            told.append(f"whatever came after the first {MOST_ENTRIES:,} entries")
        return ", ".join(told)

    def _names(self, why: str) -> str:
        if why != EMPTY:
            return ""
        more = len(self.empty) - _NAMED
        named = ", ".join(self.empty[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        return f" ({named})"


def look_through(root: Path) -> Looked:
    """The files of a folder that are worth reading: those at the top first, then by name."""
    looked = Looked()
    entries = 0
    waiting = [(root, PurePosixPath(), ignored_in(root))]
    while waiting and not looked.unfinished:
        below: list[tuple[Path, PurePosixPath, Ignored]] = []
        for folder, name, above in waiting:
            ignored = above.within(folder, name)
            for entry in _entries(folder, looked):
                entries += 1
                if entries > MOST_ENTRIES:
                    looked.unfinished = True
                    break
                if entry.name in _KEPT_BY:
                    continue
                path = name / entry.name
                why = _left_out(entry, path, ignored)
                if why is not None:
                    looked.left_out[why] += 1
                elif entry.is_dir(follow_symlinks=False):
                    if len(path.parts) <= DEEPEST:
                        below.append((folder / entry.name, path, ignored))
                else:
                    looked.files.append((str(path), folder / entry.name))
        waiting = below
    looked.left_out[MORE] += max(0, len(looked.files) - IN_A_FOLDER)
    looked.left_out = +looked.left_out
    del looked.files[IN_A_FOLDER:]
    return looked


def _entries(folder: Path, looked: Looked) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            # Only so many are put in order as could ever be looked at.
            listed = [entry for _, entry in zip(range(MOST_ENTRIES + 1), found, strict=False)]
    except OSError:
        looked.left_out[UNOPENED] += 1
        return
    listed.sort(key=lambda entry: entry.name)
    yield from listed


def _left_out(entry: os.DirEntry[str], path: PurePosixPath, ignored: Ignored) -> str | None:
    if entry.is_symlink():
        return LINK
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return UNOPENED
    name, folder = entry.name, stat.S_ISDIR(status.st_mode)
    if name in (_FOREIGN_FOLDERS if folder else ()) or (not folder and _like(name, _FOREIGN_FILES)):
        return FOREIGN
    if (why := ignored.why(path, folder=folder)) is not None:
        return why
    if folder:
        return SECRET if name in _SECRET_FOLDERS else None
    if not stat.S_ISREG(status.st_mode):
        return SPECIAL
    if _like(name, _SECRET_FILES) and name not in _HARMLESS:
        return SECRET
    suffix = path.suffix.lower()
    if suffix in _NO_TEXT:
        return NO_DOCUMENT
    if suffix in DOCUMENTS:  # what is wrong with one is said by its name
        return None
    largest = MOST_BYTES if suffix in PAGES else LARGEST_IN_A_FOLDER
    return HUGE if status.st_size > largest else None


def _like(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name.lower(), each.lower()) for each in patterns)
