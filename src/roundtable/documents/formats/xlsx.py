"""Excel, sheet by sheet and row by row, by the values that were computed last."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice, zip_longest
from typing import Any

from openpyxl import load_workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.utils import get_column_letter
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet import _read_only
from openpyxl.worksheet._reader import WorkSheetParser

from ..limits import MOST_PAGES, MOST_ROWS
from ..read import Unreadable
from ..worker import Found, Part
from .marks import END, LOWERED, RAISED, STRUCK, marked

_GROUP = 100
"""Rows that are handed on at once."""
_VERTICAL = {"superscript": RAISED, "subscript": LOWERED}
_LONGEST_GAP = 10
"""Empty cells in a row, side by side, that are written as such."""


class _Parser(WorkSheetParser):  # type: ignore[misc]  # openpyxl has no types
    """What reads each sheet."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named, rich_text=True)

    def parse_dimensions(self) -> None:
        """Not asked for: a sheet that does not tell its size would be read to its end for it."""


def read_xlsx(data: bytes, found: Found) -> None:
    warnings.simplefilter("ignore")  # about styles and extensions that nobody reads here
    _read_only.WorkSheetParser = _Parser
    try:
        values = load_workbook(io.BytesIO(data), read_only=True, data_only=True, rich_text=True)
        formulas = load_workbook(io.BytesIO(data), read_only=True)
    except (InvalidFileException, KeyError, ValueError, TypeError, AttributeError) as error:
        raise Unreadable("is damaged, or no workbook") from error
    for sheet in values.worksheets[:MOST_PAGES]:
        where = f"sheet {sheet.title}" + (", hidden" if sheet.sheet_state != "visible" else "")
        found.add(_groups(where, _rows(sheet, formulas[sheet.title], where, found)))
        if found.full:
            break
    if not found.parts:
        raise Unreadable("holds no text: its sheets are empty")


def _groups(where: str, rows: Iterator[str]) -> Iterator[Part]:
    first = True
    while group := list(islice(rows, _GROUP)):
        yield (where if first else ""), "\n".join(group)
        first = False


def _rows(sheet: Any, formulas: Any, where: str, found: Found) -> Iterator[str]:
    for each in (sheet, formulas):
        each.reset_dimensions()  # which some programs write wrongly
    both = zip(
        sheet.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=False
    )
    for number, (row, written) in enumerate(both, 1):
        if number > MOST_ROWS:
            found.lines.append(f"has more than {MOST_ROWS:,} rows in {where}; the first were read")
            return
        cells = [
            (at, _told(formula if value is None else value))
            for at, (value, formula) in enumerate(zip_longest(row, written), 1)
            if value is not None or formula is not None
        ]
        if line := " | ".join(_in_line(cells)):
            yield f"{number}: {line}"


def _in_line(cells: Sequence[tuple[int, str]]) -> Iterator[str]:
    """The cells of a row that say something, with the gaps between them. One behind a long gap is
    named by its column: nobody could count how far away it stands."""
    place = 0
    for at, cell in cells:
        if not cell:
            continue
        gap = at - place - 1
        if gap > _LONGEST_GAP:
            yield f"… | {get_column_letter(at)}: {cell}"
        else:
            yield from [""] * gap
            yield cell
        place = at


def _told(value: object) -> str:
    match value:
        case CellRichText():
            return " ".join(marked("".join(map(_formed, value))).split())
        case datetime():
            return value.isoformat(" ").removesuffix(" 00:00:00")
        case float():
            return f"{value:.10g}"
        case _:
            return " ".join(str(value).split())


def _formed(piece: str | TextBlock) -> str:
    """A piece of a cell whose text is not all of one form."""
    if not isinstance(piece, TextBlock):
        return piece
    mark = STRUCK if piece.font.strike else _VERTICAL.get(piece.font.vertAlign or "", "")
    return f"{mark}{piece.text}{END if mark else ''}"
