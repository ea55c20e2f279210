"""A SQLite file is recognised, migrated or refused; and read where it cannot be written."""

# ruff: noqa: ASYNC240 - a test may wait for its files

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from roundtable.core.errors import (
    LedgerBroken,
    LedgerReadOnly,
    LedgerTooNew,
)
from roundtable.ledger import migrations as migrations_module
from roundtable.ledger.migrations import Migration, migrations
from roundtable.ledger.sqlite import SqliteLedger
from tests.ledger.events import note, opened, texts
from tests.ledger.sqlite_places import another_program, opening

ID = "rt_00000001"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def known_versions(monkeypatch: pytest.MonkeyPatch, *known: Migration) -> None:
    """Let the program know other migrations than it does."""
    monkeypatch.setattr(migrations_module, "migrations", lambda _: known)


async def make_version_1(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        known_versions(patch, migrations("sqlite")[0])
        async with opening(path) as ledger:
            await ledger.append(ID, [opened(), note("old")])


def schema_version(path: Path) -> int:
    with another_program(path) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return int(version)


@pytest.mark.requirement("D-87")
async def test_a_path_may_be_text_or_path_and_start_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    async with opening("~/new/folder/a ledger?#%41.db") as ledger:
        await ledger.append(ID, [opened()])

    async with opening(tmp_path / "new" / "folder" / "a ledger?#%41.db") as ledger:
        assert len(await ledger.read(ID)) == 1


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE events (id INTEGER)",
        "PRAGMA application_id = 252006674; CREATE TABLE t (x)",
        "PRAGMA user_version = 2; CREATE TABLE t (x)",
    ],
)
async def test_a_database_of_another_program_is_refused_and_left_as_it_is(
    path: Path, script: str
) -> None:
    with another_program(path) as connection:
        connection.executescript(script)
    before = path.read_bytes()

    with pytest.raises(LedgerBroken, match="another program") as caught:
        await SqliteLedger.open(path)

    assert "ROUNDTABLE_DB" in caught.value.remedy
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.glob("ledger.db*")] == ["ledger.db"]


async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path: Path) -> None:
    path.write_text("Dear diary, " * 500)
    with pytest.raises(LedgerBroken, match="not a SQLite database"):
        await SqliteLedger.open(path)
    assert path.read_text() == "Dear diary, " * 500


async def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerBroken, match="folder"):
        await SqliteLedger.open(tmp_path)


async def test_an_empty_file_becomes_a_ledger(path: Path) -> None:
    path.touch()
    async with opening(path) as ledger:
        assert await ledger.summaries() == []


async def test_a_damaged_database_is_said_to_be_broken(path: Path) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened(), *(note("x" * 500) for _ in range(200))])
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))

    async with opening(path) as ledger:
        with pytest.raises(LedgerBroken, match="damaged"):
            await ledger.read(ID)


@pytest.mark.requirement("I-15")
async def test_an_older_database_is_backed_up_and_migrated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_version_1(path, monkeypatch)

    ledgers = await asyncio.gather(*(SqliteLedger.open(path) for _ in range(4)))
    for ledger in ledgers:
        assert texts(await ledger.read(ID)) == ["old"]
    await ledgers[0].take_lease(ID, "me", ttl=60)
    for ledger in ledgers:
        await ledger.close()

    assert schema_version(path) == migrations("sqlite")[-1].version
    (backup,) = path.parent.glob("*.bak*")
    assert backup.name == "ledger.db.v1.bak"
    assert schema_version(backup) == 1
    with another_program(backup) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (2,)


@pytest.mark.requirement("I-15")
async def test_an_earlier_backup_is_never_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_version_1(path, monkeypatch)
    earlier = path.with_name("ledger.db.v1.bak")
    earlier.write_text("precious")

    async with opening(path):
        pass

    assert earlier.read_text() == "precious"
    assert schema_version(path.with_name("ledger.db.v1.bak.2")) == 1


@pytest.mark.requirement("I-15")
async def test_a_migration_that_fails_leaves_the_database_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened(), note("safe")])
    with monkeypatch.context() as patch:
        newest = migrations("sqlite")[-1].version
        broken = Migration(newest + 1, "CREATE TABLE half (x);\nCREATE TABLE events (y);\n")
        known_versions(patch, *migrations("sqlite"), broken)
        with pytest.raises(Exception, match="already exists"):
            await SqliteLedger.open(path)

    assert schema_version(path) == newest
    with another_program(path) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert "half" not in tables
    async with opening(path) as ledger:
        assert texts(await ledger.read(ID)) == ["safe"]


@pytest.mark.requirement("I-15")
async def test_a_newer_database_is_refused_and_left_as_it_is(path: Path) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened()])
    with another_program(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()

    with pytest.raises(LedgerTooNew, match="99") as caught:
        await SqliteLedger.open(path)

    assert "Upgrade Roundtable" in caught.value.remedy
    assert path.read_bytes() == before


@pytest.mark.requirement("I-15")
async def test_many_that_create_the_database_at_once_get_the_same(path: Path) -> None:
    ledgers = await asyncio.gather(*(SqliteLedger.open(path) for _ in range(8)))
    await ledgers[0].append(ID, [opened()])
    assert [len(await ledger.summaries()) for ledger in ledgers] == [1] * 8
    for ledger in ledgers:
        await ledger.close()


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write everything: do without its rights for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
async def read_only(tmp_path: Path) -> AsyncIterator[Path]:
    """A ledger's file that nobody may write, in a folder that everybody can reach."""
    path = tmp_path / "ledger.db"
    async with opening(path) as ledger:
        await ledger.append(ID, [opened("Still there?")])
    path.chmod(0o444)
    yield path
    tmp_path.chmod(0o755)


@pytest.mark.usefixtures("within_reach")
@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
async def test_a_read_only_database_can_be_read_but_not_written(
    read_only: Path, folder_mode: int
) -> None:
    read_only.parent.chmod(folder_mode)
    with as_nobody():
        async with opening(read_only) as ledger:
            assert [h.topic for h in await ledger.summaries()] == ["Still there?"]
            assert len(await ledger.read(ID)) == 1
            assert (await anext(ledger.tail(ID))).seq == 1
            for write in (
                ledger.append(ID, [note()]),
                ledger.delete(ID),
                ledger.take_lease(ID, "me", ttl=1),
            ):
                with pytest.raises(LedgerReadOnly) as caught:
                    await write
                assert caught.value.remedy


@pytest.mark.usefixtures("within_reach")
async def test_no_database_can_be_made_in_a_read_only_folder(read_only: Path) -> None:
    read_only.parent.chmod(0o555)
    with as_nobody():
        for path in (read_only.with_name("new.db"), read_only.parent / "new" / "new.db"):
            with pytest.raises(LedgerReadOnly):
                await SqliteLedger.open(path)
