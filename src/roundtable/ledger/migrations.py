"""Migrations: numbered SQL files for each dialect, applied in order and never changed again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from ..core.errors import LedgerTooNew

Dialect = Literal["sqlite", "postgres"]


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    sql: str


@cache
def migrations(dialect: Dialect) -> tuple[Migration, ...]:
    """All of them, in order. A database at version n has had those up to n."""
    folder = files(__package__) / "sql" / dialect
    scripts = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return tuple(Migration(int(f.name[:4]), f.read_text(encoding="utf-8")) for f in scripts)


def pending(dialect: Dialect, version: int, where: str) -> tuple[Migration, ...]:
    """The migrations that a database at `version` lacks; LedgerTooNew if it is ahead of us."""
    known = migrations(dialect)
    if version > known[-1].version:
        raise LedgerTooNew(
            f"{where} has schema version {version}; this Roundtable knows {known[-1].version}.",
            "Upgrade Roundtable, or choose another database with ROUNDTABLE_DB.",
        )
    return tuple(migration for migration in known if migration.version > version)
