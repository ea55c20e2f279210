"""What Roundtable has stored on this machine: known by name, so that nothing else is touched."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..bundle.signing import KEY_FILE as BUNDLE_KEY
from ..ledger.rescue import OF_A_SERVER, SPARE
from ..ledger.rescue import SUFFIX as RESCUE
from ..ledger.sqlite_file import APPLICATION_ID
from ..leftovers import CALLS, SCRATCH
from ..models.weights import SMOLLM2
from ..private import NO_RIGHTS_TOLD
from ..project import PANELS_JSON
from ..provider_keys import FILE as PROVIDER_KEYS
from ..settings import (
    CONFIG_JSON,
    CONFIG_TOML,
    DATABASE,
    MODELS_TOML,
    Settings,
)
from ..trust import STORE as TRUST
from .tokens.store import FILE as TOKENS
from .tokens.store import LOCK as TOKENS_LOCK
from .web.found import LOG_FILE, STATE_FILE
from .web.links import KEY_FILE as WEB_KEY

DEMO = "demo"
"""Where `roundtable demo` leaves the document of its meeting."""
_WEB_LOCK = "web.lock"
_TEMPORARY = (SCRATCH, "roundtable-skill-", SPARE)
_BESIDE_A_DATABASE = ("", "-wal", "-shm", "-journal", ".v*.bak", ".v*.bak.*", RESCUE)
_OWN_SETTINGS = (
    CONFIG_TOML,
    CONFIG_JSON,
    PANELS_JSON,
    MODELS_TOML,
    "local_models.json",
    "roundtable_config.yaml",
    "experts",
    "procedures",
    TRUST,
)


@dataclass(frozen=True, slots=True)
class StoredFiles:
    """What is to go, and what stays although it lies beside it."""

    home: Path
    paths: tuple[Path, ...]
    kept: tuple[Path, ...]


def stored_files(settings: Settings, *, with_settings: bool = False) -> StoredFiles:
    """Everything that is ours, in the order in which it is removed."""
    home = settings.home
    ours = [
        *_database(settings),
        *sorted(home.glob(f"{OF_A_SERVER}*")),
        *_weights(home),
        *(
            home / name
            for name in (
                "cache",
                DEMO,
                CALLS,
                NO_RIGHTS_TOLD,
                STATE_FILE,
                LOG_FILE,
                _WEB_LOCK,
                WEB_KEY,
                BUNDLE_KEY,
                TOKENS,
                TOKENS_LOCK,
                PROVIDER_KEYS,
            )
        ),
        *(home / name for name in _OWN_SETTINGS if with_settings),
        *_temporary(),
    ]
    paths = [path for path in dict.fromkeys(ours) if path.is_symlink() or path.exists()]
    beside = sorted(home.iterdir()) if home.is_dir() else []
    kept = [path for path in beside if path not in paths and not _emptied(path, paths)]
    return StoredFiles(home, tuple(paths), tuple(kept))


def remove(found: StoredFiles) -> tuple[int, list[tuple[Path, str]]]:
    """Remove them; how many are gone, and which are not and why. No link is followed."""
    gone = 0
    failed: list[tuple[Path, str]] = []
    for path in found.paths:
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            gone += 1
        except OSError as error:
            failed.append((path, error.strerror or str(error)))
    for folder in (found.home / "models", found.home):
        _remove_if_empty(folder)
    return gone, failed


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()


def _emptied(path: Path, removed: list[Path]) -> bool:
    """Whether a folder holds nothing but what goes."""
    return path.is_dir() and not path.is_symlink() and set(path.iterdir()) <= set(removed)


def _database(settings: Settings) -> Iterator[Path]:
    """The file in use and what lies beside it. One that is not ours is left alone."""
    places = [settings.home / DATABASE]
    if "://" not in settings.db:
        places.append(Path(settings.db).expanduser().absolute())
    for place in dict.fromkeys(places):
        # Elsewhere, a file of this name may be anybody's.
        if place.is_file() and (place.parent == settings.home or is_ours(place)):
            for ending in _BESIDE_A_DATABASE:
                yield from sorted(place.parent.glob(_literal(place.name) + ending))


def _literal(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def is_ours(path: Path) -> bool:
    """Whether a file is a database of Roundtable, by its header."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    number = int.from_bytes(head[68:72], "big")
    return head.startswith(b"SQLite format 3\x00") and number == APPLICATION_ID


def _weights(home: Path) -> Iterator[Path]:
    path = SMOLLM2.path(home)
    yield path
    yield path.with_name(f"{path.name}.checked")
    yield from sorted(path.parent.glob(".fetch-*"))


def _temporary() -> Iterator[Path]:
    """Folders that a killed process has left behind. They are named so that they are told apart
    from everybody else's; those of other users are not ours to remove."""
    try:
        folder = Path(tempfile.gettempdir())
    except FileNotFoundError:  # it is found by writing, so a full disk has none
        return
    for beginning in _TEMPORARY:
        for path in sorted(folder.glob(f"{beginning}*")):
            if path.is_dir() and not path.is_symlink() and _mine(path):
                yield path


def _mine(path: Path) -> bool:
    import os

    owner = getattr(os, "getuid", None)
    return owner is None or path.stat().st_uid == owner()
