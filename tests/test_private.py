"""What lies in the program's home is the user's alone."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from roundtable import private
from roundtable.bundle.signing import load_key
from roundtable.ledger import open_ledger
from roundtable.ledger.sqlite_file import BusyRetry, SqliteFile
from roundtable.private import keep_private, opener_at, private_folder, put_key, put_private
from roundtable.surfaces.files import write_chosen, write_new
from roundtable.surfaces.setup.stored import store_config
from roundtable.surfaces.web.found import Found, announce
from roundtable.surfaces.web.links import load_links
from roundtable.surfaces.web.lock import take_lock
from roundtable.trust import ProjectFile, Trust
from tests.surfaces.conftest import desk as desk
from tests.surfaces.desk import ECHO, Desk

pytestmark = [
    pytest.mark.requirement("Z-39"),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes"),
]


@pytest.fixture(autouse=True)
def _careless(_own_umask: None) -> Iterator[None]:
    """A user whose files everybody may read and write, if nobody takes care."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def opened_up(home: Path) -> list[Path]:
    return [each for each in (home, *home.rglob("*")) if mode(each) & 0o077]


def test_everything_that_a_run_leaves_in_the_home_is_closed_to_others(desk: Desk) -> None:
    asked = desk("Tea?", "--procedure", "council", *ECHO, "--quick", "--no-log")
    assert asked.code == 0, asked.err
    written = desk("export", desk.last_id(), "--bundle", str(desk.home / "b.jsonl"), "--sign")
    assert written.code == 0, written.err
    load_links(desk.home)
    store_config(desk.home, {})
    announce(desk.home, Found("http://localhost:1", 1, 1, "localhost"), "me")
    Trust(desk.home, desk.workspace).grant([ProjectFile("roundtable.toml", b"", "new")])
    lock = take_lock(desk.home / "web.lock")
    assert lock is not None
    lock.close()

    names = {each.name for each in desk.home.iterdir()}
    assert names >= {"roundtable.db", "bundle.key", "web.key", "web.json", "b.jsonl", "trust.json"}
    assert opened_up(desk.home) == []
    assert "other users" not in asked.err + written.err


@pytest.mark.anyio
async def test_a_database_and_what_sqlite_puts_beside_it_are_closed_from_the_start(
    tmp_path: Path,
) -> None:
    ledger = await open_ledger(tmp_path / "deep" / "folder" / "a.db")
    try:
        beside = sorted(each.name for each in (tmp_path / "deep" / "folder").iterdir())
        assert "a.db-wal" in beside
        assert opened_up(tmp_path / "deep") == []
    finally:
        await ledger.close()


def test_a_backup_is_closed_though_its_database_was_open(tmp_path: Path) -> None:
    file = SqliteFile(tmp_path / "a.db")
    file.open(BusyRetry(1)).close()
    file.path.chmod(0o644)
    file._back_up(1)
    assert mode(tmp_path / "a.db.v1.bak") == 0o600


def test_a_home_that_was_open_is_closed_and_that_is_said_once(desk: Desk) -> None:
    desk.home.mkdir(mode=0o755)
    (desk.home / "config.toml").write_text("")
    (desk.home / "config.toml").chmod(0o644)
    (desk.home / "cache").mkdir()
    tool = desk.home / "tool.sh"
    tool.write_text("")
    tool.chmod(0o755)

    first, second = desk("list"), desk("list")

    assert first.err.count("could read") == 1
    assert str(desk.home) in first.err
    assert "could read" not in second.err
    assert opened_up(desk.home) == []
    assert mode(tool) == 0o700


def test_links_in_the_home_are_not_followed(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("")
    theirs.chmod(0o644)
    home = tmp_path / "home"
    home.mkdir(0o700)
    (home / "link").symlink_to(theirs)
    keep_private(home, pytest.fail)
    assert mode(theirs) == 0o644


@pytest.mark.parametrize("place", ["sticky", "the user's home", "above the user's home"])
def test_a_folder_that_serves_others_too_stays_open(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "shared"
    home.mkdir()
    home.chmod(0o1777 if place == "sticky" else 0o755)
    inner = home if place == "the user's home" else home / "user"
    monkeypatch.setenv("HOME", str(tmp_path if place == "sticky" else inner))
    for name in ("roundtable.db", "letter.txt"):
        (home / name).write_text("")
        (home / name).chmod(0o644)
    before = mode(home)

    keep_private(home, lambda _: None)

    assert mode(home) == before
    assert (mode(home / "roundtable.db"), mode(home / "letter.txt")) == (0o600, 0o644)


@pytest.mark.parametrize("kind", ["refuses", "ignores"])
def test_a_file_system_without_modes_works_and_that_is_said_once(
    kind: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chmod(path: Path, *_: object, **__: object) -> None:
        if kind == "refuses":
            raise PermissionError(1, "Operation not permitted", str(path))

    def link(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", chmod)
    monkeypatch.setattr(os, "link", link)
    desk.home.mkdir(mode=0o777)
    (desk.home / "config.toml").write_text("")

    done = desk("Tea?", "--procedure", "council", *ECHO, "--quick", "--no-log")

    assert done.code == 0, done.err
    assert "could read" not in done.err
    assert done.err.count("without access rights") == 1
    assert "without access rights" not in desk("list").err
    assert "without access rights" in desk("doctor").out
    assert load_key(desk.home).public_key == load_key(desk.home).public_key
    assert load_links(desk.home).owner_key == load_links(desk.home).owner_key


def test_the_doctor_says_of_a_home_that_it_closed_nothing_else(desk: Desk) -> None:
    desk.home.mkdir(mode=0o755)
    desk.home.chmod(0o755)
    seen = desk("doctor")
    assert "it is closed to them now" in seen.err
    assert "without access rights" not in seen.out + seen.err


def test_without_modes_at_all_nothing_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "_MODES", False)
    tmp_path.chmod(0o755)
    keep_private(tmp_path, pytest.fail)
    assert mode(tmp_path) == 0o755


def test_an_export_is_private_wherever_it_goes_and_a_report_as_the_user_wants_it(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    private_folder(home)
    keep_private(home)
    (tmp_path / "way").symlink_to(home)
    write_chosen(tmp_path / "out.md", b"")
    write_chosen(tmp_path / "way" / "in.md", b"")
    written = write_new(home / "log.md", "words")
    assert mode(tmp_path / "out.md") == 0o600
    assert mode(write_new(tmp_path / "report.md", "words")) == 0o666
    assert (mode(home / "in.md"), mode(written)) == (0o600, 0o600)
    assert opener_at(tmp_path / "homeless.md") is None


def test_a_file_is_replaced_whole_and_a_key_never(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    put_private(path, "new")
    assert (path.read_text(), mode(path)) == ("new", 0o600)
    put_key(path, "another")
    assert path.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["file"]


def test_a_file_written_by_hand_in_a_closed_home_is_closed_without_an_alarm(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "panels.json").write_text("{}")
    said: list[str] = []
    keep_private(home, said.append)
    assert opened_up(home) == []
    assert said == [], "nobody else could have read it"
