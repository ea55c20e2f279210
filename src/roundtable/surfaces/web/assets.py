"""The page's files: which there are, in which order they are needed, and the shell that asks for
them."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from posixpath import dirname, join, normpath

PAGE = Path(__file__).parent / "page"
ENTRY = "app.js"
HOME = "list/home.js"
"""The owner's pages: a discussion does without them, and they are imported when they are shown."""
STYLES = (
    "style.css",
    "decision.css",
    "live.css",
    "reading.css",
    "going-on.css",
    "start.css",
    "list.css",
    "print.css",
)
"""What several parts share comes first; what paper needs comes last."""
LANGUAGES = ("de", "es", "zh")
"""The languages of the interface beside English, each a file of words."""
IMPORT = re.compile(r"""import\s*(?:(\w+)|\{([^}]*)\})\s*from\s*["']([^"']+)["'];?""")


@cache
def asset(name: str) -> str:
    """The text of one of the page's files."""
    found = files(__package__) / "page"
    for part in name.split("/"):
        found = found / part
    return found.read_text("utf-8")


def resolved(importer: str, target: str) -> str:
    """`./x.js` or `../x.js` as its importer means it."""
    return normpath(join(dirname(importer), target))


@cache
def modules(*entries: str) -> tuple[str, ...]:
    """The modules of one discussion, or of other entries, each after those that it needs."""
    order: dict[str, None] = {}
    seen: set[str] = set()
    for each in entries or (ENTRY,):
        _add(each, order, seen)
    return tuple(order)


def _add(name: str, order: dict[str, None], seen: set[str]) -> None:
    if name in seen:
        return
    seen.add(name)
    for _, _, target in IMPORT.findall(asset(name)):
        _add(resolved(name, target), order, seen)
    order[name] = None


@cache
def shell(*more: str) -> str:
    """The page before anything is in it, with `more` entries than a discussion needs. Every module
    is asked for at once, not one by one as they import each other."""
    links = [f'<link rel="stylesheet" href="/assets/{each}">' for each in STYLES]
    links += [
        f'<link rel="modulepreload" href="/assets/{each}">'
        for each in modules(ENTRY, *more)
        if each != ENTRY
    ]
    return asset("index.html").replace("<!-- assets -->", "\n".join(links))


@cache
def style() -> str:
    """All style sheets as one."""
    return "\n".join(asset(each) for each in STYLES)
