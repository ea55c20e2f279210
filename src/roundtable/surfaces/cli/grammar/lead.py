"""Leading a discussion by hand, and passing on what came of it."""

from __future__ import annotations

from typing import Any

import click

from .root import DISCUSSION, cli


@cli.command(short_help="Add a remark, or speak for a participant.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("text")
@click.option("--as", "participant", default="coordinator", show_default=True, metavar="NAME",
              help="Who speaks.")  # fmt: skip
@click.option("--declaration", metavar="JSON", help="The participant's position; only this counts.")
@click.option("--key", help="Makes a repeated call harmless.")
def speak(**flags: Any) -> int:
    """Speak in a discussion: as the host at any time, or as a participant in its open turn.

    TEXT may be - to read it from standard input. A participant declares its position, such as
    {"position": "Wait a month."}; `roundtable tool status` shows the fields it can fill in.
    """
    from ..library import speak_command

    return speak_command(flags)


@cli.command(short_help="Answer what the host asked before the start.")
@click.argument("discussion_id")
@click.argument("answers", nargs=-1, required=True)
@click.option("--key", help="Makes a repeated call harmless.")
def answer(**flags: Any) -> int:
    """Answer the host's questions in order; "" accepts its assumption."""
    from ..lead import answer_command

    return answer_command(flags)


@cli.command(short_help="Put a document on the table.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("file")
@click.option("--key", help="Makes a repeated call harmless.")
@click.option(
    "--secrets",
    type=click.Choice(["refuse", "redact", "send"]),
    help="What to do about likely secrets in it: add nothing, remove them, or add them.",
)
def add(**flags: Any) -> int:
    """Add material to a discussion: a text file, or - for standard input. To ask something as the
    host, make a remark: roundtable speak ID TEXT."""
    from ..lead import add_command

    return add_command(flags)


@cli.command(short_help="Pause a discussion.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--reason", default="", help="Why, for the record.")
def pause(**flags: Any) -> int:
    """Pause a discussion. Open turns finish; `roundtable resume` continues it."""
    from ..lead import pause_command

    return pause_command(flags)


@cli.command(short_help="End a discussion with what there is.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--reason", default="", help="Why, for the record.")
def stop(**flags: Any) -> int:
    """End a running or interrupted discussion. It keeps what was said, with a partial verdict."""
    from ..library import stop_command

    return stop_command(flags)


@cli.command(short_help="Skip a participant's open turn.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("participant")
def skip(**flags: Any) -> int:
    """Skip a participant's open turn; it is absent from that round."""
    from ..lead import skip_command

    return skip_command(flags)


@cli.command(short_help="Give a discussion more rounds.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("rounds", type=int)
def extend(**flags: Any) -> int:
    """Give a meeting or an adaptive discussion more rounds than it was opened with."""
    from ..lead import extend_command

    return extend_command(flags)


@cli.command(short_help="End the open round of a meeting by hand.")
@click.argument("discussion_id", type=DISCUSSION)
def advance(**flags: Any) -> int:
    """End the open round of a meeting. Participants who have not spoken are absent from it."""
    from ..lead import advance_command

    return advance_command(flags)


@cli.command(short_help="End a meeting with your own conclusion.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("text")
def conclude(**flags: Any) -> int:
    """End a meeting as its chair: TEXT is its conclusion, - reads it from standard input."""
    from ..lead import conclude_command

    return conclude_command(flags)


@cli.command(short_help="Vote on ending a meeting.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--as", "participant", required=True, metavar="NAME", help="Whose vote it is.")
@click.option("--end/--no-end", default=True, help="For or against ending.")
def vote(**flags: Any) -> int:
    """Vote on ending a meeting. It ends when all participants vote for it."""
    from ..lead import vote_command

    return vote_command(flags)


@cli.command(short_help="Add a seat to a meeting.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("profile")
@click.option("--name", help="The name the others see. Default: the profile.")
@click.option("--role", help="Its role. Default: the name.")
@click.option("--perspective", default="", help="Its point of view.")
@click.option(
    "--model", metavar="MODEL", help="The model that speaks for it. Default: someone outside."
)
def invite(**flags: Any) -> int:
    """Add a seat to a meeting, from the next round on."""
    from ..lead import invite_command

    return invite_command(flags)


@cli.command(short_help="Remove a seat from a meeting.")
@click.argument("discussion_id", type=DISCUSSION)
@click.argument("profile")
def dismiss(**flags: Any) -> int:
    """Remove a participant; its speeches stay. At least two participants must remain."""
    from ..lead import dismiss_command

    return dismiss_command(flags)


@cli.command(short_help="Report a discussion to a task board.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--board", metavar="NAME", help="The board. Default: that of the linked task.")
@click.option("--link", metavar="BOARD:TASK", help="The task that the discussion belongs to.")
@click.option("--document", metavar="PATH", help="Where the conclusion is, for the comment.")
@click.option("--comment-only", is_flag=True, help="Make no tasks of the action items.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def tasks(**flags: Any) -> int:
    """Comment on the linked task, and make a task for each owner of action items.

    A repeated report writes nothing twice. Boards are described in config.toml.
    """
    from ..tasks import tasks_command

    return tasks_command(flags)


@cli.command(short_help="Notifications: what was sent, and sending by hand.")
@click.argument("words", nargs=-1, metavar="ID KIND | status ID | resend ID | pump | test CHANNEL")
@click.option(
    "--days", type=click.IntRange(min=1), default=7, help="How far back pump looks. Default: 7."
)
@click.option("--trace", is_flag=True, help="Show each message as it is sent.")
@click.option("--json", "as_json", is_flag=True, help="Print the status as one JSON document.")
def notify(**flags: Any) -> int:
    """Send notifications of a discussion by hand, and see which have arrived.

    \b
    roundtable notify rt_0a1b2c3d concluded        send this kind now
    roundtable notify status rt_0a1b2c3d           every message and its state
    roundtable notify resend rt_0a1b2c3d [MESSAGE] send again; without one, all given up
    roundtable notify pump                         send what earlier runs left
    roundtable notify test slack                   try a channel
    """
    from ..notify import notify_command

    return notify_command(flags)
