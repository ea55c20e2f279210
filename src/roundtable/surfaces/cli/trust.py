"""`roundtable trust`: see what a project's files would change, and trust them or not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import RoundtableError, UsageError
from ...settings import Settings, home_folder
from ...trust import STORE, Trust, stored
from ..trust_report import changes
from .here import settings_here, workspace_here
from .terminal import confirmed, echo, echo_error

_AGREE = "Trust these files as they are now?"
_READ_THEM = "Run it in a terminal, or add --yes if you have read the files."


def trust_command(flags: Mapping[str, Any]) -> int:
    if flags["list"] and flags["forget"]:
        raise UsageError("--list and --forget exclude each other.", "Give one of them.")
    settings = _settings()
    if flags["list"]:
        return _list(settings)
    if flags["forget"]:
        forgotten = settings.trust.forget()
        told = "is trusted any more" if forgotten else "was trusted"
        echo_error(f"Nothing in {settings.workspace} {told}.")
        return 0
    return _ask(settings, yes=flags["yes"])


def _ask(settings: Settings, *, yes: bool) -> int:
    trust = settings.trust
    files = trust.files()
    if not files:
        echo_error(f"There is nothing to trust in {settings.workspace}.")
        return 0
    if all(file.standing == "trusted" for file in files):
        echo_error("Everything here is trusted: " + ", ".join(file.shown for file in files))
        return 0
    for file in files:
        echo(f"{file.shown} ({file.standing})")
        if file.standing != "trusted":
            for line in changes(file, settings):
                echo(f"  {line}")
    if not yes and not asyncio.run(confirmed(_AGREE, _READ_THEM, person=True)):
        echo_error("Nothing was trusted.")
        return 0
    # What was shown is what is trusted, whatever the files say by now.
    trust.grant(files)
    echo_error(f"Trusted: {', '.join(file.shown for file in files)}.")
    echo_error("A page or a tool server that is already running has to be restarted.")
    return 0


def _list(settings: Settings) -> int:
    known = stored(settings.home / STORE)
    if not known:
        echo_error("Nothing is trusted.")
    for place in sorted(known):
        echo(place)
        standing = {each.name: each.standing for each in Trust(settings.home, Path(place)).files()}
        for name in known[place]:
            told = {"trusted": "", "changed": " (changed since, and ignored)"}
            echo(f"  {name}{told.get(standing.get(name, ''), ' (gone)')}")
    return 0


def _settings() -> Settings:
    """A trusted file that is broken must not keep anybody from forgetting it."""
    try:
        return settings_here(tell=False)
    except RoundtableError as error:
        echo_error(f"Note: {error.message}")
        return Settings(home=home_folder(os.environ), workspace=workspace_here())
