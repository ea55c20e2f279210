"""Reading what was said, keeping it and checking it."""

from __future__ import annotations

from typing import Any

import click

from .. import completing
from .root import DISCUSSION, cli


@cli.command("list", short_help="List discussions.")
@click.argument("search", required=False)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def list_(**flags: Any) -> int:
    """List discussions, the newest first. SEARCH matches the question."""
    from ..library import list_command

    return list_command(flags)


@cli.command(short_help="Show a discussion.")
@click.argument("discussion_id", type=DISCUSSION, required=False, metavar="ID|last|example:NAME")
@click.option(
    "--example",
    type=completing.Offered("name", completing.recorded),
    metavar="NAME",
    help="A recorded example; `roundtable examples` lists them.",
)
@click.option("--follow", is_flag=True, help="Keep watching it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
@click.option("--full", is_flag=True, help="Everything that was said, positions, notes and costs.")
@click.option("-v", "--verbose", is_flag=True, help="With --follow: everything that happens.")
@click.option("--deliverable", metavar="NAME", help="Print one work exactly as it was written.")
def show(**flags: Any) -> int:
    """Show the verdict of a discussion, or its current state; with --full everything that was
    said."""
    example = flags.pop("example")
    if (example is None) == (flags["discussion_id"] is None):
        raise click.UsageError("Name one discussion: an id, last, or --example NAME.")
    if example is not None:
        flags["discussion_id"] = f"example:{example}"
    from ..library import show_command

    return show_command(flags)


@cli.command(short_help="Show two discussions side by side.")
@click.argument("discussion_id", type=DISCUSSION, metavar="ID|last")
@click.argument("other", type=DISCUSSION, metavar="ID|last")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def compare(**flags: Any) -> int:
    """Compare two discussions: answers, votes, confidence, positions and costs side by side."""
    from ..follow import compare_command

    return compare_command(flags)


@cli.command(short_help="Write a discussion to a file.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--format", "form", type=click.Choice(["md", "json", "html", "page"]), default="md",
              show_default=True, help="The form.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE",
              help="The file to write. Default, and -: standard output.")  # fmt: skip
@click.option("--bundle", metavar="FILE", help="Write a bundle that others can verify.")
@click.option("--sign", is_flag=True, help="Sign the bundle with your own key.")
@click.option("--deliverables", metavar="FOLDER", help="Write each work to its own file in FOLDER.")
def export(**flags: Any) -> int:
    """Write a discussion as Markdown, as JSON, as one self-contained HTML file (html: a report to
    print and mail; page: the interactive page), or as a bundle: all events in a chain of hashes,
    for `roundtable verify`.

    An existing file is never overwritten.
    """
    if flags["sign"] and not flags["bundle"]:
        raise click.UsageError("--sign belongs to a bundle: add --bundle FILE.")
    if flags["bundle"]:
        from ..bundle import export_bundle

        return export_bundle(flags)
    from ..library import export_command, export_deliverables

    return export_deliverables(flags) if flags["deliverables"] else export_command(flags)


@cli.command(short_help="Check a bundle made from a discussion.")
@click.argument("file", metavar="FILE|example:NAME")
@click.option("--head", metavar="HASH", help="The head you expect.")
@click.option(
    "--signer", metavar="KEY", help="The expected signer: a key, or a name from [signers]."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def verify(**flags: Any) -> int:
    """Check a bundle: its chain, its events, its tally, its verdict's citations and quotations.

    It needs no key, no database and no network. Exit code 0: sound; 1: wrong; 4: it cannot be
    verified here, because something was redacted or made with another version or procedure.
    """
    from ..bundle import verify_command

    return verify_command(flags)


@cli.command(short_help="List recorded discussions, which need no key to read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
def examples(**flags: Any) -> int:
    """List the recorded discussions that come with the program: question, procedure, answer, and
    how each was made. Use `example:NAME` instead of an id wherever a discussion is read:

    \b
    roundtable show --example free-buses
    roundtable export example:free-buses --format html -o buses.html
    roundtable verify example:free-buses
    """
    from ..examples import examples_command

    return examples_command(flags)


@cli.command(short_help="Say how a decision turned out.")
@click.argument("discussion_id", type=DISCUSSION, metavar="ID|last")
@click.argument("turned_out", metavar="good|mixed|bad")
@click.option("--note", default="", metavar="TEXT", help="What happened, in a sentence or two.")
def outcome(**flags: Any) -> int:
    """Record how the decision of a discussion turned out, once you know: good, mixed or bad. A
    later record replaces it. Records adjust the confidence of later verdicts to your decisions."""
    from ..lead import outcome_command

    return outcome_command(flags)


@cli.command(short_help="Delete a discussion.")
@click.argument("discussion_id", type=DISCUSSION)
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(**flags: Any) -> int:
    """Delete a discussion and everything that was said in it, for good."""
    from ..library import delete_command

    return delete_command(flags)
