"""Where a command is given: its settings, and its folder."""

from __future__ import annotations

import os
from pathlib import Path

from ...private import keep_private
from ...programs import workspace_of
from ...project_notes import HOW, ignored_line
from ...settings import Settings, read_settings
from .terminal import echo_error


def workspace_here() -> Path:
    """The folder in which the command is given."""
    return workspace_of(os.environ)


def settings_here(*, tell: bool = True) -> Settings:
    """The settings of this command. Errors as in `read_settings`. What is ignored of the project
    is said in a line, unless somebody else tells it."""
    settings = read_settings(os.environ, workspace_here())
    keep_private(settings.home)
    if tell and (ignored := settings.trust.ignored()):
        echo_error(f"{ignored_line(ignored)} {HOW}")
    return settings
