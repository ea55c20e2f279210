"""The database: the one that is used, whether it is sound, and others that lie about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from platformdirs import user_data_path

from ...core.errors import LedgerBroken, LedgerMissing, RoundtableError
from ...core.text import counted, redact
from ...ledger import open_ledger
from ...ledger.migrations import migrations
from ...ledger.sqlite_file import full, has_room, refuse_what_was_left_alone, translate, version_in
from ...ports import Ledger
from ...private import keep_private, open_to_others
from ...settings import DATABASE, Settings
from ..stored_files import is_ours
from .finding import Finding


async def check_database(settings: Settings) -> list[Finding]:
    """The database in use. Nothing is made or migrated for this."""
    where = settings.db
    return [await _server(where, settings.choices.db_listen) if "://" in where else _file(where)]


async def _server(address: str, listen: str | None) -> Finding:
    try:
        ledger = await open_ledger(address, listen=listen)
    except RoundtableError as error:
        return Finding("database", "broken", redact(error.message), redact(error.remedy))
    try:
        told = f"{redact(address)} answers."
        remedy = await _cannot_hear(ledger)
    finally:
        await ledger.close()
    if remedy:
        told += " Other processes cannot be heard there: what they do is looked for."
    return Finding("database", "doubtful" if remedy else "ok", told, remedy)


async def _cannot_hear(ledger: Ledger) -> str:
    """What to do so that other processes are heard; nothing if they are."""
    from ...ledger.postgres import PostgresLedger

    assert isinstance(ledger, PostgresLedger)
    if not ledger.exchange.can_listen:
        return "It is behind a pooler: give its address without the pooler in ROUNDTABLE_DB_LISTEN."
    if await ledger.exchange.tried():
        return ""
    return "Check the address in ROUNDTABLE_DB_LISTEN." if ledger.pooled else "Run it again."


def _file(where: str) -> Finding:
    path = Path(where).expanduser()
    if not path.exists():
        try:
            refuse_what_was_left_alone(path.absolute())
        except LedgerMissing as error:
            return Finding("database", "broken", error.message, error.remedy)
        return _to_come(path)
    if not path.is_file():
        remedy = "Name a file with ROUNDTABLE_DB."
        return Finding("database", "broken", f"{path} is not a file.", remedy)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            version = version_in(database, path)
            sound = database.execute("PRAGMA quick_check(1)").fetchone()[0]
            if not version:
                return _to_come(path)
            rows = database.execute("SELECT count(*) FROM discussions").fetchone()[0]
    except LedgerBroken as error:
        return Finding("database", "broken", error.message, error.remedy)
    except sqlite3.Error as error:
        trouble = translate(error, path)
        return Finding("database", "broken", trouble.message, trouble.remedy)
    newest = migrations("sqlite")[-1].version
    if version > newest:
        told = f"{path} has schema version {version}; this Roundtable knows {newest}."
        return Finding("database", "broken", told, "Upgrade Roundtable.")
    if sound != "ok":
        remedy = f"Keep a copy, and restore it from a backup ({path.name}.v*.bak), if there is one."
        return Finding("database", "broken", f"{path} is damaged: {sound}.", remedy)
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    told = f"{path}: {counted(rows, 'discussion')}, {size}, schema version {version} of {newest}."
    return Finding("database", "ok", told)


def _to_come(path: Path) -> Finding:
    """One that is not there yet, or was begun and is empty."""
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not has_room(folder):
        trouble = full(path)
        return Finding("database", "broken", trouble.message, trouble.remedy)
    return Finding("database", "ok", f"{path} is created with the first discussion.")


def check_rights(settings: Settings) -> Iterator[Finding]:
    """Whether the home can be closed to others: every command does that, so it is tried first."""
    keep_private(settings.home)
    if open_to_others(settings.home):
        yield Finding(
            "home",
            "doubtful",
            f"{settings.home} is on a file system without access rights: other users of this "
            "machine may be able to read it.",
            "Choose another place with ROUNDTABLE_HOME.",
        )


def check_strays(settings: Settings, env: Mapping[str, str]) -> Iterator[Finding]:
    """Databases of ours in other usual places: what was said there is seen by nobody here."""
    used = Path(settings.db).expanduser().absolute() if "://" not in settings.db else None
    for path in strays(settings, env):
        if path != used:
            yield Finding(
                "database",
                "doubtful",
                f"There is another Roundtable database at {path}, which is not used.",
                f"Use it with ROUNDTABLE_DB={path}, or delete it.",
            )


def strays(settings: Settings, env: Mapping[str, str]) -> list[Path]:
    """Databases of ours in the usual places, the one in use among them."""
    home = Path(env["HOME"]) if env.get("HOME") else Path.home()
    folders = [
        settings.home,
        user_data_path("roundtable", appauthor=False),
        home,
        home / ".roundtable",
        settings.workspace,
        settings.workspace / ".roundtable",
    ]
    places = [folder.absolute() / DATABASE for folder in folders]
    return [path for path in dict.fromkeys(places) if is_ours(path)]
