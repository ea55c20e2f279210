"""Rescue files: written whole or not at all, the user's alone, and believed only then."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from roundtable.core.events import NewEvent, NoteAdded
from roundtable.ledger.leases import this_owner
from roundtable.ledger.rescue import RescueFiles

ID = "rt_0000000a"
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def outcome(text: str) -> list[NewEvent]:
    return [NewEvent(NoteAdded(code="kept", text=text), AT, f"key/{text}")]


def files(place: Path, spare: Path | None = None, owner: str = "somebody") -> RescueFiles:
    return RescueFiles(place, spare, owner)


def test_what_is_kept_comes_back_as_it_was_append_by_append(tmp_path: Path) -> None:
    kept = files(tmp_path / "r")
    kept.keep(ID, outcome("one"))
    kept.keep(ID, [*outcome("two \N{SNOWMAN}"), *outcome("three")])
    assert files(tmp_path / "r", owner="another").kept(ID) == [
        outcome("one"),
        [*outcome("two \N{SNOWMAN}"), *outcome("three")],
    ]


def test_it_is_the_users_alone_and_gone_when_it_is_dropped(tmp_path: Path) -> None:
    os.umask(0)
    kept = files(tmp_path / "r")
    path = Path(kept.keep(ID, outcome("one")))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    kept.drop(ID)
    assert list(tmp_path.iterdir()) == []
    assert kept.kept(ID) == []


def test_where_there_is_no_place_for_it_the_spare_one_is_taken(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("not a folder")
    kept = files(tmp_path / "r", tmp_path / "spare")
    assert kept.keep(ID, outcome("one")) == str(tmp_path / "spare" / f"{ID}.jsonl")
    assert kept.kept(ID) == [outcome("one")]


def test_where_there_is_none_at_all_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("not a folder")
    assert files(tmp_path / "r").keep(ID, outcome("one")) == ""


def test_a_spare_place_that_somebody_else_prepared_is_neither_read_nor_written(
    tmp_path: Path,
) -> None:
    theirs = tmp_path / "theirs"
    files(theirs).keep(ID, outcome("forged"))
    (tmp_path / "link").symlink_to(theirs)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    for place in ("link", "open"):
        (tmp_path / "no").write_text("")
        kept = files(tmp_path / "no", tmp_path / place)
        assert kept.kept(ID) == []
        assert kept.keep(ID, outcome("one")) == ""


@pytest.mark.parametrize("left", [b'{"by": "x", "ev', b"\xff\n", b"[]\n", b'{"by": 1}\n', b"\n"])
def test_a_line_that_was_cut_or_makes_no_sense_is_passed_over(tmp_path: Path, left: bytes) -> None:
    kept = files(tmp_path / "r")
    path = Path(kept.keep(ID, outcome("one")))
    path.write_bytes(path.read_bytes() + left)
    assert kept.kept(ID) == [outcome("one")]


def test_what_a_living_process_keeps_is_left_to_it(tmp_path: Path) -> None:
    dead = f"{this_owner().partition(':')[0]}:1:0@{Path('/proc/self/ns/pid').stat().st_ino}"
    files(tmp_path / "r", owner=this_owner()).keep(ID, outcome("one"))
    files(tmp_path / "r", owner=dead).keep("rt_0000000b", outcome("two"))
    (tmp_path / "r" / "readme.txt").write_text("not ours")
    assert files(tmp_path / "r").waiting() == ["rt_0000000b"]


def test_two_databases_have_two_places(tmp_path: Path) -> None:
    def place(db: str) -> str:
        kept = RescueFiles.beside(db, tmp_path / "home", "me")
        where = kept.keep(ID, outcome("one"))
        kept.drop(ID)
        return where

    assert place(str(tmp_path / "a.db")) == str(tmp_path / "a.db.rescue" / f"{ID}.jsonl")
    one, two, same = (
        place(f"postgresql://{who}/{name}")
        for who, name in [("me:old@host", "a"), ("me@host", "b"), ("me:new@host", "a")]
    )
    assert one == same != two
    assert str(tmp_path / "home") in one
