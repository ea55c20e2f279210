"""`--context-from`: the synthesis of an earlier roundtable, from its result file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ..core.values import Material
from ..procedures.adaptive.options import PRIOR

OLD_ROOT = Path("clawd")
"""Where results were kept before, below the user's home."""
MAX_BYTES = 4_000_000
_SLUG = re.compile(r"\w[\w.-]{0,199}")


def prior_synthesis(slug: str, workspace: Path, home: Path | None = None) -> Material | None:
    """The synthesis in `[slug].json`, or None if there is no such file or none in it.

    The slug is a file's name without `.json`; without the date in front, the newest file of that
    topic is meant. Nothing outside the folders for results is read.
    """
    from ..views.adaptive import RESULTS

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
