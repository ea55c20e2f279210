"""`roundtable setup`, `config` and `help`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from ...core.errors import UsageError
from ...core.text import redact
from ...models.registry import Registry
from ...procedures.council.wizard import Wizard
from ...settings import CONFIG_JSON, default_home, read_settings
from .terminal import echo_error

HELP = """\
roundtable <question>   put a question to the council
roundtable setup        choose models, round 2, language and logging
roundtable config       show what is stored
roundtable help         this list

All commands and flags: roundtable --help"""


def setup_command() -> int:
    settings = read_settings(os.environ, Path.cwd())
    wizard = Wizard(Registry.load(settings.models_file).resolve)
    while (question := wizard.question) is not None:
        click.echo(str(question))
        try:
            wizard = wizard.answer(click.prompt("", prompt_suffix="> "))
        except UsageError as error:
            echo_error(str(error))
    if not wizard.confirmed:
        click.echo("Nothing was stored.")
        return 0
    path = settings.council_config
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps(wizard.config(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    whole.replace(path)
    click.echo(f"Stored in {path}.")
    return 0


def config_command() -> int:
    """Reads the file itself: it must show also what `read_settings` would refuse."""
    home = os.environ.get("ROUNDTABLE_HOME")
    path = (Path(home).expanduser() if home else default_home()) / CONFIG_JSON
    try:
        click.echo(redact(path.read_text("utf-8")).rstrip())
    except FileNotFoundError:
        click.echo("There is no config.json yet. Make one with: roundtable setup")
    return 0


def help_command() -> int:
    click.echo(HELP)
    return 0
