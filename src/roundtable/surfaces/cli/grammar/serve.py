"""Serving: the page, the tools for agents, and who may use them."""

from __future__ import annotations

from typing import Any

import click

from .root import DISCUSSION, cli


@cli.command(short_help="Serve the page: watch, join, start and share in the browser.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The first to try; 8199.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--allow-host", metavar="NAME", multiple=True, help="A further name of this server.")
@click.option("--detached", is_flag=True, help="In the background; it outlives this terminal.")
@click.option("--stop", is_flag=True, help="End the one that is running.")
@click.option("--status", is_flag=True, help="Say where it is.")
@click.option(
    "--drain",
    metavar="SECONDS",
    type=click.FloatRange(0, 600),
    default=0.0,
    help="Once asked to end, serve so long without being ready for more; for a balancer.",
)
@click.option("--resume-all", is_flag=True, help="Go on with every interrupted discussion.")
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@click.option("--background", is_flag=True, hidden=True)
def serve(**flags: Any) -> int:
    """Serve the page of all discussions, for this machine alone, and print its owner's link.

    If the port is taken, the next free one is used.
    """
    from ..serve import serve_command

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
    from ..mcp import mcp_command

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
    from ..tool import tool_command

    return tool_command(flags)


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
    from ..tokens import list_command

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
@click.option("--monthly", type=click.FloatRange(min=0), metavar="USD", help="In each month.")
@click.option("--channel", multiple=True, metavar="NAME", help="It may send news there; or: all.")
@click.option("--expires", metavar="WHEN", help="12h, 30d, 4w, or a time.")
def tokens_add(label: str, **flags: Any) -> int:
    """Give out a token for a program, an agent or a person. It is shown once, and only its hash is
    kept. What it starts is its own to watch and to lead; of other discussions it sees those that
    you name."""
    from ..tokens import add_command

    return add_command(label, flags)


@tokens.command("budget", short_help="Set what a token may spend in a month.")
@click.argument("token_id", metavar="ID")
@click.argument("monthly", metavar="USD | usual")
def tokens_budget(token_id: str, monthly: str) -> int:
    """Set or raise what all that a token starts may cost in a month. `usual` is what the settings
    say for every token ([monthly] each_usd). It renews with each month, in UTC."""
    from ..tokens import budget_command

    return budget_command(token_id, monthly)


@tokens.command("end", short_help="End tokens and links.")
@click.argument("given", nargs=-1, required=True, metavar="ID | ADDRESS | all")
def tokens_end(given: tuple[str, ...]) -> int:
    """End tokens and links, with everything that was given out through them. Pages and feeds that
    are open end too."""
    from ..tokens import end_command

    return end_command(given)


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
    from ..skill import install_command

    return install_command(flags)


@skill.command("check", short_help="Validate the skill.")
@click.argument("folder", required=False)
def skill_check(**flags: Any) -> int:
    """Validate the skill that comes with this installation, or the one in FOLDER."""
    from ..skill import check_command

    return check_command(flags)


@skill.command("publish", short_help="Show what would be published, and ask.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def skill_publish(**flags: Any) -> int:
    """Show hub, account and files, scan them, and publish only after a yes."""
    from ..skill import publish_command

    return publish_command(flags)
