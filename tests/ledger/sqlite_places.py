"""A SQLite ledger for a test, and another program that meddles with its file."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

from roundtable.ledger.sqlite import SqliteLedger


@asynccontextmanager
async def opening(path: str | Path, *, patience: float = 10.0) -> AsyncIterator[SqliteLedger]:
    ledger = await SqliteLedger.open(path, patience=patience)
    try:
        yield ledger
    finally:
        await ledger.close()


@contextmanager
def another_program(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection
