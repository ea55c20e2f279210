"""Purses beside the events: in the same database, so that all processes count together."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from ..core.purse import Purse
from ..ports import Ledger, Purses
from .beside import beneath, in_postgres, in_sqlite

if TYPE_CHECKING:
    from .postgres import PostgresLedger
    from .sqlite import SqliteLedger

T = TypeVar("T")
Work = Callable[[Purse, datetime], tuple[Purse, T]]


def _read(data: str | None) -> Purse:
    return Purse.model_validate_json(data) if data else Purse()


def _holding(place: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    """Those of them where the name is not only somewhere in the text."""
    return [account for account, data in rows if place in _read(data).running]


class MemoryPurses:
    def __init__(self) -> None:
        self._purses: dict[str, Purse] = {}

    async def change(self, account: str, work: Work[T]) -> T:
        self._purses[account], told = work(self._purses.get(account) or Purse(), datetime.now(UTC))
        return told

    async def look(self, accounts: Iterable[str]) -> tuple[Mapping[str, Purse], datetime]:
        found = {each: self._purses[each] for each in accounts if each in self._purses}
        return found, datetime.now(UTC)

    async def holding(self, place: str) -> Sequence[str]:
        return [each for each, purse in self._purses.items() if place in purse.running]


_FIND = "SELECT data FROM purses WHERE account = ?"
_NAMING = "SELECT account, data FROM purses WHERE instr(data, ?)"
_PUT = """
    INSERT INTO purses (account, data) VALUES (?, ?)
    ON CONFLICT (account) DO UPDATE SET data = excluded.data
"""


class SqlitePurses:
    def __init__(self, ledger: SqliteLedger) -> None:
        self._ledger = ledger

    async def change(self, account: str, work: Work[T]) -> T:
        def changed(connection: sqlite3.Connection) -> T:
            row = connection.execute(_FIND, (account,)).fetchone()
            purse, told = work(_read(row and row[0]), datetime.now(UTC))
            connection.execute(_PUT, (account, purse.model_dump_json()))
            return told

        return await self._ledger.beside(changed)

    async def look(self, accounts: Iterable[str]) -> tuple[Mapping[str, Purse], datetime]:
        wanted = tuple(accounts)

        def found(connection: sqlite3.Connection) -> dict[str, Purse]:
            rows = ((each, connection.execute(_FIND, (each,)).fetchone()) for each in wanted)
            return {each: _read(row[0]) for each, row in rows if row}

        return await self._ledger.beside(found), datetime.now(UTC)

    async def holding(self, place: str) -> Sequence[str]:
        def found(connection: sqlite3.Connection) -> list[tuple[str, str]]:
            return connection.execute(_NAMING, (place,)).fetchall()

        return _holding(place, await self._ledger.beside(found))


_NEW = "INSERT INTO purses (account, data) VALUES ($1, '') ON CONFLICT DO NOTHING"
_LOCKED = "SELECT data, clock_timestamp() FROM purses WHERE account = $1 FOR UPDATE"
_KEEP = "UPDATE purses SET data = $2 WHERE account = $1"
_NAMED = "SELECT account, data FROM purses WHERE strpos(data, $1) > 0"
_SOME = "SELECT account, data FROM purses WHERE account = ANY ($1::text[])"


class PostgresPurses:
    """By the clock of the database's server."""

    def __init__(self, ledger: PostgresLedger) -> None:
        self._ledger = ledger

    async def change(self, account: str, work: Work[T]) -> T:
        async with self._ledger.transaction() as connection:
            await connection.execute(_NEW, account)
            row = await connection.fetchrow(_LOCKED, account)
            assert row is not None, "it was made just now"
            purse, told = work(_read(row[0]), row[1])
            await connection.execute(_KEEP, account, purse.model_dump_json())
        return told

    async def look(self, accounts: Iterable[str]) -> tuple[Mapping[str, Purse], datetime]:
        async with self._ledger.transaction() as connection:
            rows = await connection.fetch(_SOME, list(accounts))
            now: datetime = await connection.fetchval("SELECT clock_timestamp()")
        return {row["account"]: _read(row["data"]) for row in rows}, now

    async def holding(self, place: str) -> Sequence[str]:
        async with self._ledger.transaction() as connection:
            rows = await connection.fetch(_NAMED, place)
        return _holding(place, [(row["account"], row["data"]) for row in rows])


_in_memory: WeakKeyDictionary[Ledger, MemoryPurses] = WeakKeyDictionary()


async def purses_beside(ledger: Ledger) -> Purses:
    """The purses that lie where a ledger does."""
    found = await beneath(ledger)
    if in_sqlite(found):
        return SqlitePurses(found)
    if in_postgres(found):
        return PostgresPurses(found)
    return _in_memory.setdefault(found, MemoryPurses())
