"""`--context-from`: an earlier roundtable, by its id or from its result file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.events import NoteAdded
from ..core.values import Material
from ..engine.find import means_discussion

OLD_ROOT = Path("clawd")
"""Where results were kept before, below the user's home."""
MAX_BYTES = 4_000_000
_SLUG = re.compile(r"\w[\w.-]{0,199}")


@dataclass(frozen=True, slots=True)
class Earlier:
    """What was found under the names of earlier discussions."""

    materials: tuple[Material, ...] = ()
    """From files of results."""
    discussions: tuple[str, ...] = ()
    """Those that the ledger is to be asked for."""
    notes: tuple[NoteAdded, ...] = ()


def find_earlier(names: Sequence[str], workspace: Path, home: Path | None = None) -> Earlier:
    """An id, the beginning of one with its `rt_`, `last` or `example:NAME` means a discussion;
    anything else is the name of a result file. One that is missing is noted, and keeps nobody
    from asking."""
    materials: list[Material] = []
    discussions: list[str] = []
    notes: list[NoteAdded] = []
    for name in dict.fromkeys(names):
        if material := prior_synthesis(name, workspace, home):
            materials.append(material)
        elif means_discussion(name):
            discussions.append(name)
        else:
            notes.append(
                NoteAdded(
                    code="context_from_missing",
                    text=f"There is no earlier roundtable {name!r}; this one goes on without it.",
                    remedy="Give the id of a discussion, `last`, or the name of a file in "
                    "memory/roundtables without .json.",
                )
            )
    return Earlier(tuple(materials), tuple(discussions), tuple(notes))


def prior_synthesis(slug: str, workspace: Path, home: Path | None = None) -> Material | None:
    """The synthesis in `[slug].json`, or None if there is no such file or none in it.

    The slug is a file's name without `.json`; without the date in front, the newest file of that
    topic is meant. Nothing outside the folders for results is read.
    """
    from ..views.adaptive import RESULTS
    from ..views.prior import PRIOR

    name = slug.removesuffix(".json")
    if not _SLUG.fullmatch(name):
        return None
    for root in (workspace, (home or Path.home()) / OLD_ROOT):
        for path in _files(root / RESULTS, name):
            text = _synthesis(path)
            if text:
                return Material(source=f"{PRIOR}: {path.stem}", text=text)
    return None


def _files(folder: Path, name: str) -> Iterator[Path]:
    try:
        root = folder.resolve()
        dated = sorted(folder.glob(f"????-??-??-{name}.json"), reverse=True)
        for path in (folder / f"{name}.json", *dated):
            if path.resolve().is_relative_to(root) and path.is_file():
                yield path
    except OSError:
        return


def _synthesis(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            return ""
        document = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return ""
    found = document.get("synthesis") if isinstance(document, dict) else None
    return found.strip() if isinstance(found, str) else ""
