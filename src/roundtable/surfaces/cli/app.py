"""The command line: its grammar joined, and every error turned into words and an exit code."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .completing import VARIABLE, complete
from .encoding import never_fail
from .exits import BUDGET as BUDGET
from .exits import FAILED as FAILED
from .exits import INTERRUPTED as INTERRUPTED
from .exits import UNVERIFIED as UNVERIFIED
from .exits import USAGE as USAGE
from .grammar import ask as ask
from .grammar import fleet as fleet
from .grammar import lead as lead
from .grammar import read as read
from .grammar import serve as serve
from .grammar import set_up as set_up
from .grammar.root import Grammar
from .grammar.root import cli as cli
from .streams import Stream, guarded

if TYPE_CHECKING:
    from ...core.errors import BadSetting

assert isinstance(cli, Grammar), "it is made as one"
_KINDS = {
    "integer range": "a whole number",
    "integer": "a whole number",
    "float range": "a number",
    "float": "a number",
}


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code. Errors go to stderr, with a next step."""
    if wanted := os.environ.get(VARIABLE):
        return complete(cli, wanted)
    with guarded() as output:
        never_fail()
        code = _run(args, output)
        if output.lost:
            click.echo(f"Error: the output could not be written: {output.lost}.", err=True)
            click.echo(_kept(args), err=True)
            code = code or FAILED
    return code


def _run(args: Sequence[str], output: Stream) -> int:
    try:
        code = cli.main(list(args), prog_name="roundtable", standalone_mode=False)
        output.flush()  # so that a reader who has gone is noticed here
    except click.UsageError as error:
        in_plain_words(error)
        _show(error)
        _hint(error, args)
        return USAGE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        output.let_go()
        return FAILED
    except Exception as error:
        return _explain(error, args)
    return code if isinstance(code, int) else 0


def in_plain_words(error: click.ClickException) -> None:
    """The parser's own words, for people: the likest flag alone, and no kinds of its values."""
    message = error.message
    for kind, meant in _KINDS.items():
        message = message.replace(f"is not a valid {kind}.", f"is not {meant}.")
    vars(error)["message"] = message
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        from difflib import get_close_matches

        likest = get_close_matches(error.option_name, error.possibilities, n=1, cutoff=0.7)
        vars(error)["possibilities"] = likest


def _show(error: click.UsageError) -> None:
    """The parser's own lines, which a narrow terminal gets broken between words."""
    from .terminal import echo_error

    told = io.StringIO()
    error.show(told)
    echo_error(told.getvalue().removesuffix("\n"))


def _hint(error: click.UsageError, args: Sequence[str]) -> None:
    """What else may have been meant: a question, or a flag of `ask`. Whoever gives a command a flag
    of its own means the command."""
    if isinstance(error, click.NoSuchOption):
        asks = {name for each in cli.commands["ask"].params for name in each.opts}
        of_ask = error.ctx is not None and error.ctx.command.name in ("ask", "follow-up")
        if error.option_name not in asks or of_ask:
            return
        owners = [name for name, each in cli.commands.items() if error.option_name in _flags(each)]
        others = "" if len(owners) < 2 else " and 1 other command"
        others = f" and {len(owners) - 1} other commands" if len(owners) > 2 else others
        click.echo(f"{error.option_name} belongs to `roundtable ask`{others}.", err=True)
    if asked := cli.meant_as_question(args):
        click.echo(asked, err=True)


def _flags(command: click.Command) -> set[str]:
    return {name for each in command.params for name in each.opts}


def _explain(error: Exception, args: Sequence[str]) -> int:
    """Our own errors say what to do next; anything else is a defect and keeps its traceback."""
    from ...core.errors import (
        BadSetting,
        LeaseHeld,
        LedgerBroken,
        LedgerFull,
        LedgerReadOnly,
        LedgerTooNew,
        LedgerUnreachable,
        NewerFile,
        RoundtableError,
        UsageError,
    )
    from .terminal import echo_error

    if not isinstance(error, RoundtableError):
        raise error
    told = _as_typed(error, args) if isinstance(error, BadSetting) else error.message
    echo_error(f"Error: {told}")
    if error.remedy:
        echo_error(error.remedy)
    # A file that is broken is no fault of the line.
    of_line = isinstance(error, UsageError) and not isinstance(error, (BadSetting, NewerFile))
    of_line = of_line and not getattr(error, "suggestions", ())  # it was almost right
    if of_line and (asked := cli.meant_as_question(args)):
        echo_error(asked)
    ours = (
        UsageError,
        LeaseHeld,
        LedgerBroken,
        LedgerFull,
        LedgerReadOnly,
        LedgerTooNew,
        LedgerUnreachable,
    )
    return USAGE if isinstance(error, ours) else FAILED


def _as_typed(error: BadSetting, args: Sequence[str]) -> str:
    """What is wrong with an option, by the flag under which it stands on the line: options have
    older names, and the place of their values is nothing that anybody wrote."""
    from ...procedures import OPTIONS
    from ...procedures.options import find

    procedure, _, place = error.where.rpartition(" ")
    model = OPTIONS.get(procedure) if place == "options" else None
    option = find(model, error.key.partition(".")[0]) if model is not None else None
    typed = {word.partition("=")[0] for word in args}
    flags = [f"--{name.replace('_', '-')}" for name in (option.names if option else ())]
    flag = next((each for each in flags if each in typed), None)
    return f"{flag} in {procedure}: expected {error.expected}." if flag else error.message


def _kept(args: Sequence[str]) -> str:
    """Where to find what nobody could read."""
    asked = not args or args[0] not in cli.commands or args[0] in ("ask", "follow-up", "resume")
    if asked and not {"--help", "-h", "--version", "--dry-run"} & set(args):
        return "Nothing else is lost. Read the result with: roundtable show last"
    return "Make room, or send it elsewhere, and run the command again."
