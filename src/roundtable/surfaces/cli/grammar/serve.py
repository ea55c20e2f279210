"""Serving: the page, the tools for agents, and who may use them."""

from __future__ import annotations

from typing import Any

import click

from .root import DISCUSSION, cli


@cli.command(short_help="Serve the page: watch, join, start and share in the browser.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), help="The first port to try. Default: 8199."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--allow-host", metavar="NAME", multiple=True, help="Another name for this server.")
@click.option(
    "--detached", is_flag=True, help="Run in the background, after this terminal closes too."
)
@click.option("--stop", is_flag=True, help="Stop the running server.")
@click.option("--status", is_flag=True, help="Show where it is running.")
@click.option(
    "--drain",
    metavar="SECONDS",
    type=click.FloatRange(0, 600),
    default=0.0,
    help="When asked to end, keep serving for so long but report not ready; for a balancer.",
)
@click.option("--resume-all", is_flag=True, help="Continue every interrupted discussion.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--background", is_flag=True, hidden=True)
def serve(**flags: Any) -> int:
    """Serve the page of all discussions, on this machine only, and print the owner's link.

    If the port is taken, the next free one is used.
    """
    from ..serve import serve_command

    return serve_command(flags)


@cli.command(short_help="Serve the tools for agents (MCP).")
@click.option("--http", is_flag=True, help="Serve over HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address.")
@click.option("--port", type=click.IntRange(0, 65535), default=8198, show_default=True,
              help="With --http: the port.")  # fmt: skip
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="With --http: another name for this server."
)
@click.option("--as", "profile", metavar="PROFILE", help="Speak and vote for this seat only.")
@click.option(
    "--toolset",
    multiple=True,
    metavar="NAME",
    help="Offer only these sets of tools. May be repeated.",
)
@click.option(
    "--tools",
    type=click.Choice(["common", "all"]),
    default="common",
    show_default=True,
    help="Which tools clients see.",
)
@click.option("--no-web", is_flag=True, help="No live page, unless a discussion asks for one.")
@click.option(
    "--token",
    envvar="ROUNDTABLE_TOKEN",
    show_envvar=True,
    metavar="TOKEN",
    help="Use the rights of this token instead of your own.",
)
@click.option("--check", is_flag=True, help="Say why the profile cannot reach its tools.")
@click.option(
    "--discussion", type=DISCUSSION, metavar="ID", help="With --check: also its seat there."
)
def mcp(**flags: Any) -> int:
    """Serve Roundtable's tools to agents over the Model Context Protocol.

    \b
    roundtable mcp                      for a client that starts it
    roundtable mcp --http               for clients that connect to it
    roundtable mcp --token rtk_…        for an agent with one seat or limited rights
    """
    from ..mcp import mcp_command

    return mcp_command(flags)


@cli.command(short_help="Call one tool and print its JSON answer.")
@click.argument("name", required=False)
@click.argument("arguments", required=False, metavar="[JSON | -]")
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="ARG=FILE",
    help="Read an argument from a file; - is stdin.",
)
@click.option("--schema", is_flag=True, help="Print its arguments and answer instead.")
@click.option("--as", "profile", metavar="PROFILE", help="Speak and vote for this seat only.")
@click.option(
    "--toolset",
    multiple=True,
    metavar="NAME",
    help="Offer only these sets of tools. May be repeated.",
)
def tool(**flags: Any) -> int:
    """Call a tool as an agent would. Without NAME: list them all.

    \b
    roundtable tool                                 the tools, a line each
    roundtable tool list                            calls the tool `list`: all discussions
    roundtable tool speak '{"discussion_id": "rt_…", "participant": "arch"}' --text content=-
    """
    from ..tool import tool_command

    return tool_command(flags)


@cli.group(invoke_without_command=True, short_help="What clients, seats and links may do.")
@click.pass_context
def tokens(context: click.Context) -> int:
    """List the tokens and links that were given out, and end them.

    \b
    roundtable tokens                                    list them
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
@click.option("--seat", metavar="NAME", help="It speaks for this seat only.")
@click.option(
    "--discussion",
    multiple=True,
    metavar="ID",
    help="A discussion it may use, or `all`. May be repeated.",
)
@click.option(
    "--may",
    multiple=True,
    metavar="ACT",
    help="results, watch, lead or open. Default: open; watch, if discussions are named.",
)
@click.option(
    "--spend", type=click.FloatRange(min=0), metavar="USD", help="The most it may spend in total."
)
@click.option(
    "--monthly",
    type=click.FloatRange(min=0),
    metavar="USD",
    help="The most it may spend in a month.",
)
@click.option(
    "--channel",
    multiple=True,
    metavar="NAME",
    help="A channel it may notify, or `all`. May be repeated.",
)
@click.option("--expires", metavar="WHEN", help="12h, 30d, 4w, or a time.")
def tokens_add(label: str, **flags: Any) -> int:
    """Give out a token for a program, an agent or a person. It is shown once, and only its hash is
    kept. It can watch and lead the discussions it starts; of others it sees only those you
    name."""
    from ..tokens import add_command

    return add_command(label, flags)


@tokens.command("budget", short_help="Set what a token may spend in a month.")
@click.argument("token_id", metavar="ID")
@click.argument("monthly", metavar="USD | usual")
def tokens_budget(token_id: str, monthly: str) -> int:
    """Set what a token may spend in a month (UTC). `usual` is the setting for every token
    ([monthly] each_usd)."""
    from ..tokens import budget_command

    return budget_command(token_id, monthly)


@tokens.command("end", short_help="End tokens and links.")
@click.argument("given", nargs=-1, required=True, metavar="ID | ADDRESS | all")
def tokens_end(given: tuple[str, ...]) -> int:
    """End tokens and links, with everything that was given out through them. Open pages and feeds
    end too."""
    from ..tokens import end_command

    return end_command(given)


@cli.group(short_help="Teach your own agent to use the table.")
def skill() -> None:
    """Manage the instructions for your own agent: Claude Code, OpenClaw, Hermes."""


@skill.command("install", short_help="Install the skill where agents find it.")
@click.option(
    "--for",
    "agents",
    type=click.Choice(["claude-code", "openclaw", "hermes", "all"]),
    multiple=True,
    help="The agent to install it for. Default: those that are found. May be repeated.",
)
@click.option("--to", metavar="DIR", help="Install it into this folder instead.")
def skill_install(**flags: Any) -> int:
    """Install or upgrade the skill, and list the remaining steps."""
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
    """Publish the skill to ClawHub: show account and files, scan them, and publish after a yes."""
    from ..skill import publish_command

    return publish_command(flags)
