"""Setting up: models, experts, rules, files, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import click

from .. import completing
from .root import cli


@cli.command(short_help="Find models and choose the defaults, one question at a time.")
@click.option("--yes", is_flag=True, help="Ask nothing; take what is stored and found.")
def setup(**flags: Any) -> int:
    """Find keys, local servers and command-line agents, test them, and choose models, host, limit,
    language and more. Nothing is stored before you confirm the summary."""
    from ..setup import setup_command

    return setup_command(yes=flags["yes"])


@cli.command(short_help="Show the stored configuration.")
@click.argument("words", nargs=-1, metavar="[show]")
@click.option("--origin", is_flag=True, help="Every value in force, and where it comes from.")
@click.option("--json", "as_json", is_flag=True, help="With --origin: one JSON document.")
def config(**flags: Any) -> int:
    """Print config.json, or say how to make one. With --origin, list every setting in force, the
    file or variable it comes from, and which settings of a project's file are ignored and why."""
    if flags["words"] not in ((), ("show",)):
        raise click.UsageError("It is `roundtable config`, or `roundtable config --origin`.")
    if flags["origin"] or flags["as_json"]:
        from ..origins import origins_command

        return origins_command(as_json=flags["as_json"])
    from ..origins import config_command

    return config_command()


@cli.command(short_help="Show which models can be used now.")
@click.argument("words", nargs=-1, metavar="[WORDS]...")
@click.option("--refresh", is_flag=True, help="Ask every endpoint for its list now.")
@click.option("--all", "show_all", is_flag=True, help="Show every model of long lists.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def models(**flags: Any) -> int:
    """Show what was found (keys, servers, the embedded model), what each model can do and costs,
    and what is missing for more. With WORDS, show only models that match all of them: `models
    claude`, `models openrouter vision`.

    The models are those that an endpoint lists. Its list is kept for a day (ten minutes for a
    server that is not the vendor's). Keys are never shown.
    """
    from ..models import models_command

    return models_command(flags)


@cli.command(short_help="List, search and choose experts.")
@click.argument("query", nargs=-1)
@click.option("--for", "topic", metavar="TOPIC", help="Choose a panel for a topic, and say why.")
@click.option("--count", type=click.IntRange(1, 100), default=3, show_default=True,
              help="With --for: the size of the panel.")  # fmt: skip
@click.option("--include", metavar="EXPERT", multiple=True, help="An expert to include always.")
@click.option("--weight", metavar="DOMAIN=N", multiple=True, help="Raise or lower a domain.")
@click.option(
    "--lambda", "lam", type=float, metavar="0…1", help="1: relevance only; 0: diversity only."
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
    from ..experts import experts_command

    return experts_command(flags)


@cli.command(short_help="List the procedures, your own among them.")
@click.argument("words", nargs=-1, metavar="[show NAME]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def procedures(**flags: Any) -> int:
    """List the procedures, or show one of them.

    Your own: TOML files in the folder procedures of ROUNDTABLE_HOME, or in .roundtable/procedures.
    """
    from ..procedures import procedures_command

    return procedures_command(flags)


@cli.command(short_help="Find out what is broken or missing.")
@click.option("--reach", is_flag=True, help="Also make one tiny call to each provider.")
@click.option("--proxy", is_flag=True, help="Also say how to set up one proxy for many vendors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def doctor(**flags: Any) -> int:
    """Check your setup (settings, models, agents, database, page, channels and tools), and say
    what is broken or missing and how to fix it. Keys are never shown.

    Without --reach, nothing outside this machine is contacted. Exit code 1 if something is broken.
    """
    from ..doctor import doctor_command

    return doctor_command(flags)


@cli.command(short_help="Trust the settings and files of a project.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--list", is_flag=True, help="Show what is trusted, in every folder.")
@click.option("--forget", is_flag=True, help="Stop trusting this folder.")
def trust(**flags: Any) -> int:
    """Show what the project's files in this folder would change, and ask whether to trust them.

    Settings, panels, experts and procedures of a folder count only once you trust them, as they
    are now: a file that changes is ignored again. Even then they cannot raise a limit, choose an
    address, a program, a channel or a key, or say where data goes.
    """
    from ..trust import trust_command

    return trust_command(flags)


@cli.command(short_help="Show what is read, stored and sent.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def privacy(**flags: Any) -> int:
    """Show what happens to your data, and how you control it."""
    from ..privacy import privacy_command

    return privacy_command(flags)


@cli.command(short_help="Archive closed discussions as files, and restore them.")
@click.option("--older-than", metavar="SPAN", help="Those unchanged for that long: 90d, 12w; "
              "a bare number is days.")  # fmt: skip
@click.option("--to", metavar="FOLDER", help="Where the files go.")
@click.option("--dry-run", is_flag=True, help="Only list them.")
@click.option("--restore", metavar="FILE", help="Restore the discussion in this file.")
def archive(**flags: Any) -> int:
    """Archive closed discussions: each becomes a file, which is read again before the discussion
    is removed from the ledger.

    Unlike a bundle, such a file is complete and yours alone. --restore brings the discussion back
    unchanged.
    """
    from ..archive import archive_command

    return archive_command(flags)


@cli.command(short_help="Spread the events of a large PostgreSQL ledger over partitions.")
@click.option("--into", type=click.IntRange(2, 1024), default=16, show_default=True, help="How "
              "many tables; beyond a few dozen only for terabytes.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Do not ask.")
def partition(**flags: Any) -> int:
    """Split the events into several tables of the database, by discussion, in one transaction.

    All events are rewritten, and cannot be read or written meanwhile: do it at a quiet hour, with
    free space for a second copy. It helps ledgers that do not fit into the server's memory.
    """
    from ..partition import partition_command

    return partition_command(flags)


@cli.command(short_help="Remove what Roundtable has stored.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--older-than", metavar="SPAN", help="Only discussions unchanged for that long: 90d, "
              "12w; a bare number is days.")  # fmt: skip
@click.option("--settings", is_flag=True, help="Also your settings, experts and procedures.")
def purge(**flags: Any) -> int:
    """Remove the database, the embedded model, the cache, the page's keys and temporary files.

    It lists them first and asks. Your settings stay, unless --settings is given; reports in your
    own folders always stay.
    """
    from ..purge import purge_command

    return purge_command(flags)


@cli.command(short_help="Let your shell complete commands, ids, experts and models.")
@click.argument("shell", required=False, type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str | None) -> int:
    """Print the line your shell needs to complete commands, flags and their values, and say where
    to put it. Without SHELL: for the shell you use."""
    from ..helping import completion_command

    return completion_command(shell)


@cli.command("help", short_help="The procedures and when to use each; one with all its options.")
@click.argument(
    "name",
    nargs=-1,
    metavar="[PROCEDURE|COMMAND]",
    type=completing.Offered("name", completing.helped),
)
def help_(name: tuple[str, ...]) -> int:
    """List the procedures and when to use each, or describe one, or a command, with all its
    options."""
    from ..helping import help_command

    return help_command(name)
