"""One function opens every ledger, and imports only what that one needs."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from roundtable.core.errors import UsageError
from roundtable.ledger import open_ledger
from roundtable.ledger.sqlite import SqliteLedger
from roundtable.settings import read_settings


@pytest.mark.requirement("D-87")
@pytest.mark.parametrize("kind", [str, Path])
async def test_a_path_opens_a_sqlite_ledger(tmp_path: Path, kind: type[str] | type[Path]) -> None:
    ledger = await open_ledger(kind(tmp_path / "a.db"))
    assert isinstance(ledger, SqliteLedger)
    await ledger.close()


async def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="mysql://"):
        await open_ledger("mysql://localhost/roundtable")


async def test_a_missing_driver_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] == "asyncpg" or name == "roundtable.ledger.postgres":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)

    with pytest.raises(UsageError) as caught:
        await open_ledger("postgresql://localhost/roundtable")

    assert "pip install 'roundtable-council[postgres]'" in caught.value.remedy


def test_no_driver_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, roundtable.ledger;"
        "print([name for name in ('sqlite3', 'asyncpg') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    said = subprocess.check_output([sys.executable, "-c", code], text=True, env=environment)
    assert said.strip() == "[]"


@pytest.mark.requirement("D-65")
async def test_there_is_one_database_of_our_own_and_it_holds_only_our_tables(
    tmp_path: Path,
) -> None:
    settings = read_settings({"ROUNDTABLE_HOME": str(tmp_path)}, tmp_path)
    assert settings.db == str(tmp_path / "roundtable.db")
    await (await open_ledger(settings.db)).close()
    with closing(sqlite3.connect(settings.db)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = {name for (name,) in rows if not name.startswith("sqlite_")}
    assert tables == {"discussions", "events", "leases", "purses", "schedules"}
