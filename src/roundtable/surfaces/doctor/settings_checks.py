"""Are the files that a person has written in order?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import disk_usage

from ...core.errors import RoundtableError
from ...ledger.sqlite_file import has_room
from ...project_notes import HOW, ignored_line
from ...settings import Settings, home_folder
from ...trust import STORE
from ..own_files import Trouble, read_all, troubles
from .finding import Finding

LITTLE_ROOM = 20_000_000
"""Bytes: a long discussion takes some hundred thousand, and the database a copy of itself where it
is brought up to date."""


def check_python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", f"Python {version}")


def settled(env: Mapping[str, str], workspace: Path) -> tuple[Settings, list[Finding]]:
    """The settings, and what was found of all files that a person writes. Broken ones are left
    out, so that the rest can be examined all the same."""
    try:
        settings, broken = read_all(env, workspace)
    except RoundtableError as error:
        settings = Settings(home=home_folder(env), workspace=workspace)
        broken = [Trouble("settings", error), *troubles(settings)]
    found = [Finding(each.area, "broken", each.error.message, each.error.remedy) for each in broken]
    # Where nobody knows what was trusted, that is the matter.
    if STORE not in settings.without and (ignored := settings.trust.ignored()):
        found.append(Finding("project", "doubtful", ignored_line(ignored), HOW))
    if any(each.area == "settings" for each in found):
        return settings, found
    where = sorted(set(settings.origins.values()))
    told = f"from {', '.join(where)}" if where else "all built in"
    more = "Each value and its origin: roundtable config --origin"
    return settings, [Finding("settings", "ok", f"{settings.home}; {told}. {more}"), *found]


def check_home(settings: Settings) -> Iterator[Finding]:
    """Whether something can be stored at all."""
    place = settings.home
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        import tempfile

        if not place.is_dir():
            raise NotADirectoryError(20, "Not a folder")
        with tempfile.TemporaryFile(dir=place):
            pass
        if not has_room(place):
            told = f"There is no room left in {settings.home}."
            yield Finding("home", "broken", told, "Free some space.")
        elif (free := disk_usage(place).free) < LITTLE_ROOM:
            told = f"Only {free / 1e6:.1f} MB are free in {settings.home}: a few discussions fit."
            yield Finding("home", "doubtful", told, "Free some space.")
    except OSError as error:
        yield Finding(
            "home",
            "broken",
            f"{settings.home} cannot be written: {error.strerror}.",
            "Make it writable, or choose another folder with ROUNDTABLE_HOME.",
        )
