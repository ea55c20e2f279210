"""Where a command is given: its settings, and its folder."""

from __future__ import annotations

import os
from pathlib import Path

from ...core.errors import RoundtableError, UsageError
from ...models.registry import Registry
from ...private import keep_private
from ...programs import workspace_of
from ...project_notes import HOW, ODD, ignored_line
from ...settings import CONFIG_TOML, MODELS_TOML, Settings, read_settings
from .terminal import echo_error


def workspace_here() -> Path:
    """The folder in which the command is given."""
    return workspace_of(os.environ)


_told: set[str] = set()


def settings_here(*, tell: bool = True, reading: bool = False) -> Settings:
    """The settings of this command. Errors as in `read_settings`. What is ignored of the project
    is said in a line, unless somebody else tells it.

    `reading`: a command that only looks at what is stored goes on without a broken file that it
    does not need, and says so; but not without the one that may say where things are stored.
    """
    settings = _forgiven() if reading else read_settings(os.environ, workspace_here())
    keep_private(settings.home)
    if tell and (ignored := settings.trust.ignored()):
        echo_error(f"{ignored_line(ignored)} {HOW}")
    if tell:
        for name in settings.trust.odd():
            echo_error(f"{name}: {ODD}")
    return settings


def _forgiven() -> Settings:
    def forgive(name: str, error: RoundtableError) -> None:
        if name == CONFIG_TOML and not os.environ.get("ROUNDTABLE_DB"):
            raise error
        tell_once(error)

    settings = read_settings(os.environ, workspace_here(), forgive=forgive)
    try:
        Registry.load(settings.models_file)
    except UsageError as error:
        forgive(MODELS_TOML, error)
        settings = settings.model_copy(update={"without": settings.without | {MODELS_TOML}})
    return settings


def tell_once(error: RoundtableError) -> None:
    """A line on a broken file that is in nobody's way."""
    line = f"Left out for now: {error}"
    if line not in _told:
        _told.add(line)
        echo_error(line)
