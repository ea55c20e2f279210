"""Where a command is given: its settings, and its folder."""

from __future__ import annotations

import os
from pathlib import Path

from ...programs import workspace_of
from ...settings import Settings, read_settings


def workspace_here() -> Path:
    """The folder in which the command is given."""
    return workspace_of(os.environ)


def settings_here() -> Settings:
    """The settings of this command. Errors as in `read_settings`."""
    return read_settings(os.environ, workspace_here())
