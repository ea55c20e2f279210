"""The schema of a PostgreSQL ledger: its version, and how it is brought up to date."""

from __future__ import annotations

from typing import Any, TypeAlias

from asyncpg.pool import PoolConnectionProxy

from .migrations import pending

Connection: TypeAlias = "PoolConnectionProxy[Any]"

_LOCK = 0x526F756E
"""The advisory lock under which processes migrate one after the other."""


async def migrate(connection: Connection, where: str) -> None:
    """Apply what is lacking, all or nothing. LedgerTooNew if the database is ahead of us."""
    if not pending("postgres", await _version(connection), where):
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        # Asked again under the lock: another process may have migrated it meanwhile.
        for migration in pending("postgres", await _version(connection), where):
            await connection.execute(migration.sql)
            await _set_version(connection, migration.version)


async def _version(connection: Connection) -> int:
    if await connection.fetchval("SELECT to_regclass('roundtable_schema')") is None:
        return 0
    return int(await connection.fetchval("SELECT version FROM roundtable_schema"))


async def _set_version(connection: Connection, version: int) -> None:
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS roundtable_schema ("
        " one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row), version integer NOT NULL)"
    )
    await connection.execute(
        "INSERT INTO roundtable_schema (version) VALUES ($1)"
        " ON CONFLICT (one_row) DO UPDATE SET version = excluded.version",
        version,
    )
