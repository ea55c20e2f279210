"""Asking: a question, a further one, several from a file, one that was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from .. import completing
from .root import CONTEXT, DISCUSSION, FindingCommand, cli

F = TypeVar("F", bound=Callable[..., Any])
SPENT = ("max_cost", "max_calls", "max_tokens", "max_time")
SEEN = ("quiet", "verbose", "plain", "as_json", "web", "no_log")
LISTS = ("--models", "--experts", "--choices", "--host", "--context")
"""The options behind whose value a word may be a further one."""
SECTIONS: dict[str, tuple[str, ...]] = {
    "The table": (
        *("procedure", "models", "host", "experts", "seats", "rounds", "quick", "choices"),
        *("context", "context_from", "language"),
    ),
    "What it may spend (for each question)": (*SPENT, "confirm", "dry_run"),
    "What you see": SEEN,
    "Several questions": ("questions", "at_once", "fresh"),
}
"""The groups of the help, each by the names of its options; all others stand under More."""


class AskCommand(FindingCommand):
    """A command that has the procedures' options too. They are made when somebody looks: the list
    of commands needs none of them."""

    _params: list[click.Parameter]
    general: tuple[click.Parameter, ...]
    """Its parameters without those of the procedures."""
    _complete: bool

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _refuse_twice(args)
        behind = list(_behind(args))
        left = super().parse_args(ctx, args)
        ctx.params["behind"] = {word: option for word, option, _ in behind}
        ctx.params["cut_off"] = frozenset(word for word, _, comma in behind if comma)
        return left

    @property
    def params(self) -> list[click.Parameter]:
        if not self._complete:
            from ..ask_options import procedure_options

            self._params += procedure_options()
            self._complete = True
        return self._params

    @params.setter
    def params(self, general: list[click.Parameter]) -> None:
        self._params, self.general, self._complete = general, tuple(general), False

    def also_takes(self, other: click.Command) -> None:
        """Have the general options of another one, too."""
        assert isinstance(other, AskCommand), other.name
        options = [
            each
            for each in other.general
            if isinstance(each, click.Option) and each.name not in SECTIONS["Several questions"]
        ]
        self.params = [*self.general, *options]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from ..ask_options import sections, words

        known = {each.name: each for each in self.get_params(ctx) if isinstance(each, click.Option)}
        own = {name for name in words() if name not in SECTIONS["The table"]}
        grouped = {name for names in SECTIONS.values() for name in names}
        more = tuple(name for name in known if name not in grouped | own)
        for title, names in {**SECTIONS, "More": more}.items():
            found = [known[name] for name in names if name in known]
            rows = [record for each in found if (record := each.get_help_record(ctx))]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
        for title, rows in sections():
            with formatter.section(title):
                formatter.write_dl(rows)


def _behind(args: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """The words that stand behind a list and belong to no option, each with the list's name and
    whether a comma stands before it: a blank may have cut them off. The first one, and what a comma
    goes on with."""
    for at, each in enumerate(args):
        option, equals, before = each.partition("=")
        if option not in LISTS:
            continue
        rest = list(args[at + 1 :])
        if not equals:
            before = rest.pop(0) if rest else ""
        for word in rest:
            if word.startswith("-"):
                break
            comma = before.endswith(",")
            yield word, option.removeprefix("--"), comma
            before = word
            if not before.endswith(","):
                break


def _refuse_twice(args: Sequence[str]) -> None:
    """UsageError for a list that is given twice: only the last one would count."""
    from ....core.errors import UsageError

    for option in (each for each in LISTS if each != CONTEXT):
        if sum(each.partition("=")[0] == option for each in args) > 1:
            raise UsageError(f"{option} is given twice.", "Give all of them once, with commas.")


def _one_of(ctx: click.Context, flag: click.Parameter, value: bool) -> bool:
    """Each sees the other, if that was read before it."""
    other = "quiet" if flag.name == "verbose" else "verbose"
    if value and ctx.params.get(other):
        raise click.UsageError("--quiet and --verbose do not go together.", ctx)
    return value


def seen(command: F) -> F:
    """The flags of a command that shows a discussion while it is held."""
    for made in (
        click.option("--no-log", is_flag=True, help="Leave no files in this folder."),
        click.option(
            "--plain", is_flag=True, help="One plain line per speech, even in a terminal."
        ),
        click.option(
            "-v", "--verbose", is_flag=True, callback=_one_of, help="Everything that happens."
        ),
        click.option(
            "-q", "--quiet", is_flag=True, callback=_one_of, help="Only the answer and the votes."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout."),
    ):
        command = made(command)
    return command


def limited(command: F) -> F:
    """The limits of what a discussion may spend."""
    for made in (
        click.option("--max-time", type=click.FloatRange(min=1), metavar="SECONDS",
                     help="Stop after this many active seconds."),
        click.option("--max-tokens", type=click.IntRange(min=1), metavar="N",
                     help="Stop at this many tokens."),
        click.option("--max-calls", type=click.IntRange(min=1), metavar="N",
                     help="Stop after this many model calls."),
        click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD",
                     help="Stop at this many US dollars."),
    ):  # fmt: skip
        command = made(command)
    return command


@cli.command(cls=AskCommand, short_help="Ask the table a question (the default command).")
@click.argument("question", nargs=-1)
@click.option(
    "--procedure",
    metavar="NAME",
    type=completing.Offered("name", completing.procedures),
    help="The rules of the discussion; `roundtable help` lists them.",
)
@click.option(
    "--model",
    metavar="MODEL",
    hidden=True,
    type=completing.Offered("model", completing.models),
    help="The default model: for the host, and every seat without its own.",
)
@click.option(
    "--context",
    metavar="FILE|FOLDER",
    multiple=True,
    type=completing.File(),
    help="Material: text, PDF, Word, PowerPoint, Excel or HTML files, a folder or git "
    "repository, or - for standard input. May be repeated.",
)
@click.option(
    "--context-from",
    metavar="ID|SLUG",
    multiple=True,
    type=completing.Offered("id", completing.discussions),
    help="An earlier discussion as material: id, last or result file.",
)
@click.option("--language", metavar="LANG", help="en, de, es, or any language by name.",
              type=completing.Offered("language", completing.languages))  # fmt: skip
@limited
@click.option("--confirm", is_flag=True, help="Show the estimate and ask before anything is spent.")
@click.option("--dry-run", is_flag=True, help="Show plan, prompts and estimate; call no model.")
@click.option("--priority", type=click.Choice(["low", "normal", "high"]), default="normal",
              help="With --detach: before or after other waiting questions.")  # fmt: skip
@click.option("--detach", is_flag=True,
              help="Leave it to a worker (PostgreSQL): print its id and return.")  # fmt: skip
@seen
@click.option("--web/--no-web", "web", default=None, help="Show the discussion in the browser.")
@click.option(
    "--questions",
    metavar="FILE",
    type=completing.File(),
    help="Ask every line of a file (or - for standard input), one after another. Blank lines and "
    "lines that begin with # are skipped; a line {…} is JSON: question, procedure, options, "
    "context, language. Run again, it continues where it was interrupted.",
)
@click.option("--at-once", type=click.IntRange(1, 16), metavar="N", default=1,
              help="How many questions to ask at the same time. Default: 1.")  # fmt: skip
@click.option("--fresh", is_flag=True, help="Ask answered questions again, all of them.")
@click.option("--no-search", is_flag=True, help="Do not search the web (council and adaptive do).")
@click.option(
    "--no-clarify", is_flag=True, help="Ask me nothing; make assumptions, and state them."
)
@click.option(
    "--secrets",
    type=click.Choice(["refuse", "redact", "send"]),
    help="What to do about likely secrets in the question or context: send nothing, remove them, "
    "or send them. Default: a terminal asks, everything else refuses.",
)
@click.option(
    "--notify",
    metavar="CHANNEL",
    multiple=True,
    type=completing.Offered("channel", completing.channels),
    help="A channel to notify: NAME or NAME:CHAT. May be repeated.",
)
@click.option("--confidential", is_flag=True, help="Send no notifications, and open no page.")
@click.option(
    "--task",
    metavar="BOARD:TASK",
    type=completing.Offered("task", completing.boards),
    help="The task that this discussion belongs to.",
)
@click.option("--first-word", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
              help="How long a speaker may take until its first word.")  # fmt: skip
@click.option("--silence", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
              help="How long a speaker may pause between words.")  # fmt: skip
@click.option(
    "--effort",
    type=click.Choice(["low", "medium", "high"]),
    help="How hard the models should think.",
)
def ask(**flags: Any) -> int:
    """Ask the table a question.

    \b
    roundtable Should we rent or buy --quick
    roundtable "Which of these three?" --choices A,B,C --models opus,codex,grok --host sonnet
    roundtable "Is this plan sound?" --context plan.md --experts threat-modeller,macroeconomist
    roundtable ask --questions open-questions.txt --max-cost 0.50

    QUESTION needs no quotes; - reads it from standard input. Flags may come before or after it.
    Exit code 0: a verdict; 1: none; 2: a wrong command; 3: ended by a limit; 130: interrupted.
    """
    if flags["questions"]:
        from ..batch import batch_command

        return batch_command(flags)
    from ..ask import ask_command

    return ask_command(flags)


held_here = click.option(
    "--here",
    is_flag=True,
    help="Continue at the address that is set here, even if it was held on another server.",
)


@cli.command("follow-up", cls=AskCommand, short_help="Ask the same table a further question.")
@click.argument("words", nargs=-1, metavar="[ID|last] QUESTION")
@held_here
def follow_up(**flags: Any) -> int:
    """Put a further question to the table of a finished discussion, with its verdict, positions,
    dissent and sources as material. Without an id: the newest one.

    The seats, models and rules are the same, unless you name a procedure or its options.
    """
    from ..follow import follow_up_command

    return follow_up_command(flags)


assert isinstance(follow_up, AskCommand), "it is made as one"
follow_up.also_takes(ask)


@cli.command(short_help="Continue an interrupted discussion.")
@click.argument("discussion_id", type=DISCUSSION, required=False)
@click.option("--again", metavar="STAGE", help="Repeat only the last stage of a closed discussion.")
@limited
@click.option("--detach", is_flag=True, help="Leave it to a worker (PostgreSQL), and return.")
@held_here
@seen
def resume(**flags: Any) -> int:
    """Continue a discussion where it stopped. Finished calls are not made or paid for again.

    Without an id: the newest interrupted discussion. With --again, the last stage of a finished
    one is repeated: the earlier speeches stay in the ledger, the newest count. Limits hold from
    now on; one that ended the discussion has to be higher to continue it.
    """
    from ..ask import resume_command

    return resume_command(flags)


@cli.command(short_help="Talk to the table in a chat.")
@click.option("--telegram", is_flag=True, help="Serve a Telegram bot instead of this terminal.")
def chat(**flags: Any) -> int:
    """Ask by chat messages: /roundtable QUESTION, /council QUESTION, or "ask the council …".

    In this terminal, or as a Telegram bot: set TELEGRAM_BOT_TOKEN, and name the chats that may ask
    in config.toml under [chat] allow. Under dedicated, every message is a topic.
    """
    from ..chat import chat_command

    return chat_command(flags)


@cli.command(short_help="Check that everything works, without any model.")
@click.option(
    "--web/--no-web", default=None, help="Also serve the live page. Default: only at a screen."
)
@click.option("--pace", type=click.FloatRange(0, 60), default=0.0, help="Seconds between speeches.")
def demo(**flags: Any) -> int:
    """Run a small scripted meeting: speeches, rounds, points, notifications, the page and the
    conclusion. No model is called, and nothing is spent."""
    from ..demo import demo_command

    return demo_command(flags)


@cli.group(short_help="Ask repeatedly, or once at a later time.")
def schedule() -> None:
    """Ask a question at set times, or once at a later time.

    \b
    roundtable schedule add "What changed in our market?" --cron "0 8 * * 1" --zone Europe/Berlin
    roundtable schedule add "Is the plan still sound?" --at 2026-12-01T08:00 --context plan.md
    roundtable schedule list
    roundtable schedule pause sc_1a2b3c4d

    Runs are started by `roundtable serve`, by workers, or by `roundtable schedule run`.
    """


@schedule.command("add", cls=AskCommand, short_help="Add a schedule.")
@click.argument("question", nargs=-1)
@click.option(
    "--cron", metavar="WHEN", help='minute hour day month weekday, such as "0 8 * * 1"; or @daily.'
)
@click.option(
    "--zone", metavar="ZONE", help="The time zone, such as Europe/Berlin. Default: this machine's."
)
@click.option("--at", metavar="TIME", help="Once, such as 2026-12-01T08:00.")
@click.option("--monthly", type=click.FloatRange(min=0), metavar="USD",
              help="The most all runs of a month may cost; --max-cost limits each.")  # fmt: skip
@click.option("--procedure", metavar="NAME", type=completing.Offered("name", completing.procedures),
              help="The rules of the discussion; `roundtable help` lists them.")  # fmt: skip
@click.option("--context", metavar="FILE|FOLDER", multiple=True, type=completing.File(),
              help="Material, as it is now. May be repeated.")  # fmt: skip
@click.option("--language", metavar="LANG", help="en, de, es, or any language by name.",
              type=completing.Offered("language", completing.languages))  # fmt: skip
@limited
@click.option("--no-search", is_flag=True, help="Do not search the web (council and adaptive do).")
@click.option("--notify", metavar="CHANNEL", multiple=True,
              type=completing.Offered("channel", completing.channels),
              help="A channel to notify: NAME or NAME:CHAT. May be repeated.")  # fmt: skip
@click.option("--confidential", is_flag=True, help="Send no notifications.")
@click.option("--secrets", type=click.Choice(["refuse", "redact", "send"]),
              help="What to do about likely secrets in the question or context.")  # fmt: skip
def schedule_add(**flags: Any) -> int:
    """Schedule a question. Everything is checked now, and nothing is spent. Models, experts and
    settings are those at the time of each run."""
    from ..schedule import add_command

    return add_command(flags)


@schedule.command("list", short_help="List the schedules.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def schedule_list(**flags: Any) -> int:
    """List all schedules: when each is due, and the result of its last run."""
    from ..schedule import list_command

    return list_command(flags)


@schedule.command("show", short_help="Show one schedule.")
@click.argument("schedule_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def schedule_show(**flags: Any) -> int:
    """Show one schedule, its question and options, and when it is due next."""
    from ..schedule import show_command

    return show_command(flags)


@schedule.command("pause", short_help="Pause one.")
@click.argument("schedule_id", metavar="ID")
def schedule_pause(schedule_id: str) -> int:
    """Start no more runs until it is resumed. A discussion that is already open continues;
    `roundtable stop` ends it."""
    from ..schedule import pause_command

    return pause_command(schedule_id)


@schedule.command("resume", short_help="Resume a paused one.")
@click.argument("schedule_id", metavar="ID")
def schedule_resume(schedule_id: str) -> int:
    """Resume it, from the next due time on."""
    from ..schedule import resume_command

    return resume_command(schedule_id)


@schedule.command("remove", short_help="Remove one.")
@click.argument("schedule_id", metavar="ID")
def schedule_remove(schedule_id: str) -> int:
    """Remove it. The discussions it has opened stay."""
    from ..schedule import remove_command

    return remove_command(schedule_id)


@schedule.command("run", short_help="Run what is due, here, until Ctrl-C.")
@click.option("--once", is_flag=True, help="Run only what is due now, then end.")
def schedule_run(once: bool) -> int:
    """Run what is due, here, until Ctrl-C. Not needed if `roundtable serve` or a worker is running;
    nothing is run twice."""
    from ..schedule import run_command

    return run_command(once=once)
