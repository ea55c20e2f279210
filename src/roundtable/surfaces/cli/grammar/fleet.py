"""Past one machine: workers, and what they do."""

from __future__ import annotations

from typing import Any

import click

from .root import cli


@cli.command(short_help="Run discussions that wait in the database, on any machine.")
@click.option(
    "--at-once",
    type=click.IntRange(1, 1_000),
    default=20,
    show_default=True,
    metavar="N",
    help="Discussions to run at once.",
)
@click.option("--name", metavar="NAME", help="The worker's name. Default: machine and process.")
@click.option(
    "--grace",
    type=click.FloatRange(0, 3_600),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for answers in progress when asked to end.",
)
def worker(**flags: Any) -> int:
    """Run discussions that wait in the PostgreSQL database of ROUNDTABLE_DB, alongside any number
    of other workers.

    If it ends or dies, others continue its discussions. Queue discussions with
    `roundtable ask … --detach`, or on the page: `roundtable serve` leaves them to workers.
    """
    from ..worker import worker_command

    return worker_command(flags)


@cli.command(short_help="Show the workers, what each runs, and what waits.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def fleet(**flags: Any) -> int:
    """Show the workers of this database, what each runs, what waits and why."""
    from ..worker import fleet_command

    return fleet_command(flags)
