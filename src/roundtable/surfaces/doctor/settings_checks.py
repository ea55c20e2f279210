"""Are the files that a person has written in order?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from ...core.errors import RoundtableError
from ...experts.library_files import own_files, read_library
from ...models.registry import Registry
from ...models.routing_files import read_routing
from ...project_notes import HOW, ignored_line
from ...settings import Settings, home_folder, read_settings
from ...user_procedures import ProcedureFiles
from .finding import Finding


def check_python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", f"Python {version}")


def settled(env: Mapping[str, str], workspace: Path) -> tuple[Settings, list[Finding]]:
    """The settings, and what was found of them. Broken ones are replaced by those that are built
    in, so that the rest can be examined all the same."""
    try:
        settings = read_settings(env, workspace)
    except RoundtableError as error:
        settings = Settings(home=home_folder(env), workspace=workspace)
        return settings, [Finding("settings", "broken", error.message, error.remedy)]
    where = sorted(set(settings.origins.values()))
    told = f"from {', '.join(where)}" if where else "all built in"
    more = "Each value and its origin: roundtable config --origin"
    return settings, [Finding("settings", "ok", f"{settings.home}; {told}. {more}")]


def check_files(settings: Settings) -> Iterator[Finding]:
    """The files that are read when they are needed, and would fail only then."""
    if ignored := settings.trust.ignored():
        yield Finding("project", "doubtful", ignored_line(ignored), HOW)
    try:
        registry = Registry.load(settings.models_file)
    except RoundtableError as error:
        yield Finding("models", "broken", error.message, error.remedy)
        registry = Registry.load()
    yield from _tried("routing", lambda: read_routing(settings.routing_folders, registry))
    yield from _tried("experts", lambda: read_library(own_files(*settings.expert_folders)))
    own = ProcedureFiles(settings.procedure_folders)
    for name in own.names():
        yield from _tried("procedures", partial(own.find, name))


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
    except OSError as error:
        yield Finding(
            "home",
            "broken",
            f"{settings.home} cannot be written: {error.strerror}.",
            "Make it writable, or choose another folder with ROUNDTABLE_HOME.",
        )


def _tried(area: str, read: Callable[[], object]) -> Iterator[Finding]:
    try:
        read()
    except RoundtableError as error:
        yield Finding(area, "broken", error.message, error.remedy)
