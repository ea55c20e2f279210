"""Markdown tables in speeches: what stands in which column of which row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CELL_BORDER = re.compile(r"(?<!\\)\|")
_RULE_CELL = re.compile(r":?-+:?")
_MARKUP = re.compile(r"[*_`]+")
_PLACEHOLDER = re.compile(
    r"[\W_]*(?:tb[da]|n/?a|none|nobody|unknown|to be (?:determined|decided|defined"
    r"|confirmed|named|appointed|assigned|hired|agreed)"
    r"|open|待定|未定|无|暂无|不详)?[\W_]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Table:
    """One table. Each row has as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, *names: str) -> int | None:
        """The first column whose heading contains one of these words, case ignored."""
        for place, heading in enumerate(self.header):
            title = heading.casefold()
            if any(name in title for name in names):
                return place
        return None


def tables(text: str) -> tuple[Table, ...]:
    """Every table of a text, in order. A line with bars is a header if a rule follows it."""
    lines = [line.replace("｜", "|") for line in text.splitlines()]
    found: list[Table] = []
    place = 0
    while place + 1 < len(lines):
        if "|" in lines[place] and _is_rule(lines[place + 1]):
            header = _cells(lines[place])
            rows = tuple(_rows(lines, place + 2, len(header)))
            found.append(Table(header, rows))
            place += 2 + len(rows)
        else:
            place += 1
    return tuple(found)


def is_filled(cell: str) -> bool:
    """Whether a cell says something: no dash, no TBD, no 待定."""
    return _PLACEHOLDER.fullmatch(cell) is None


def _rows(lines: list[str], start: int, width: int) -> Iterator[tuple[str, ...]]:
    for line in lines[start:]:
        if "|" not in line:
            return
        cells = _cells(line)[:width]
        yield (*cells, *[""] * (width - len(cells)))


def _is_rule(line: str) -> bool:
    return "|" in line and all(_RULE_CELL.fullmatch(cell) for cell in _cells(line))


def _cells(line: str) -> tuple[str, ...]:
    bare = line.strip().removeprefix("|")
    if bare.endswith("|") and not bare.endswith("\\|"):
        bare = bare[:-1]
    return tuple(
        _MARKUP.sub("", cell).replace("\\|", "|").strip() for cell in _CELL_BORDER.split(bare)
    )
