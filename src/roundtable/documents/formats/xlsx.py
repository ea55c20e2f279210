"""Excel, sheet by sheet and row by row, by the values that were computed last."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._reader import WorkSheetParser

from ..limits import MOST_COLUMNS, MOST_PAGES, MOST_ROWS
from ..read import Unreadable
from ..worker import Found, Part

_GROUP = 100
"""Rows that are handed on at once."""


def read_xlsx(data: bytes, found: Found) -> None:
    warnings.simplefilter("ignore")  # about styles and extensions that nobody reads here
    # A sheet that does not tell its size is read to its end for it, and nobody here asks for it.
    WorkSheetParser.parse_dimensions = lambda _: None
    try:
        values = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
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
            _told(written[at] if value is None and at < len(written) else value)
            for at, value in enumerate(row[:MOST_COLUMNS])
        ]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield f"{number}: {' | '.join(cells)}"


def _told(value: object) -> str:
    match value:
        case None:
            return ""
        case datetime():
            return value.isoformat(" ").removesuffix(" 00:00:00")
        case float():
            return f"{value:.10g}"
        case _:
            return " ".join(str(value).split())
