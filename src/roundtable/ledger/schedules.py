"""Schedules beside the events: in the same database, for whoever shares it.

A table and not a stream of events: a schedule is changed in place and claimed under a lock, and
what it has done stands in the ledger already, as the discussions that it opened.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from ..core.errors import LedgerTooNew, UnknownName
from ..core.schedule import Schedule
from ..ports import Ledger, Schedules
from .beside import beneath, in_postgres, in_sqlite

if TYPE_CHECKING:
    from .postgres import PostgresLedger
    from .sqlite import SqliteLedger

Work = Callable[[Schedule], Schedule | None]


def _unknown(schedule_id: str) -> UnknownName:
    return UnknownName("schedule", schedule_id, remedy="`roundtable schedule list` shows them.")


def too_new(schedule_id: str) -> LedgerTooNew:
    return LedgerTooNew(
        f"Schedule {schedule_id} was written by a newer Roundtable.", "Upgrade Roundtable."
    )


def _read(schedule_id: str, data: str) -> Schedule:
    try:
        return Schedule.model_validate_json(data)
    except ValidationError:
        raise too_new(schedule_id) from None


def _readable(schedule_id: str, data: str) -> bool:
    try:
        _read(schedule_id, data)
    except LedgerTooNew:
        return False
    return True


# In memory


@dataclass(frozen=True, slots=True)
class _Row:
    schedule: Schedule
    claimed_by: str = ""
    claimed_until: float = 0.0
    """Or rests."""


class MemorySchedules:
    """For rehearsals and tests."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._rows: dict[str, _Row] = {}
        self._now = now

    async def add(self, schedule: Schedule) -> None:
        self._rows[schedule.id] = _Row(schedule)

    async def all(self) -> list[Schedule]:
        return [row.schedule for row in self._rows.values()]

    async def unreadable(self, *, due: bool = False) -> list[str]:  # noqa: ARG002
        return []  # nobody else writes here

    async def change(self, schedule_id: str, work: Work) -> Schedule:
        if (row := self._rows.get(schedule_id)) is None:
            raise _unknown(schedule_id)
        changed = work(row.schedule)
        if changed is None:
            del self._rows[schedule_id]
            return row.schedule
        self._rows[schedule_id] = _Row(changed)
        return changed

    async def claim(self, by: str, *, ttl: float) -> tuple[Schedule, datetime] | None:
        now = self._now()
        for id_, row in self._rows.items():
            due = row.schedule.next_due
            if due is not None and due.timestamp() <= now and row.claimed_until <= now:
                self._rows[id_] = replace(row, claimed_by=by, claimed_until=now + ttl)
                return row.schedule, datetime.fromtimestamp(now, UTC)
        return None

    async def settle(self, schedule: Schedule, by: str, *, rests: float = 0.0) -> bool:
        row = self._rows.get(schedule.id)
        if row is None or row.claimed_by != by:
            return False
        self._rows[schedule.id] = _Row(schedule, claimed_until=self._now() + rests)
        return True

    async def due_in(self) -> float | None:
        dues = [
            max(row.schedule.next_due.timestamp(), row.claimed_until)
            for row in self._rows.values()
            if row.schedule.next_due
        ]
        return max(0.0, min(dues) - self._now()) if dues else None


# SQLite

_SQLITE_ADD = """
    INSERT INTO schedules (id, number, next_due, data)
    VALUES (?, (SELECT coalesce(max(number), 0) + 1 FROM schedules), ?, ?)
"""
_SQLITE_KEEP = """
    UPDATE schedules SET next_due = ?, data = ?, claimed_by = NULL, claimed_until = NULL
    WHERE id = ?
"""
_SQLITE_SETTLE = """
    UPDATE schedules SET next_due = ?, data = ?, claimed_by = NULL, claimed_until = ?
    WHERE id = ? AND claimed_by = ?
"""
_SQLITE_DUE = """
    SELECT id, data FROM schedules
    WHERE next_due <= :now AND (claimed_until IS NULL OR claimed_until <= :now)
    ORDER BY next_due
"""
_SQLITE_CLAIM = "UPDATE schedules SET claimed_by = ?, claimed_until = ? WHERE id = ?"
_SQLITE_LATER = """
    SELECT min(max(next_due, coalesce(claimed_until, next_due))) FROM schedules
    WHERE max(next_due, coalesce(claimed_until, next_due)) > ?
"""
_SQLITE_ALL = "SELECT id, data FROM schedules ORDER BY number"


class SqliteSchedules:
    """By the clock of this machine, as everything in a file is."""

    def __init__(self, ledger: SqliteLedger) -> None:
        self._ledger = ledger

    async def add(self, schedule: Schedule) -> None:
        row = (schedule.id, _seconds(schedule), schedule.model_dump_json())
        await self._ledger.beside(lambda c: c.execute(_SQLITE_ADD, row).rowcount)

    async def all(self) -> list[Schedule]:
        return [_read(*row) for row in await self._rows() if _readable(*row)]

    async def unreadable(self, *, due: bool = False) -> list[str]:
        return [row[0] for row in await self._rows(due=due) if not _readable(*row)]

    async def _rows(self, *, due: bool = False) -> list[tuple[str, str]]:
        wanted, now = _SQLITE_DUE if due else _SQLITE_ALL, {"now": time.time()}
        return await self._ledger.beside(lambda c: c.execute(wanted, now).fetchall())

    async def change(self, schedule_id: str, work: Work) -> Schedule:
        def changed(connection: sqlite3.Connection) -> Schedule:
            found = _sqlite_find(connection, schedule_id)
            if found is None:
                raise _unknown(schedule_id)
            after = work(found)
            if after is None:
                connection.execute("DELETE FROM schedules WHERE id = ?", (schedule_id,))
                return found
            connection.execute(
                _SQLITE_KEEP, (_seconds(after), after.model_dump_json(), schedule_id)
            )
            return after

        return await self._ledger.beside(changed)

    async def claim(self, by: str, *, ttl: float) -> tuple[Schedule, datetime] | None:
        def claimed(connection: sqlite3.Connection) -> tuple[Schedule, datetime] | None:
            now = time.time()
            rows = connection.execute(_SQLITE_DUE, {"now": now})
            found = next((row for row in rows if _readable(*row)), None)
            if found is None:
                return None
            connection.execute(_SQLITE_CLAIM, (by, now + ttl, found[0]))
            return _read(*found), datetime.fromtimestamp(now, UTC)

        return await self._ledger.beside(claimed)

    async def settle(self, schedule: Schedule, by: str, *, rests: float = 0.0) -> bool:
        until = time.time() + rests if rests else None
        row = (_seconds(schedule), schedule.model_dump_json(), until, schedule.id, by)
        return bool(await self._ledger.beside(lambda c: c.execute(_SQLITE_SETTLE, row).rowcount))

    async def due_in(self) -> float | None:
        def waited_for(connection: sqlite3.Connection) -> float | None:
            now = time.time()
            if any(_readable(*row) for row in connection.execute(_SQLITE_DUE, {"now": now})):
                return 0.0
            (later,) = connection.execute(_SQLITE_LATER, (now,)).fetchone()
            return None if later is None else later - now

        return await self._ledger.beside(waited_for)


def _sqlite_find(connection: sqlite3.Connection, schedule_id: str) -> Schedule | None:
    row = connection.execute("SELECT data FROM schedules WHERE id = ?", (schedule_id,)).fetchone()
    return _read(schedule_id, row[0]) if row else None


def _seconds(schedule: Schedule) -> float | None:
    return schedule.next_due.timestamp() if schedule.next_due else None


# PostgreSQL

_ADD = "INSERT INTO schedules (id, next_due, data) VALUES ($1, $2, $3)"
_ALL = "SELECT id, data FROM schedules ORDER BY number"
_LOCKED = "SELECT data FROM schedules WHERE id = $1 FOR UPDATE"
_KEEP = """
    UPDATE schedules SET next_due = $2, data = $3, claimed_by = NULL, claimed_until = NULL
    WHERE id = $1
"""
_DUE = """
    SELECT id, data FROM schedules
    WHERE next_due <= $1 AND (claimed_until IS NULL OR claimed_until <= $1)
"""
_NEXT = f"{_DUE} AND id <> ALL($2::text[]) ORDER BY next_due LIMIT 1 FOR UPDATE SKIP LOCKED"
_CLAIM = "UPDATE schedules SET claimed_by = $2, claimed_until = $3 WHERE id = $1"
_SETTLE = """
    UPDATE schedules SET next_due = $2, data = $3, claimed_by = NULL,
        claimed_until = clock_timestamp() + make_interval(secs => $5)
    WHERE id = $1 AND claimed_by = $4 RETURNING true
"""
_LATER = """
    SELECT min(greatest(next_due, claimed_until)) FROM schedules
    WHERE next_due IS NOT NULL AND greatest(next_due, claimed_until) > $1
"""
_NOW = "SELECT clock_timestamp()"


class PostgresSchedules:
    """By the clock of the database's server."""

    def __init__(self, ledger: PostgresLedger) -> None:
        self._ledger = ledger

    async def add(self, schedule: Schedule) -> None:
        row = (schedule.id, schedule.next_due, schedule.model_dump_json())
        await self._do(lambda c: c.execute(_ADD, *row))

    async def all(self) -> list[Schedule]:
        rows = await self._do(lambda c: c.fetch(_ALL))
        return [_read(*row) for row in rows if _readable(*row)]

    async def unreadable(self, *, due: bool = False) -> list[str]:
        async with self._ledger.transaction() as connection:
            if due:
                rows = await connection.fetch(_DUE, await connection.fetchval(_NOW))
            else:
                rows = await connection.fetch(_ALL)
        return [row["id"] for row in rows if not _readable(*row)]

    async def change(self, schedule_id: str, work: Work) -> Schedule:
        async with self._ledger.transaction() as connection:
            data = await connection.fetchval(_LOCKED, schedule_id)
            if data is None:
                raise _unknown(schedule_id)
            found = _read(schedule_id, data)
            after = work(found)
            if after is None:
                await connection.execute("DELETE FROM schedules WHERE id = $1", schedule_id)
                return found
            row = (schedule_id, after.next_due, after.model_dump_json())
            await connection.execute(_KEEP, *row)
            return after

    async def claim(self, by: str, *, ttl: float) -> tuple[Schedule, datetime] | None:
        async with self._ledger.transaction() as connection:
            now: datetime = await connection.fetchval(_NOW)
            skipped: list[str] = []
            while (row := await connection.fetchrow(_NEXT, now, skipped)) is not None:
                if _readable(*row):
                    until = now + timedelta(seconds=ttl)
                    await connection.execute(_CLAIM, row["id"], by, until)
                    return _read(*row), now.astimezone(UTC)
                skipped.append(row["id"])
        return None

    async def settle(self, schedule: Schedule, by: str, *, rests: float = 0.0) -> bool:
        row = (schedule.id, schedule.next_due, schedule.model_dump_json(), by, rests)
        return bool(await self._do(lambda c: c.fetchval(_SETTLE, *row)))

    async def due_in(self) -> float | None:
        async with self._ledger.transaction() as connection:
            now: datetime = await connection.fetchval(_NOW)
            if any(_readable(*row) for row in await connection.fetch(_DUE, now)):
                return 0.0
            later: datetime | None = await connection.fetchval(_LATER, now)
        return None if later is None else (later - now).total_seconds()

    async def _do(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        async with self._ledger.transaction() as connection:
            return await work(connection)


_in_memory: WeakKeyDictionary[Ledger, MemorySchedules] = WeakKeyDictionary()


async def schedules_beside(ledger: Ledger) -> Schedules:
    """The schedules that lie where a ledger does."""
    found = await beneath(ledger)
    if in_sqlite(found):
        return SqliteSchedules(found)
    if in_postgres(found):
        return PostgresSchedules(found)
    return _in_memory.setdefault(found, MemorySchedules())
