"""The grammar of the command line: `roundtable QUESTION [flags]`, and the other commands."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click

from ...version import __version__
from .encoding import never_fail

FAILED, USAGE, BUDGET, UNVERIFIED, INTERRUPTED = 1, 2, 3, 4, 130
"""Exit codes beside 0, a verdict was delivered."""


class Discussion(click.ParamType[str]):
    """A discussion by its id, the beginning of it, `last`, or as `example:NAME`."""

    name = "id"


DISCUSSION = Discussion()
_WHOLE_ID = re.compile(r"rt_[0-9a-f]{8}")


class FindingCommand(click.Command):
    """A command that gets the whole ids of the discussions that are meant. They are looked for when
    it is carried out: a line can be understood where there is no ledger."""

    def invoke(self, ctx: click.Context) -> Any:
        for each in self.params:
            called = ctx.params.get(each.name or "") if isinstance(each.type, Discussion) else None
            if called and not _WHOLE_ID.fullmatch(called):
                from .with_app import find_here

                ctx.params[each.name or ""] = find_here(called)
        return super().invoke(ctx)


class Grammar(click.Group):
    """A group whose default command is `ask`, so that a question can be asked straight away."""

    command_class = FindingCommand

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h", "--version"):
            self._refuse_typo(ctx, args)
            args = ["ask", *args]
        return super().parse_args(ctx, args)

    def _refuse_typo(self, ctx: click.Context, args: list[str]) -> None:
        """`roundtable lsit`, or `shwo rt_1a2b3c4d`, is a slip, not a question to pay for."""
        word = args[0]
        near = get_close_matches(word, self.commands, n=1, cutoff=0.75)
        alone = len(args) == 1 or args[1].startswith("rt_")
        if alone and near and not word.startswith("-"):
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


class AskCommand(click.Command):
    """A command that has the procedures' options too. They are made when somebody looks: the list
    of commands needs none of them."""

    _params: list[click.Parameter]
    _general: tuple[click.Parameter, ...]
    _complete: bool

    @property
    def params(self) -> list[click.Parameter]:
        if not self._complete:
            from .ask_options import procedure_options

            self._params += procedure_options()
            self._complete = True
        return self._params

    @params.setter
    def params(self, general: list[click.Parameter]) -> None:
        self._params, self._general, self._complete = general, tuple(general), False

    def also_takes(self, other: click.Command) -> None:
        """Have the general options of another one, too."""
        assert isinstance(other, AskCommand), other.name
        options = [each for each in other._general if isinstance(each, click.Option)]
        self.params = [*self._general, *options]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from .ask_options import sections

        general = [*self._general, self.get_help_option(ctx)]
        written = [each for each in general if isinstance(each, click.Option)]
        records = [record for each in written if (record := each.get_help_record(ctx))]
        for title, rows in [("Options", records), *sections()]:
            with formatter.section(title):
                formatter.write_dl(rows)


@cli.command(cls=AskCommand, short_help="Ask the table a question (the default command).")
@click.argument("question", nargs=-1)
@click.option("--procedure", metavar="NAME", help="The rules of the discussion.")
@click.option("--model", metavar="MODEL", help="The default model, which the host uses.")
@click.option("--confirm", is_flag=True, help="Show the estimate and ask before anything is spent.")
@click.option("--language", metavar="LANG", help="en, de, es, or any language by name.")
@click.option(
    "--context",
    metavar="FILE",
    multiple=True,
    help="Material for the question: a text file, or - for standard input. May be repeated.",
)
@click.option("--context-from", metavar="ID|SLUG", multiple=True,
              help="An earlier discussion to have in hand: id, last or result file.")  # fmt: skip
@click.option(
    "--secrets",
    type=click.Choice(["refuse", "redact", "send"]),
    help="Likely secrets in question or context: send nothing, send it without them, or as it is. "
    "Without it a terminal asks, and all else refuses.",
)
@click.option("--task", metavar="BOARD:TASK", help="The task that this discussion belongs to.")
@click.option("--no-search", is_flag=True, help="No web search.")
@click.option("--no-clarify", is_flag=True, help="Ask me nothing back: assume, and say so.")
@click.option(
    "--notify", metavar="CHANNEL", multiple=True, help="Who is told: NAME or NAME:CHAT. Repeats."
)
@click.option("--confidential", is_flag=True, help="Nobody is told, and no page is opened.")
@click.option("--web/--no-web", "web", default=None, help="Show the discussion in the browser.")
@click.option("--max-calls", type=click.IntRange(min=1), help="Stop after this many model calls.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Stop at this many tokens.")
@click.option("--max-cost", type=click.FloatRange(min=0), help="Stop at this many US dollars.")
@click.option("--max-time", type=click.FloatRange(min=1), help="Stop after so many active seconds.")
@click.option("--first-word", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
              help="How long anybody may take to its first word.")  # fmt: skip
@click.option("--silence", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
              help="How long anybody may pause between two words.")  # fmt: skip
@click.option("--effort", type=click.Choice(["low", "medium", "high"]), help="How much to think.")
@click.option("--dry-run", is_flag=True, help="Show plan, prompts and estimate; call nobody.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="Only the answer and how the table voted.")
@click.option("-v", "--verbose", is_flag=True, help="Every event, and the whole written answer.")
@click.option("--plain", is_flag=True, help="No live view: a line for each speech.")
@click.option("--no-log", is_flag=True, help="Write no session log.")
def ask(**flags: Any) -> int:
    """Ask the table a question.

    QUESTION may be - to read it from standard input. Flags may stand before or after it.
    """
    from .ask import ask_command

    return ask_command(flags)


@cli.command("follow-up", cls=AskCommand, short_help="Ask the same table a further question.")
@click.argument("words", nargs=-1, metavar="[ID|last] QUESTION")
def follow_up(**flags: Any) -> int:
    """Put a further question to the table of a discussion that is over, with its verdict,
    positions, dissent and sources in hand. Without an id: the newest one.

    The same seats, models and rules, unless you name a procedure or its options.
    """
    from .follow import follow_up_command

    return follow_up_command(flags)


assert isinstance(follow_up, AskCommand), "it is made as one"
follow_up.also_takes(ask)


@cli.command(short_help="Show two discussions side by side.")
@click.argument("discussion_id", type=DISCUSSION, metavar="ID|last")
@click.argument("other", type=DISCUSSION, metavar="ID|last")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def compare(**flags: Any) -> int:
    """Answers, votes, confidence, positions and costs of two discussions side by side."""
    from .follow import compare_command

    return compare_command(flags)


@cli.command(short_help="Go on with an interrupted discussion.")
@click.argument("discussion_id", type=DISCUSSION, required=False)
@click.option("--again", metavar="STAGE", help="Ask the last stage of a closed one again, alone.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
@click.option("-q", "--quiet", is_flag=True, help="Only the answer and how the table voted.")
@click.option("-v", "--verbose", is_flag=True, help="Every event, and the whole written answer.")
@click.option("--plain", is_flag=True, help="No live view: a line for each speech.")
@click.option("--no-log", is_flag=True, help="Write no session log.")
def resume(**flags: Any) -> int:
    """Go on where a discussion stopped. No finished call is made or paid again.

    Without an id: the newest discussion that was interrupted. With --again, the last stage of one
    that is over is asked once more: what was said before stays in the ledger, the newest counts.
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


@cli.command(short_help="List recorded discussions by a real model, to be read without any key.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def examples(**flags: Any) -> int:
    """List the recorded discussions that come with the program: question, procedure, answer, and
    how each came about. `example:NAME` stands for an id wherever a discussion is read:

    \b
    roundtable show --example free-buses
    roundtable export example:free-buses --format html -o buses.html
    roundtable verify example:free-buses
    """
    from .examples import examples_command

    return examples_command(flags)


@cli.command(short_help="Show a discussion.")
@click.argument("discussion_id", type=DISCUSSION, required=False, metavar="ID|last|example:NAME")
@click.option("--example", metavar="NAME", help="A recorded one; `roundtable examples` lists them.")
@click.option("--follow", is_flag=True, help="Stay, and show what happens.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
@click.option("--full", is_flag=True, help="All that was said, who held what, notes and costs.")
@click.option("-v", "--verbose", is_flag=True, help="With --follow: every event.")
@click.option("--deliverable", metavar="NAME", help="Print one work, exactly as it was written.")
def show(**flags: Any) -> int:
    """Show the verdict of a discussion, or how it stands; with --full all that was said."""
    example = flags.pop("example")
    if (example is None) == (flags["discussion_id"] is None):
        raise click.UsageError("Name one discussion: an id, last, or --example NAME.")
    if example is not None:
        flags["discussion_id"] = f"example:{example}"
    from .library import show_command

    return show_command(flags)


@cli.command(short_help="Write a discussion to a file.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--format", "form", type=click.Choice(["md", "json", "html", "page"]), default="md")
@click.option("-o", "--output", metavar="FILE", help="Where to; standard output otherwise.")
@click.option("--bundle", metavar="FILE", help="Write a bundle that others can verify.")
@click.option("--sign", is_flag=True, help="Sign the bundle with your own key.")
@click.option("--deliverables", metavar="FOLDER", help="Write the works, each to its own file.")
def export(**flags: Any) -> int:
    """Write a discussion as Markdown, as JSON, as one HTML file that needs nothing else (html: a
    report to print and mail; page: the live page to click through), or as a bundle: all events in a
    chain of hashes, for `roundtable verify`.

    An existing file is never overwritten.
    """
    if flags["sign"] and not flags["bundle"]:
        raise click.UsageError("--sign belongs to a bundle: add --bundle FILE.")
    if flags["bundle"]:
        from .bundle import export_bundle

        return export_bundle(flags)
    from .library import export_command, export_deliverables

    return export_deliverables(flags) if flags["deliverables"] else export_command(flags)


@cli.command(short_help="Check a bundle that somebody made of a discussion.")
@click.argument("file", metavar="FILE|example:NAME")
@click.option("--head", metavar="HASH", help="The head that you know from elsewhere.")
@click.option("--signer", metavar="KEY", help="Who must have signed it: a key, or a name you gave.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def verify(**flags: Any) -> int:
    """Check a bundle: its chain, its events, its tally, its verdict's citations and quotations.

    It needs no key, no database and no network. Exit code 0: sound; 1: wrong; 4: it cannot be
    verified here, because something was redacted or its version or procedure is not known.
    """
    from .bundle import verify_command

    return verify_command(flags)


@cli.command(short_help="End a discussion with what exists.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--reason", default="", help="Why, for the record.")
def stop(**flags: Any) -> int:
    """End a running or interrupted discussion. It keeps what was said, with a partial verdict."""
    from .library import stop_command

    return stop_command(flags)


@cli.command(short_help="Add a remark, or speak for a participant.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("text")
@click.option("--as", "participant", default="coordinator", show_default=True)
@click.option("--declaration", metavar="JSON", help="What the participant holds; all that counts.")
@click.option("--key", help="Makes a repeated call harmless.")
def speak(**flags: Any) -> int:
    """Speak in a discussion: as the host at any time, or as a participant in its open turn.

    TEXT may be - to read it from standard input. A participant declares what it holds, such as
    {"position": "Wait a month."}; `roundtable tool status` shows the fields that can be filled in.
    """
    from .library import speak_command

    return speak_command(flags)


@cli.command(short_help="Let nobody begin a new turn.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--reason", default="", help="Why, for the record.")
def pause(**flags: Any) -> int:
    """Pause a discussion. Whoever speaks finishes; `roundtable resume` lets it go on."""
    from .lead import pause_command

    return pause_command(flags)


@cli.command(short_help="Do without a participant's open turn.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("participant")
def skip(**flags: Any) -> int:
    """Skip the turn that a participant has now; it is absent from that round."""
    from .lead import skip_command

    return skip_command(flags)


@cli.command(short_help="Put a document on the table.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("file")
@click.option("--key", help="Makes a repeated call harmless.")
@click.option(
    "--secrets",
    type=click.Choice(["refuse", "redact", "send"]),
    help="Likely secrets in it: add nothing, add it without them, or as it is.",
)
def add(**flags: Any) -> int:
    """Add material to a discussion: a text file, or - for standard input. A question of the host
    is a remark: roundtable speak ID TEXT."""
    from .lead import add_command

    return add_command(flags)


@cli.command(short_help="Answer what the host asked before anybody speaks.")
@click.argument("discussion_id")
@click.argument("answers", nargs=-1, required=True)
@click.option("--key", help="Makes a repeated call harmless.")
def answer(**flags: Any) -> int:
    """Answer what the host asked, each question in turn; "" leaves one to its assumption."""
    from .lead import answer_command

    return answer_command(flags)


@cli.command(short_help="Give a discussion more rounds.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("rounds", type=int)
def extend(**flags: Any) -> int:
    """Give a meeting or an adaptive discussion more rounds than it was opened with."""
    from .lead import extend_command

    return extend_command(flags)


@cli.command(short_help="Seat one more at a meeting.")
@click.argument("discussion_id", type=DISCUSSION)
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
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("profile")
def dismiss(**flags: Any) -> int:
    """Take a participant from the table; what it said stays. Two must stay."""
    from .lead import dismiss_command

    return dismiss_command(flags)


@cli.command(short_help="End the open round of a meeting by hand.")
@click.argument("discussion_id", type=DISCUSSION)
def advance(**flags: Any) -> int:
    """End the open round of a meeting. Whoever has not spoken in it is absent from it."""
    from .lead import advance_command

    return advance_command(flags)


@cli.command(short_help="Vote on ending a meeting.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--as", "participant", required=True, metavar="NAME", help="Whose vote it is.")
@click.option("--end/--no-end", default=True, help="For the end, or against it.")
def vote(**flags: Any) -> int:
    """Vote on ending a meeting. It ends when all participants vote for it."""
    from .lead import vote_command

    return vote_command(flags)


@cli.command(short_help="Say how a decision turned out.")
@click.argument("discussion_id", type=DISCUSSION, metavar="ID|last")
@click.argument("turned_out", metavar="good|mixed|bad")
@click.option("--note", default="", metavar="TEXT", help="What came of it, in a sentence or two.")
def outcome(**flags: Any) -> int:
    """Say how the decision of a discussion turned out, once you know: good, mixed or bad. A later
    word replaces it. What you record makes the confidence of later verdicts fit your decisions."""
    from .lead import outcome_command

    return outcome_command(flags)


@cli.command(short_help="End a meeting with a conclusion of your own.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("text")
def conclude(**flags: Any) -> int:
    """End a meeting as its chair: TEXT is its conclusion, - reads it from standard input."""
    from .lead import conclude_command

    return conclude_command(flags)


@cli.command(short_help="Check that everything works, without any model.")
@click.option("--web/--no-web", default=True, help="Serve the live page as well.")
@click.option("--pace", type=click.FloatRange(0, 60), default=0.0, help="Seconds between speeches.")
def demo(**flags: Any) -> int:
    """Hold a small meeting in which the coordinator speaks for everybody: speeches, rounds,
    points, news, the page and the conclusion, and nothing is called or spent."""
    from .demo import demo_command

    return demo_command(flags)


@cli.command(short_help="Talk to the table in a chat.")
@click.option("--telegram", is_flag=True, help="Serve a Telegram bot instead of this terminal.")
def chat(**flags: Any) -> int:
    """Ask by chat messages: /roundtable QUESTION, /council QUESTION, or "ask the council …".

    In this terminal, or as a Telegram bot: set TELEGRAM_BOT_TOKEN, and name the chats that may ask
    in config.toml under [chat] allow. Under dedicated, every message is a topic.
    """
    from .chat import chat_command

    return chat_command(flags)


@cli.command(short_help="Report a discussion to a task board.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--board", metavar="NAME", help="Which one; that of the linked task otherwise.")
@click.option("--link", metavar="BOARD:TASK", help="The task that the discussion belongs to.")
@click.option("--document", metavar="PATH", help="Where the conclusion lies, for the comment.")
@click.option("--comment-only", is_flag=True, help="Make no tasks of the action items.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def tasks(**flags: Any) -> int:
    """Comment on the linked task, and make a task for each owner of action items.

    A repeated report writes nothing twice. Boards are described in config.toml.
    """
    from .tasks import tasks_command

    return tasks_command(flags)


@cli.command(short_help="News of a discussion: what was sent, and sending by hand.")
@click.argument("words", nargs=-1, metavar="ID KIND | status ID | resend ID | pump | test CHANNEL")
@click.option("--days", type=click.IntRange(min=1), default=7, help="How far back pump looks; 7.")
@click.option("--trace", is_flag=True, help="Show each message as it is sent.")
@click.option("--json", "as_json", is_flag=True, help="Status as one JSON document on stdout.")
def notify(**flags: Any) -> int:
    """Tell others of a discussion by hand, and see what has reached them.

    \b
    roundtable notify rt_0a1b2c3d concluded        send news of this kind now
    roundtable notify status rt_0a1b2c3d           every message and where it stands
    roundtable notify resend rt_0a1b2c3d [MESSAGE] once more; without one, what was given up
    roundtable notify pump                         send what earlier runs left
    roundtable notify test slack                   try a channel
    """
    from .notify import notify_command

    return notify_command(flags)


@cli.command(short_help="Delete a discussion.")
@click.argument("discussion_id", type=DISCUSSION)
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
@click.argument("words", nargs=-1, metavar="[show]")
@click.option("--origin", is_flag=True, help="Every value in force, and where it comes from.")
@click.option("--json", "as_json", is_flag=True, help="With --origin: one JSON document.")
def config(**flags: Any) -> int:
    """Print config.json, or say how to make one. With --origin, every setting that is in force and
    the file or variable that it comes from."""
    if flags["words"] not in ((), ("show",)):
        raise click.UsageError("It is `roundtable config`, or `roundtable config show --origin`.")
    if flags["origin"] or flags["as_json"]:
        from .origins import origins_command

        return origins_command(as_json=flags["as_json"])
    from .setup import config_command

    return config_command()


@cli.command(short_help="Trust the files that a project brings along.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--list", is_flag=True, help="Show what is trusted, in every folder.")
@click.option("--forget", is_flag=True, help="Trust nothing of this folder any more.")
def trust(**flags: Any) -> int:
    """Show what the project's files in this folder would change, and ask whether to trust them.

    Settings, panels, experts and procedures of a folder count only once they are trusted, as they
    are now: a file that changes is ignored again. Even then they cannot raise a limit, choose an
    address, a program, a channel or a key, or say where data goes.
    """
    from .trust import trust_command

    return trust_command(flags)


@cli.group(invoke_without_command=True, short_help="What clients, seats and links may do.")
@click.pass_context
def tokens(context: click.Context) -> int:
    """List the tokens and links that were given out, and end them.

    \b
    roundtable tokens                                    what stands
    roundtable tokens add laptop --spend 5 --expires 30d
    roundtable tokens add bob --seat architect --discussion rt_1a2b3c4d
    roundtable tokens end 3f9a61c0b2d4                   or a link's address, or all
    """
    if context.invoked_subcommand is not None:
        return 0
    from .tokens import list_command

    return list_command()


@tokens.command("add", short_help="Give out a token; it is shown once.")
@click.argument("label")
@click.option("--seat", metavar="NAME", help="It speaks for this seat, and for no other.")
@click.option("--discussion", multiple=True, metavar="ID", help="For this one; or: all.")
@click.option(
    "--may",
    multiple=True,
    metavar="ACT",
    help="results, watch, lead or open. Usual: start its own; watch, if discussions are named.",
)
@click.option("--spend", type=click.FloatRange(min=0), metavar="USD", help="All that it starts.")
@click.option("--channel", multiple=True, metavar="NAME", help="It may send news there; or: all.")
@click.option("--expires", metavar="WHEN", help="12h, 30d, 4w, or a time.")
def tokens_add(label: str, **flags: Any) -> int:
    """Give out a token for a program, an agent or a person. It is shown once, and only its hash is
    kept. What it starts is its own to watch and to lead; of other discussions it sees those that
    you name."""
    from .tokens import add_command

    return add_command(label, flags)


@tokens.command("end", short_help="End tokens and links.")
@click.argument("given", nargs=-1, required=True, metavar="ID | ADDRESS | all")
def tokens_end(given: tuple[str, ...]) -> int:
    """End tokens and links, with everything that was given out through them. Pages and feeds that
    are open end too."""
    from .tokens import end_command

    return end_command(given)


@cli.command(short_help="Find out what is broken or missing.")
@click.option("--reach", is_flag=True, help="Also call the providers: are they there?")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def doctor(**flags: Any) -> int:
    """Examine the set-up: settings, models, agents, database, page, channels and tools; say what
    is broken or missing and how to mend it. A key is never shown.

    Nobody is called without --reach. Exit code 1 if something is broken.
    """
    from .doctor import doctor_command

    return doctor_command(flags)


@cli.command(short_help="Say what is read, passed on, stored and sent.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def privacy(**flags: Any) -> int:
    """Say what happens to your data, and how each part of it is in your hands."""
    from .privacy import privacy_command

    return privacy_command(flags)


@cli.command(short_help="Remove what Roundtable has stored.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--older-than", type=click.IntRange(min=0), metavar="DAYS", help="Only discussions "
              "that have not changed for so many days.")  # fmt: skip
@click.option("--settings", is_flag=True, help="Your settings, experts and procedures too.")
def purge(**flags: Any) -> int:
    """Remove the database, the embedded model, the cache, the page's keys and temporary files.

    It lists them first and asks. Your settings stay, unless --settings is given; reports in your
    own folders stay in any case.
    """
    from .purge import purge_command

    return purge_command(flags)


@cli.group(short_help="Teach your own agent to use the table.")
def skill() -> None:
    """The instructions for host agents such as Claude Code, OpenClaw and Hermes."""


@skill.command("install", short_help="Put the skill where agents find it.")
@click.option(
    "--for",
    "agents",
    type=click.Choice(["claude-code", "openclaw", "hermes", "all"]),
    multiple=True,
    help="For whom; by default those that are found. May be repeated.",
)
@click.option("--to", metavar="DIR", help="Another folder of skills.")
def skill_install(**flags: Any) -> int:
    """Put the skill in place, over an earlier version too, and list what is left to do."""
    from .skill import install_command

    return install_command(flags)


@skill.command("check", short_help="Validate the skill.")
@click.argument("folder", required=False)
def skill_check(**flags: Any) -> int:
    """Validate the skill that comes with this installation, or the one in FOLDER."""
    from .skill import check_command

    return check_command(flags)


@skill.command("publish", short_help="Show what would be published, and ask.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def skill_publish(**flags: Any) -> int:
    """Show hub, account and files, scan them, and publish only after a yes."""
    from .skill import publish_command

    return publish_command(flags)


@cli.command(short_help="Serve the page: watch, join, start and share in the browser.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The first to try; 8199.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--allow-host", metavar="NAME", multiple=True, help="A further name of this server.")
@click.option("--detached", is_flag=True, help="In the background; it outlives this terminal.")
@click.option("--stop", is_flag=True, help="End the one that is running.")
@click.option("--status", is_flag=True, help="Say where it is.")
@click.option("--resume-all", is_flag=True, help="Go on with every interrupted discussion.")
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@click.option("--background", is_flag=True, hidden=True)
def serve(**flags: Any) -> int:
    """Serve the page of all discussions, for this machine alone, and print its owner's link.

    If the port is taken, the next free one is used.
    """
    from .serve import serve_command

    return serve_command(flags)


@cli.command(short_help="Serve the tools for agents (MCP).")
@click.option("--http", is_flag=True, help="Over HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http.")
@click.option("--port", type=click.IntRange(0, 65535), default=8198, show_default=True)
@click.option("--allow-host", multiple=True, metavar="NAME", help="Another name that leads here.")
@click.option("--as", "profile", metavar="PROFILE", help="Speak and vote for this seat only.")
@click.option("--toolset", multiple=True, metavar="NAME", help="Only these sets of tools.")
@click.option(
    "--tools",
    type=click.Choice(["common", "all"]),
    default="common",
    show_default=True,
    help="Which of them clients are shown.",
)
@click.option("--no-web", is_flag=True, help="No live page for discussions that do not ask.")
@click.option(
    "--token",
    envvar="ROUNDTABLE_TOKEN",
    show_envvar=True,
    metavar="TOKEN",
    help="With the rights of this token instead of your own.",
)
@click.option("--check", is_flag=True, help="Say why the profile cannot reach its tools.")
@click.option(
    "--discussion", type=DISCUSSION, metavar="ID", help="With --check: also its seat there."
)
def mcp(**flags: Any) -> int:
    """Serve Roundtable's tools to agents by the Model Context Protocol.

    \b
    roundtable mcp                      for a client that starts it
    roundtable mcp --http               for clients that connect to it
    roundtable mcp --token rtk_…        for an agent that holds one seat, or may do some things
    """
    from .mcp import mcp_command

    return mcp_command(flags)


@cli.command(short_help="Call one tool and print its JSON answer.")
@click.argument("name", required=False)
@click.argument("arguments", required=False, metavar="[JSON | -]")
@click.option(
    "--text", "texts", multiple=True, metavar="ARG=FILE", help="An argument's text; - is stdin."
)
@click.option("--schema", is_flag=True, help="Print its arguments and its answer instead.")
@click.option("--as", "profile", metavar="PROFILE", help="Speak and vote for this seat only.")
@click.option("--toolset", multiple=True, metavar="NAME", help="Only these sets of tools.")
def tool(**flags: Any) -> int:
    """Call a tool as an agent would. Without NAME: name them all.

    \b
    roundtable tool                                 the tools, a line each
    roundtable tool list                            the tool of that name: all discussions
    roundtable tool speak '{"discussion_id": "rt_…", "participant": "arch"}' --text content=-
    """
    from .tool import tool_command

    return tool_command(flags)


@cli.command("help", short_help="What can be asked of the table.")
def help_() -> int:
    """List the four things that can be asked of the table."""
    from .setup import help_command

    return help_command()


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code. Errors go to stderr, with a next step."""
    never_fail()
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
    from ...core.visible import shown

    if not isinstance(error, RoundtableError):
        raise error
    click.echo(f"Error: {shown(error.message)}", err=True)
    if error.remedy:
        click.echo(shown(error.remedy), err=True)
    ours = (UsageError, LeaseHeld, LedgerBroken, LedgerReadOnly, LedgerTooNew, LedgerUnreachable)
    return USAGE if isinstance(error, ours) else FAILED


def _let_go_of_stdout() -> None:
    """Whoever read it has gone (`… | head`): Python must not try to write the rest at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
