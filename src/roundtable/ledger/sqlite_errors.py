"""What SQLite's errors mean to a caller, and what can be done about each."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ..core.errors import (
    LedgerBroken,
    LedgerBusy,
    LedgerError,
    LedgerFull,
    LedgerReadOnly,
    RoundtableError,
)

_PRIMARY = 0xFF
"""SQLite's extended result codes keep the primary one in the lowest byte."""


def primary_code(error: sqlite3.Error) -> int:
    """The primary result code; 0 for errors that Python's module raises by itself."""
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY


def is_busy(error: sqlite3.Error) -> bool:
    return primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def translate(error: sqlite3.Error, path: Path) -> RoundtableError:
    """The error of our tree that says what happened at `path`."""
    match primary_code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LedgerBusy(
                f"Another process holds {path} locked.",
                "Try again when it has finished; a backup or an open transaction may hold it.",
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return read_only(path)
        case sqlite3.SQLITE_CANTOPEN:
            return LedgerReadOnly(
                f"{path} cannot be opened.",
                "Make the file and its folder readable and writable,"
                " or choose another database with ROUNDTABLE_DB.",
            )
        case sqlite3.SQLITE_FULL:
            return LedgerFull(
                f"There is no room left for {path}.",
                "Free some space and try again; what was written before is safe.",
            )
        case sqlite3.SQLITE_NOTADB:
            return LedgerBroken(
                f"{path} is not a SQLite database.",
                "Choose another file with ROUNDTABLE_DB; this one was left as it is.",
            )
        case sqlite3.SQLITE_CORRUPT:
            return LedgerBroken(
                f"{path} is damaged.",
                "Restore it from a backup, or save what can be read with `sqlite3 … .recover`.",
            )
        case sqlite3.SQLITE_IOERR:
            return LedgerError(f"The disk under {path} failed: {error}.", "Check the disk.")
        case _:
            return LedgerError(f"{path}: {error}.")


def read_only(path: Path) -> LedgerReadOnly:
    return LedgerReadOnly(
        f"{path} cannot be written.",
        "Make the file and its folder writable, or choose another database with ROUNDTABLE_DB.",
    )
