"""Lists in columns on standard output: as wide as they are where they are piped, and no wider than
the terminal where somebody looks at them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence

import click

from .screen import cells, for_screen, is_terminal, padded, screen_of, wrapped
from .terminal import echo, echo_fitted

COLUMN_GAP = 2
LAST_COLUMN = 24
"""Cells that prose needs to be read in a column."""
HELP_WIDTH = 100
BESIDE = 64
"""Cells below which options and their help do not stand beside each other."""


def echo_rows(rows: Sequence[Sequence[str]], *, indent: int = 0) -> None:
    """Columns, of which the last is prose. A terminal too narrow for them gets that broken within
    its column, or under the others."""
    told = [[for_screen(each) for each in row] for row in rows]
    sizes = [max(cells(row[n]) for row in told) for n in range(len(told[0]) - 1)] if told else []
    begins = indent + sum(sizes) + COLUMN_GAP * len(sizes)
    screen = screen_of(sys.stdout, os.environ) if is_terminal(sys.stdout) else None
    for *heads, text in told:
        gap = " " * COLUMN_GAP
        columns = [padded(each, size) for each, size in zip(heads, sizes, strict=True)]
        line = f"{' ' * indent}{gap.join([*columns, text])}".rstrip()
        if screen is None or cells(line) <= screen.width:
            lines = [line]
        elif screen.width - begins >= LAST_COLUMN:
            first, *rest = wrapped(text, screen.width - begins)
            lines = [f"{' ' * indent}{gap.join([*columns, first])}"]
            lines += [" " * begins + each for each in rest]
        else:
            under = min(indent + 4, screen.width // 4)
            lines = [f"{' ' * indent}{each}" for each in _filled(heads, screen.width - indent)]
            lines += [" " * under + each for each in wrapped(text, screen.width - under)]
        echo("\n".join(lines))


def echo_options(sections: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Options and what they are for, under their titles, as the help of a command has them."""
    screen = screen_of(sys.stdout, os.environ) if is_terminal(sys.stdout) else None
    width = min(HELP_WIDTH, screen.width if screen else shutil.get_terminal_size().columns)
    if screen is None or width >= BESIDE:
        formatter = click.HelpFormatter(max_width=width)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(list(rows))
        echo(formatter.getvalue().rstrip())
        return
    for title, rows in sections.items():
        if rows:
            echo_fitted(f"\n{title}:")
            for option, told in rows:
                echo_rows([(option, told)], indent=2)


def _filled(heads: Sequence[str], width: int) -> list[str]:
    """As many of these beside each other as fit."""
    lines: list[str] = []
    for each in (head.strip() for head in heads):
        if lines and cells(lines[-1]) + COLUMN_GAP + cells(each) <= width:
            lines[-1] += f"{' ' * COLUMN_GAP}{each}"
        else:
            lines += wrapped(each, width)
    return lines
