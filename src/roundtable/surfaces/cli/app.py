"""The command line: its grammar joined, and every error turned into words and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

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

assert isinstance(cli, Grammar), "it is made as one"


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code. Errors go to stderr, with a next step."""
    if wanted := os.environ.get(VARIABLE):
        return complete(cli, wanted)
    never_fail()
    try:
        code = cli.main(list(args), prog_name="roundtable", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()  # so that a reader who has gone is noticed here
    except click.UsageError as error:
        error.show()
        _hint(error, args)
        return USAGE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        _let_go_of_stdout()
        return FAILED
    except Exception as error:
        return _explain(error, args)
    return code if isinstance(code, int) else 0


def _hint(error: click.UsageError, args: Sequence[str]) -> None:
    """What else may have been meant: a question, or a flag of `ask`. Whoever gives a command a flag
    means the command."""
    if not isinstance(error, click.NoSuchOption):
        # Words too many, or no such command of a group.
        unfit = not isinstance(error, (click.BadParameter, click.BadOptionUsage))
        if asked := cli.meant_as_question(args, unfit=unfit):
            click.echo(asked, err=True)
    elif error.ctx is not None:
        asks = {name for each in cli.commands["ask"].params for name in each.opts}
        if error.option_name in asks and error.ctx.command.name not in ("ask", "follow-up"):
            click.echo(f"{error.option_name} belongs to `roundtable ask`.", err=True)


def _explain(error: Exception, args: Sequence[str]) -> int:
    """Our own errors say what to do next; anything else is a defect and keeps its traceback."""
    from ...core.errors import (
        BadSetting,
        LeaseHeld,
        LedgerBroken,
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
    echo_error(f"Error: {error.message}")
    if error.remedy:
        echo_error(error.remedy)
    # A file that is broken is no fault of the line.
    of_line = isinstance(error, UsageError) and not isinstance(error, (BadSetting, NewerFile))
    if of_line and (asked := cli.meant_as_question(args)):
        echo_error(asked)
    ours = (UsageError, LeaseHeld, LedgerBroken, LedgerReadOnly, LedgerTooNew, LedgerUnreachable)
    return USAGE if isinstance(error, ours) else FAILED


def _let_go_of_stdout() -> None:
    """Whoever read it has gone (`… | head`): Python must not try to write the rest at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
