"""docs/reference/commands.md, made from the grammar: `make reference` writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import cleandoc

import click

from .cli.app import cli
from .cli.exits import MEANING
from .cli.grammar.ask import AskCommand

_HEAD = """\
# Commands

This page is generated from the program (`make reference`); do not edit it.

`roundtable "…"` is `roundtable ask "…"`. Name a discussion by its id, by the beginning \
of its id, as `last`, or as `example:NAME`.

| exit code | means |
|---|---|
"""
_AS_IT_IS = "\b\n"
"""Click's mark of a paragraph that keeps its lines."""


def reference() -> str:
    """The whole page."""
    codes = [f"| {code} | {meaning} |" for code, meaning in MEANING.items()]
    sections = [line for title, group in cli.grouped.items() for line in _group(title, group)]
    return _HEAD + "\n".join([*codes, "", *sections]) + "\n"


def _group(title: str, commands: Mapping[str, click.Command]) -> Iterator[str]:
    yield from (f"## {title}", "")
    for name, command in commands.items():
        yield from _command(f"roundtable {name}", command, cli)


def _command(path: str, command: click.Command, parent: click.Group) -> Iterator[str]:
    # As the program makes them: a command keeps the help options of the first context it is in.
    above = click.Context(parent, **cli.context_settings)
    context = click.Context(command, parent=above, info_name=path)
    pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    yield from (f"### {' '.join([path, *pieces])}", "", *_told(command))
    options = [each for each in _own(command) if isinstance(each, click.Option) and not each.hidden]
    records = [record for each in options if (record := each.get_help_record(context))]
    if records:
        yield from ("| flag | does |", "|---|---|")
        yield from (f"| `{_cell(flag)}` | {_cell(does)} |" for flag, does in records)
        yield ""
    if isinstance(command, AskCommand):
        yield from ("Plus the options of the procedures: [options](options.md).", "")
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            if not each.hidden:
                yield from _command(f"{path} {name}", each, command)


def _own(command: click.Command) -> list[click.Parameter]:
    """Without the options of the procedures, which have a page of their own."""
    return list(command.general if isinstance(command, AskCommand) else command.params)


def _told(command: click.Command) -> Iterator[str]:
    """The help as paragraphs; what must keep its lines is a block."""
    told = cleandoc(command.help or command.short_help or "")
    for paragraph in told.split("\n\n"):
        if paragraph.startswith(_AS_IT_IS):
            yield from ("```text", paragraph.removeprefix(_AS_IT_IS), "```", "")
        else:
            yield from (" ".join(paragraph.split()), "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    click.echo(reference(), nl=False)
