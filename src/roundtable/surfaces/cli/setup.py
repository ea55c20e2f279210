"""`roundtable setup` and `config`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ...core.errors import NotAllowed, UsageError
from ...models.registry import Registry
from ...private import private_folder, put_private
from ...procedures.council.wizard import Wizard
from ...settings import CONFIG_JSON, MODELS_TOML, home_folder
from .terminal import echo, echo_error, for_screen

HELP = """\
roundtable <question>   put a question to the council
roundtable setup        choose models, round 2, language and logging
roundtable config       show what is stored
roundtable help         this list

All commands and flags: roundtable --help"""


def setup_command() -> int:
    """Needs no valid settings: it is also the way out of a broken config.json."""
    home = home_folder(os.environ)
    models_file = home / MODELS_TOML
    wizard = Wizard(Registry.load(models_file if models_file.is_file() else None).resolve)
    while (question := wizard.question) is not None:
        echo(str(question))
        try:
            wizard = wizard.answer(click.prompt("", prompt_suffix="> "))
        except UsageError as error:
            echo_error(str(error))
        except click.Abort:
            echo_error("\nNothing was stored.")
            raise
    if not wizard.confirmed:
        echo("Nothing was stored.")
        return 0
    echo(f"Stored in {store_config(home, wizard.config())}.")
    return 0


def store_config(home: Path, config: Mapping[str, Any]) -> Path:
    """Write config.json whole or not at all, and return where it is."""
    path = home / CONFIG_JSON
    try:
        private_folder(home)
        put_private(path, json.dumps(config, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise NotAllowed(
            f"{path} cannot be written: {error.strerror}.",
            "Make the folder writable, or choose another one with ROUNDTABLE_HOME.",
        ) from None
    return path


def stored_config(home: Path) -> str | None:
    """What config.json holds, fit to be shown, or None. Reads the file itself: it must show also
    what `read_settings` would refuse."""
    path = home / CONFIG_JSON
    try:
        return for_screen(path.read_text("utf-8", "replace")).rstrip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotAllowed(f"{path} cannot be read: {error.strerror}.", "Check the file.") from None


def config_command() -> int:
    home = home_folder(os.environ)
    text = stored_config(home)
    if text is None:
        echo("There is no config.json yet. Make one with: roundtable setup")
        return 0
    echo_error(str(home / CONFIG_JSON))
    echo(text)
    return 0
