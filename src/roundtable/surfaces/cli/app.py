"""The grammar of the command line: `roundtable QUESTION [flags]`, and the other commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click

from ...version import __version__

FAILED, USAGE, BUDGET, INTERRUPTED = 1, 2, 3, 130
"""Exit codes beside 0, a verdict was delivered."""


class Grammar(click.Group):
    """A group whose default command is `ask`, so that a question can be asked straight away."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h", "--version"):
            self._refuse_typo(ctx, args)
            args = ["ask", *args]
        return super().parse_args(ctx, args)

    def _refuse_typo(self, ctx: click.Context, args: list[str]) -> None:
        """`roundtable lsit` is a slip, not a question that anybody wants to pay for."""
        word = args[0]
        near = get_close_matches(word, self.commands, n=1, cutoff=0.75)
        if len(args) == 1 and near and not word.startswith("-"):
            raise click.UsageError(
                f"No such command {word!r}. Did you mean {near[0]!r}? "
                f"To ask it as a question: roundtable ask {word!r}",
                ctx,
            )


@click.group(
    cls=Grammar,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(__version__, prog_name="roundtable")
def cli() -> None:
    """Several AI experts around one table: they answer a question independently, challenge each
    other, and a neutral host delivers a verdict that can be checked.

    \b
    roundtable "Should a team of five use microservices?"
    roundtable "Postgres or MongoDB for a small SaaS?" --quick
    roundtable "Is this design sound?" --context design.md --template=architecture

    A quick council (--quick) asks three experts once and is the choice for speed and cost; with
    round 2 they examine each other, at about twice the price: for high stakes.

    Without any key a small embedded model speaks, as a demonstration.
    """


@cli.command(short_help="Ask the table a question (the default command).")
@click.argument("question", nargs=-1)
@click.option("--procedure", metavar="NAME", help="The rules of the discussion.")
@click.option("--preset", metavar="NAME", help="cheap, balanced, premium, diverse or single.")
@click.option("--all", metavar="MODEL", help="One model for all three roles.")
@click.option("--scholar", metavar="MODEL", help="The Scholar's model.")
@click.option("--engineer", metavar="MODEL", help="The Engineer's model.")
@click.option("--muse", metavar="MODEL", help="The Muse's model.")
@click.option("--model", metavar="MODEL", help="The default model, which the host uses.")
@click.option("--budget", metavar="LEVEL", help="low, medium or high: models and rounds at once.")
@click.option(
    "--template",
    metavar="NAME",
    help="Focus: code-review, investment, architecture, research, decision.",
)
@click.option("--quick", is_flag=True, help="No round 2.")
@click.option("--debate", is_flag=True, help="Adaptive: a debate, everybody side by side.")
@click.option("--build", is_flag=True, help="Adaptive: coding and design.")
@click.option("--redteam", is_flag=True, help="Adaptive: attack and defence.")
@click.option("--vote", is_flag=True, help="Adaptive: a decision by vote.")
@click.option("--panel", metavar="A,B,C", help="Adaptive: exactly these models, or a profile.")
@click.option("--validate", is_flag=True, help="Adaptive: the panel checks the synthesis.")
@click.option("--context-from", metavar="SLUG", help="Adaptive: build on an earlier result.")
@click.option("--session", metavar="ID", help="Adaptive: searches are remembered within it.")
@click.option("--roster", metavar="NAME", help="A ready set of participants for a meeting.")
@click.option("--max-rounds", type=click.IntRange(1, 10), help="The rounds of a meeting.")
@click.option("--order", "speech_order", type=click.Choice(["fixed", "parallel"]))
@click.option("--summaries", type=click.Choice(["on", "off"]), help="Between rounds; on.")
@click.option("--format", type=click.Choice(["standard", "decision"]), help="Of the conclusion.")
@click.option("--output", "output_path", metavar="FILE", help="Where the conclusion goes.")
@click.option("--join", metavar="NAME", help="A meeting with a seat for you, under this name.")
@click.option("--experts", metavar="A,B,C", help="Deliberation: experts who sit in any case.")
@click.option("--models", metavar="A,B,C", help="Deliberation: models for the seats, in order.")
@click.option("--seats", type=click.IntRange(2, 7), help="Deliberation: how many experts.")
@click.option("--choices", metavar="A,B,C", help="Deliberation: the options of the vote.")
@click.option("--always-critique", is_flag=True, help="Deliberation: also after unanimity.")
@click.option("--statement", is_flag=True, help="Deliberation: end in a ranked group statement.")
@click.option("--agents", metavar="A,B,C", help="Five-round: the experts, by name or id.")
@click.option("--depth", metavar="NAME", help="Five-round: full, or pre-ac for the plan only.")
@click.option("--strict-rounds", is_flag=True, help="Five-round: hold every round.")
@click.option("--output-dir", metavar="DIR", help="Five-round: the folder for its reports.")
@click.option("--confirm", is_flag=True, help="Show the estimate and ask before anything is spent.")
@click.option("--language", metavar="LANG", help="en, de, es, or any language by name.")
@click.option(
    "--context",
    metavar="FILE",
    multiple=True,
    help="Material for the question: a text file, or - for standard input. May be repeated.",
)
@click.option("--no-search", is_flag=True, help="No web search.")
@click.option("--max-calls", type=click.IntRange(min=1), help="Stop after this many model calls.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Stop at this many tokens.")
@click.option("--max-cost", type=click.FloatRange(min=0), help="Stop at this many US dollars.")
@click.option("--max-time", type=click.FloatRange(min=1), help="Stop after this many seconds.")
@click.option("--dry-run", is_flag=True, help="Show plan, prompts and estimate; call nobody.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
@click.option("--quiet", is_flag=True, help="No progress, only the answer and notes.")
@click.option("--plain", is_flag=True, help="Plain progress lines, also in a terminal.")
@click.option("--no-log", is_flag=True, help="Write no session log.")
def ask(**flags: Any) -> int:
    """Ask the table a question.

    QUESTION may be - to read it from standard input. Flags may stand before or after it.
    """
    from .ask import ask_command

    return ask_command(flags)


@cli.command(short_help="Go on with an interrupted discussion.")
@click.argument("discussion_id", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
@click.option("--quiet", is_flag=True, help="No progress, only the answer and notes.")
@click.option("--plain", is_flag=True, help="Plain progress lines, also in a terminal.")
@click.option("--no-log", is_flag=True, help="Write no session log.")
def resume(**flags: Any) -> int:
    """Go on where a discussion stopped. No finished call is made or paid again.

    Without an id: the newest discussion that was interrupted.
    """
    from .ask import resume_command

    return resume_command(flags)


@cli.command("list", short_help="List discussions.")
@click.argument("search", required=False)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def list_(**flags: Any) -> int:
    """List discussions, the newest first. SEARCH matches the question."""
    from .library import list_command

    return list_command(flags)


@cli.command(short_help="Show a discussion.")
@click.argument("discussion_id")
@click.option("--follow", is_flag=True, help="Stay, and show what happens.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def show(**flags: Any) -> int:
    """Show a discussion: what was said, the verdict, the notes, the cost."""
    from .library import show_command

    return show_command(flags)


@cli.command(short_help="Write a discussion to a file.")
@click.argument("discussion_id")
@click.option("--format", "form", type=click.Choice(["md", "json", "html"]), default="md")
@click.option("-o", "--output", metavar="FILE", help="Where to; standard output otherwise.")
def export(**flags: Any) -> int:
    """Write a discussion as Markdown, as JSON, or as one HTML file that needs nothing else.

    An existing file is never overwritten.
    """
    from .library import export_command

    return export_command(flags)


@cli.command(short_help="End a discussion with what exists.")
@click.argument("discussion_id")
@click.option("--reason", default="", help="Why, for the record.")
def stop(**flags: Any) -> int:
    """End a running or interrupted discussion. It keeps what was said, with a partial verdict."""
    from .library import stop_command

    return stop_command(flags)


@cli.command(short_help="Add a remark, or speak for a participant.")
@click.argument("discussion_id")
@click.argument("text")
@click.option("--as", "participant", default="coordinator", show_default=True)
@click.option("--key", help="Makes a repeated call harmless.")
def speak(**flags: Any) -> int:
    """Speak in a discussion: as the host at any time, or as a participant in its open turn.

    TEXT may be - to read it from standard input.
    """
    from .library import speak_command

    return speak_command(flags)


@cli.command(short_help="Let nobody begin a new turn.")
@click.argument("discussion_id")
@click.option("--reason", default="", help="Why, for the record.")
def pause(**flags: Any) -> int:
    """Pause a discussion. Whoever speaks finishes; `roundtable resume` lets it go on."""
    from .lead import pause_command

    return pause_command(flags)


@cli.command(short_help="Do without a participant's open turn.")
@click.argument("discussion_id")
@click.argument("participant")
def skip(**flags: Any) -> int:
    """Skip the turn that a participant has now; it is absent from that round."""
    from .lead import skip_command

    return skip_command(flags)


@cli.command(short_help="Put a document on the table.")
@click.argument("discussion_id")
@click.argument("file")
@click.option("--key", help="Makes a repeated call harmless.")
def add(**flags: Any) -> int:
    """Add material to a discussion: a text file, or - for standard input. A question of the host
    is a remark: roundtable speak ID TEXT."""
    from .lead import add_command

    return add_command(flags)


@cli.command(short_help="Give a discussion more rounds.")
@click.argument("discussion_id")
@click.argument("rounds", type=int)
def extend(**flags: Any) -> int:
    """Give a meeting or an adaptive discussion more rounds than it was opened with."""
    from .lead import extend_command

    return extend_command(flags)


@cli.command(short_help="Seat one more at a meeting.")
@click.argument("discussion_id")
@click.argument("profile")
@click.option("--name", help="As the others see it; the profile otherwise.")
@click.option("--role", help="What it argues as; the name otherwise.")
@click.option("--perspective", default="", help="From where it looks.")
@click.option("--model", metavar="MODEL", help="Who speaks for it; else somebody outside.")
def invite(**flags: Any) -> int:
    """Seat one more at a meeting, from the next round on."""
    from .lead import invite_command

    return invite_command(flags)


@cli.command(short_help="Take somebody from a meeting's table.")
@click.argument("discussion_id")
@click.argument("profile")
def dismiss(**flags: Any) -> int:
    """Take a participant from the table; what it said stays. Two must stay."""
    from .lead import dismiss_command

    return dismiss_command(flags)


@cli.command(short_help="End the open round of a meeting by hand.")
@click.argument("discussion_id")
def advance(**flags: Any) -> int:
    """End the open round of a meeting. Whoever has not spoken in it is absent from it."""
    from .lead import advance_command

    return advance_command(flags)


@cli.command(short_help="Vote on ending a meeting.")
@click.argument("discussion_id")
@click.option("--as", "participant", required=True, metavar="NAME", help="Whose vote it is.")
@click.option("--end/--no-end", default=True, help="For the end, or against it.")
def vote(**flags: Any) -> int:
    """Vote on ending a meeting. It ends when all participants vote for it."""
    from .lead import vote_command

    return vote_command(flags)


@cli.command(short_help="End a meeting with a conclusion of your own.")
@click.argument("discussion_id")
@click.argument("text")
def conclude(**flags: Any) -> int:
    """End a meeting as its chair: TEXT is its conclusion, - reads it from standard input."""
    from .lead import conclude_command

    return conclude_command(flags)


@cli.command(short_help="Delete a discussion.")
@click.argument("discussion_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(**flags: Any) -> int:
    """Delete a discussion and everything that was said in it, for good."""
    from .library import delete_command

    return delete_command(flags)


@cli.command(short_help="Show which models can be used now.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def models(**flags: Any) -> int:
    """Show what was found (keys, local servers, the embedded model) and what is missing for more.

    A key itself is never shown.
    """
    from .models import models_command

    return models_command(flags)


@cli.command(short_help="List, search and choose experts.")
@click.argument("query", nargs=-1)
@click.option("--for", "topic", metavar="TOPIC", help="Choose a panel for a topic, and say why.")
@click.option("--count", type=click.IntRange(1, 100), default=3, show_default=True)
@click.option("--include", metavar="EXPERT", multiple=True, help="Sits in any case.")
@click.option("--weight", metavar="DOMAIN=N", multiple=True, help="Raise or lower a domain.")
@click.option(
    "--lambda", "lam", type=float, metavar="0…1", help="1: relevance alone; 0: difference."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def experts(**flags: Any) -> int:
    """List the experts by domain, or those that QUERY finds.

    \b
    roundtable experts                          all of them
    roundtable experts "data protection"        those who know about it
    roundtable experts show threat-modeller     one of them
    roundtable experts --for "Should we move to the cloud?" --count 4

    Your own: TOML files in the folder experts of ROUNDTABLE_HOME, or in .roundtable/experts.
    """
    from .experts import experts_command

    return experts_command(flags)


@cli.command(short_help="List the procedures, your own among them.")
@click.argument("words", nargs=-1, metavar="[show NAME]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def procedures(**flags: Any) -> int:
    """List the rules by which a table can be held, or show one of them.

    Your own: TOML files in the folder procedures of ROUNDTABLE_HOME, or in .roundtable/procedures.
    """
    from .procedures import procedures_command

    return procedures_command(flags)


@cli.command(short_help="Set the council's defaults, one question at a time.")
def setup() -> int:
    """Choose models, round 2, language and logging, and store them in config.json."""
    from .setup import setup_command

    return setup_command()


@cli.command(short_help="Show the stored configuration.")
def config() -> int:
    """Print config.json, or say how to make one."""
    from .setup import config_command

    return config_command()


@cli.command("help", short_help="What can be asked of the table.")
def help_() -> int:
    """List the four things that can be asked of the table."""
    from .setup import help_command

    return help_command()


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code. Errors go to stderr, with a next step."""
    _speak_utf8()
    try:
        code = cli.main(list(args), prog_name="roundtable", standalone_mode=False)
    except click.UsageError as error:
        error.show()
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
        return _explain(error)
    return code if isinstance(code, int) else 0


def _explain(error: Exception) -> int:
    """Our own errors say what to do next; anything else is a defect and keeps its traceback."""
    from ...core.errors import (
        LeaseHeld,
        LedgerBroken,
        LedgerReadOnly,
        LedgerTooNew,
        LedgerUnreachable,
        RoundtableError,
        UsageError,
    )
    from ...core.text import redact

    if not isinstance(error, RoundtableError):
        raise error
    click.echo(f"Error: {redact(error.message)}", err=True)
    if error.remedy:
        click.echo(redact(error.remedy), err=True)
    ours = (UsageError, LeaseHeld, LedgerBroken, LedgerReadOnly, LedgerTooNew, LedgerUnreachable)
    return USAGE if isinstance(error, ours) else FAILED


def _let_go_of_stdout() -> None:
    """Whoever read it has gone (`… | head`): Python must not try to write the rest at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _speak_utf8() -> None:
    """Consoles with another encoding would fail on the first emoji."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and (stream.encoding or "").lower().replace("-", "") != "utf8":
            reconfigure(encoding="utf-8", errors="replace")
