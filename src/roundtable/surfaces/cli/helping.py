"""`roundtable help` and `roundtable completion`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from ...core.errors import RoundtableError, UnknownName, UsageError
from ...procedures import CUSTOM, OPTIONS, PROCEDURES
from ...procedures.options import ProcedureOptions, described
from ...procedures.spec import PREFIX
from ...programs import workspace_of
from ...settings import read_settings
from ...user_procedures import ProcedureFiles
from ..setup.words import HELP
from .ask_options import spelled, told
from .columns import echo_options, echo_rows
from .completing import INSTALL, VARIABLE
from .terminal import echo, echo_error, echo_fitted

WHEN = {
    "deliberation": "a decision or an estimate, by answers, critique and vote. The default.",
    "council": "three fixed angles: Scholar, Engineer and Muse examine it and each other.",
    "adaptive": "the table plans its own work: to build, attack, compare or choose.",
    "five-round": "a plan to carry out: proposals, critique, revision, action items.",
    "meeting": "people and agents talk it through in turn, each hearing the others.",
}
"""Which one when, in a line."""
_GENERAL = ("context", "language")


def help_command(words: Sequence[str] = ()) -> int:
    """It answers also where the settings are broken. `words` name a procedure, or a command with
    those within it; where the user called a procedure as a command is called, it is both."""
    if words:
        name = words[0]
        command = None if name in PROCEDURES and len(words) == 1 else _commands().get(name)
        if command is not None:
            _tell_command(command, [name], words[1:])
            if name not in _own() or len(words) > 1:
                return 0
            echo_fitted("\nYou have a procedure of that name, too:\n")
        elif len(words) > 1:
            raise UsageError(
                f"Help is there for one name, and {name!r} has no commands within it.",
                "For example: roundtable help tokens add.",
            )
        return _one(name)
    echo_fitted(HELP)
    echo_fitted("\nThe procedures, and when to use each (--procedure NAME):")
    own = _own()
    echo_rows(list({**WHEN, **own}.items()), indent=2)
    echo_fitted("\nOne of them, with all its options: roundtable help NAME")
    return 0


def _tell_command(command: click.Command, path: Sequence[str], within: Sequence[str]) -> None:
    """The help of a command, or of one `within` it."""
    called = " ".join(path)
    if within:
        name = within[0]
        known = command.commands if isinstance(command, click.Group) else {}
        if name not in known:
            remedy = None if known else f"roundtable help {called} tells of it."
            raise UnknownName(f"command of {called}", name, known, remedy=remedy)
        _tell_command(known[name], [*path, name], within[1:])
        return
    with click.Context(command, info_name=f"roundtable {called}") as context:
        echo_fitted(command.get_help(context))


def _commands() -> Mapping[str, click.Command]:
    from .app import cli

    return cli.commands


def _shown() -> list[str]:
    return [name for name, command in _commands().items() if not command.hidden]


def _own() -> dict[str, str]:
    """The user's procedures that can be held."""
    found: dict[str, str] = {}
    try:
        files = _files()
        for name in files.names():
            if (definition := files.find(name)) is not None:
                found[name] = f"{definition.summary} (own)"
    except RoundtableError:
        return found
    return found


def _files() -> ProcedureFiles:
    settings = read_settings(os.environ, workspace_of(os.environ))
    return ProcedureFiles(settings.procedure_folders)


def _one(name: str) -> int:
    own = {} if name in PROCEDURES else _own()
    if name not in PROCEDURES and name not in own and name != CUSTOM:
        files = _files()
        if files.find(name.removeprefix(PREFIX)) is None:  # its error says why it is no good
            raise UnknownName(
                "procedure or command", name, [*PROCEDURES, *files.names(), *_shown()]
            )
    model = OPTIONS[name if name in PROCEDURES else CUSTOM]
    echo_fitted(f"{name}: {WHEN.get(name) or own.get(name, 'your own procedures')}")
    echo_options(_tables(model))
    if name in own:
        echo_fitted(f"\nIts stages: roundtable procedures show {name}")
    return 0


def _tables(model: type[ProcedureOptions]) -> dict[str, list[tuple[str, str]]]:
    known = [each for each in described(model) if "cli" not in each.closed]
    shared = [(spelled(each), told(each)) for each in known if each.shared]
    shared += [(f"no --{word}", why) for word, why in model.cannot.items()]
    shared += _general()
    own = [(spelled(each), told(each)) for each in known if not each.shared]
    older = [
        (f"--{word.replace('_', '-')}", f"now {each.flag}")
        for each in known
        for word in each.aliases
    ]
    return {"Options of every procedure": shared, "Its own": own, "Older names": older}


def _general() -> list[tuple[str, str]]:
    """What can be said of every discussion, whatever its rules."""
    from .grammar.ask import SPENT, ask

    known = {each.name: each for each in ask.params}
    rows = [known[name].get_help_record(click.Context(ask)) for name in _GENERAL + SPENT]
    return [row for row in rows if row is not None]


def completion_command(shell: str | None) -> int:
    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in INSTALL:
        raise UsageError(
            f"No completion is known for {name!r}." if name else "Which shell is it?",
            f"Name one: roundtable completion {' | '.join(INSTALL)}.",
        )
    place, line = INSTALL[name]
    echo(line.format(variable=VARIABLE))
    echo_error(f"Add this line to {place}, and open a new terminal. Or do both with this command:")
    echo_error(f"   roundtable completion {name} >> {place}")
    return 0
