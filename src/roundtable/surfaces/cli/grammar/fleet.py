"""Past one machine: workers, and what they do."""

from __future__ import annotations

from typing import Any

import click

from .root import cli


@cli.command(short_help="Drive discussions that wait in the database, on any machine.")
@click.option(
    "--at-once",
    type=click.IntRange(1, 1_000),
    default=20,
    show_default=True,
    metavar="N",
    help="Discussions side by side.",
)
@click.option("--name", metavar="NAME", help="What others call it; its machine and process.")
@click.option(
    "--grace",
    type=click.FloatRange(0, 3_600),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="To wait for answers that are under way, when it is to end.",
)
def worker(**flags: Any) -> int:
    """Drive what waits in the PostgreSQL of ROUNDTABLE_DB, beside any number of other workers.

    If it ends, whatever way, others go on with what it drove. Put discussions there with
    `roundtable ask … --detach`, or on the page: `roundtable serve` leaves them to workers.
    """
    from ..worker import worker_command

    return worker_command(flags)


@cli.command(short_help="Who works, what each drives, and what waits.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def fleet(**flags: Any) -> int:
    """Show the workers of this database, what each drives, what waits and why."""
    from ..worker import fleet_command

    return fleet_command(flags)
