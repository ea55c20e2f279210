"""Purge: everything of ours goes, nothing else does, and it asks first."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from roundtable.ledger import open_ledger
from roundtable.surfaces.web.links import load_links

from .desk import Desk

pytestmark = pytest.mark.requirement("I-40")

SETTINGS = ("config.toml", "experts/mine.toml", "notes.txt")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def lived_in(desk: Desk, temporary: Path) -> Desk:
    """A home with one of everything in it."""
    desk.ask()
    load_links(desk.home)
    weights = "models/SmolLM2-135M-Instruct.Q4_1.gguf"
    others = ("web.log", "web.lock", "bundle.key", "roundtable.db.v1.bak", *SETTINGS)
    for name in ("cache/x.npy", weights, "models/.fetch-1/a", *others):
        path = desk.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if name.endswith(".toml") else "x")
    for name in ("roundtable-agent-1/empty", "somebody-elses"):
        (temporary / name).mkdir(parents=True)
    (desk.workspace / "memory").mkdir(exist_ok=True)
    (desk.workspace / "memory" / "report.md").write_text("mine")
    return desk


def everything(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_everything_of_ours_is_listed_and_removed_and_nothing_else(
    lived_in: Desk, temporary: Path
) -> None:
    assert (lived_in.home / "web.key").is_file()

    outcome = lived_in("purge", "--yes")

    assert outcome.code == 0, outcome.err
    for name in ("roundtable.db", "web.key", "cache", "bundle.key", "roundtable-agent-1"):
        assert name in outcome.out
    assert everything(lived_in.home) == set(SETTINGS)
    assert [path.name for path in temporary.iterdir()] == ["somebody-elses"]
    assert (lived_in.workspace / "memory" / "report.md").read_text() == "mine"
    assert "pip uninstall roundtable-council" in outcome.err


def test_it_asks_and_a_no_removes_nothing(lived_in: Desk) -> None:
    before = everything(lived_in.home)

    for answer in (b"n\n", b"\n"):
        outcome = lived_in("purge", stdin=answer)
        assert outcome.code == 0
        assert "Nothing was removed." in outcome.err
    silent = lived_in("purge")

    assert silent.code != 0
    assert everything(lived_in.home) == before
    assert lived_in("purge", stdin=b"y\n").code == 0
    assert not (lived_in.home / "roundtable.db").exists()


def test_settings_go_only_when_they_are_named(lived_in: Desk) -> None:
    outcome = lived_in("purge", "--yes", "--settings")

    assert "config.toml" in outcome.out
    assert "notes.txt" in outcome.err
    assert everything(lived_in.home) == {"notes.txt"}


def test_afterwards_there_is_nothing_left_to_remove(desk: Desk, temporary: Path) -> None:
    assert temporary.is_dir()
    desk.ask()
    desk("purge", "--yes")

    outcome = desk("purge", "--yes")

    assert not desk.home.exists()
    assert outcome.code == 0
    assert "nothing of Roundtable's" in outcome.err


def test_no_link_is_followed(desk: Desk, temporary: Path, tmp_path: Path) -> None:
    assert temporary.is_dir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    desk.home.mkdir()
    (desk.home / "cache").symlink_to(outside)

    desk("purge", "--yes")

    assert (outside / "precious").exists()
    assert not desk.home.exists()


def test_a_database_elsewhere_goes_only_if_it_is_ours(
    desk: Desk, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert temporary.is_dir()
    ours, theirs = tmp_path / "ours.db", tmp_path / "roundtable.db"
    monkeypatch.setenv("ROUNDTABLE_DB", str(ours))
    desk.ask()
    with sqlite3.connect(theirs) as database:
        database.execute("CREATE TABLE t (x)")
    database.close()

    desk("purge", "--yes")
    monkeypatch.setenv("ROUNDTABLE_DB", str(theirs))
    desk("purge", "--yes")

    assert not ours.exists()
    assert theirs.exists()


def test_a_broken_configuration_does_not_keep_anybody_from_leaving(
    desk: Desk, temporary: Path
) -> None:
    assert temporary.is_dir()
    desk.ask()
    (desk.home / "config.toml").write_text("nonsense = 1")

    outcome = desk("purge", "--yes")

    assert outcome.code == 0, outcome.err
    assert not (desk.home / "roundtable.db").exists()


def test_a_discussion_that_is_being_driven_is_not_pulled_away(desk: Desk, temporary: Path) -> None:
    assert temporary.is_dir()
    desk.ask()
    discussion_id = desk.last_id()

    async def hold() -> None:
        ledger = await open_ledger(desk.home / "roundtable.db")
        await ledger.take_lease(discussion_id, "another-machine:1:x", ttl=600)
        await ledger.close()

    asyncio.run(hold())
    outcome = desk("purge", "--yes")

    assert outcome.code == 2
    assert discussion_id in outcome.err
    assert (desk.home / "roundtable.db").exists()


def test_only_what_is_older_can_be_removed(desk: Desk) -> None:
    desk.ask()
    old = desk.last_id()
    desk.ask()
    new = desk.last_id()
    _set_back(desk.home / "roundtable.db", old, datetime.now(UTC) - timedelta(days=40))

    for long in ("60", "60d", "999999w"):
        assert "No discussion" in desk("purge", "--older-than", long, "--yes").err
    asked = desk("purge", "--older-than", "30", stdin=b"n\n")
    wrong = desk("purge", "--older-than", "soon", "--yes")
    outcome = desk("purge", "--older-than", "4w", "--yes")

    assert wrong.code == 2
    assert "12h, 30d or 4w" in wrong.err
    assert old in asked.out
    assert "Nothing was deleted." in asked.err
    assert "Deleted 1 discussion." in outcome.err
    assert [row["discussion_id"] for row in desk("list", "--json").document] == [new]
    assert (desk.home / "roundtable.db").exists()


def _set_back(path: Path, discussion_id: str, at: datetime) -> None:
    with sqlite3.connect(path) as database:
        row = (at.isoformat(), discussion_id)
        database.execute("UPDATE discussions SET updated_at = ? WHERE id = ?", row)
    database.close()
