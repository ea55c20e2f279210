"""`roundtable archive`: what is put away comes back as it was, and nothing is lost on the way."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.bundle.archive import make_archive, read_archive
from roundtable.bundle.reading import BundleBroken
from roundtable.core.events import StoredEvent
from roundtable.ledger import open_ledger
from tests.ledger.events import closed, note, opened

from .desk import Desk

OLD = "rt_0000000a"


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "sqlite":
        return str(desk.home / "roundtable.db")
    url: str = request.getfixturevalue("postgres_url")
    monkeypatch.setenv("ROUNDTABLE_DB", url)
    return url


def filled(where: str) -> dict[str, list[StoredEvent]]:
    """A closed discussion, and one that still runs."""

    async def main() -> dict[str, list[StoredEvent]]:
        ledger = await open_ledger(where)
        await ledger.append(
            OLD, [opened(key="open"), note('日本語 \0 "', key="k"), note(), closed()]
        )
        await ledger.append("rt_0000000b", [opened(), note("goes on")])
        found = {id_: await ledger.read(id_) for id_ in (OLD, "rt_0000000b")}
        await ledger.close()
        return found

    return asyncio.run(main())


def held(where: str) -> dict[str, list[StoredEvent]]:
    async def main() -> dict[str, list[StoredEvent]]:
        ledger = await open_ledger(where)
        rows = await ledger.summaries()
        found = {row.discussion_id: await ledger.read(row.discussion_id) for row in rows}
        await ledger.close()
        return found

    return asyncio.run(main())


@pytest.mark.requirement("I-10")
def test_a_discussion_that_was_put_away_comes_back_as_it_was(
    desk: Desk, where: str, tmp_path: Path
) -> None:
    before = filled(where)
    folder = tmp_path / "away"

    dry = desk("archive", "--older-than", "0d", "--to", str(folder), "--dry-run")
    assert dry.out.split() == [OLD]
    assert held(where) == before
    put = desk("archive", "--older-than", "0d", "--to", str(folder))
    assert (put.code, put.out.split()) == (0, [OLD])
    assert held(where) == {"rt_0000000b": before["rt_0000000b"]}
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600

    back = desk("archive", "--restore", str(file))
    assert (back.code, back.out.split()) == (0, [OLD])
    assert held(where) == before
    again = desk("archive", "--restore", str(file))
    assert again.code == 2
    assert "is in the ledger" in again.err
    assert (
        desk("archive", "--older-than", "0", "--to", str(folder)).code == 0
    )  # the same file; a bare number is days
    assert list(folder.iterdir()) == [file]


def test_only_what_has_not_changed_for_so_long_is_put_away(desk: Desk, tmp_path: Path) -> None:
    where = str(desk.home / "roundtable.db")
    before = filled(where)
    for long in ("99999w", "999999w", "90"):
        put = desk("archive", "--older-than", long, "--to", str(tmp_path / "away"))
        assert (put.code, put.out) == (0, "")
    assert held(where) == before


def test_a_file_that_was_changed_is_refused_and_brings_nothing_back(
    desk: Desk, tmp_path: Path
) -> None:
    where = str(desk.home / "roundtable.db")
    filled(where)
    folder = tmp_path / "away"
    desk("archive", "--older-than", "0d", "--to", str(folder))
    (file,) = folder.iterdir()
    data = file.read_bytes()
    for wrong in (data.replace(b"goes", b"went").replace(b'"seq":2', b'"seq":3'), data[:-40], b""):
        file.write_bytes(wrong)
        refused = desk("archive", "--restore", str(file))
        assert refused.code != 0
        assert OLD not in held(where)


def test_what_cannot_be_put_away_stays_and_holds_up_no_other(desk: Desk, tmp_path: Path) -> None:
    where = str(desk.home / "roundtable.db")
    before = filled(where)
    newer, last = "rt_0000000c", "rt_0000000d"
    folder = tmp_path / "away"
    folder.mkdir()
    other = folder / f"{OLD}.archive.jsonl"
    other.write_text("something else")

    async def more() -> None:
        ledger = await open_ledger(where)
        for id_ in (newer, last):
            await ledger.append(id_, [opened(), closed()])
        await ledger.close()

    asyncio.run(more())
    with closing(sqlite3.connect(where)) as base:
        base.execute(
            "INSERT INTO events SELECT discussion_id, 3, at, 'SpeechWeighed', 7, NULL, "
            '\'{"type": "SpeechWeighed", "v": 7}\' FROM events '
            "WHERE discussion_id = ? AND seq = 2",
            (newer,),
        )
        base.execute("UPDATE discussions SET last_seq = 3 WHERE id = ?", (newer,))
        base.commit()
    put = desk("archive", "--older-than", "0d", "--to", str(folder))
    assert (put.code, put.out.split()) == (1, [last])
    assert f"{OLD} stays: {other} exists already" in put.err
    assert f"{newer} stays: Event 3" in put.err
    assert "Archived 1 discussion in" in put.err
    assert other.read_text() == "something else"
    rows = {row["discussion_id"] for row in desk("list", "--json").document}
    assert rows == {*before, newer}


def test_what_came_back_and_went_on_is_put_away_over_its_earlier_state(
    desk: Desk, tmp_path: Path
) -> None:
    where = str(desk.home / "roundtable.db")
    filled(where)
    folder = tmp_path / "away"
    desk("archive", "--older-than", "0d", "--to", str(folder))
    (file,) = folder.iterdir()
    earlier = file.read_bytes()
    desk("archive", "--restore", str(file))

    async def goes_on() -> None:
        ledger = await open_ledger(where)
        await ledger.append(OLD, [note("And more.")])
        await ledger.close()

    asyncio.run(goes_on())
    now = held(where)[OLD]
    assert desk("archive", "--older-than", "0d", "--to", str(folder)).code == 0
    assert file.read_bytes() != earlier
    desk("archive", "--restore", str(file))
    assert held(where)[OLD] == now
    assert len(now) == 5


@pytest.mark.parametrize("to", ["file/below", "x" * 300, "a\0b"])
def test_a_folder_that_cannot_be_is_said_and_nothing_is_begun(
    desk: Desk, tmp_path: Path, to: str
) -> None:
    where = str(desk.home / "roundtable.db")
    before = filled(where)
    (tmp_path / "file").touch()
    refused = desk("archive", "--older-than", "0d", "--to", str(tmp_path / to))
    assert refused.code == 2
    assert "cannot be made" in refused.err
    assert held(where) == before


def test_a_file_that_cannot_be_written_leaves_the_discussion_in_the_ledger(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(desk.home / "roundtable.db")
    before = filled(where)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("roundtable.surfaces.cli.archive.put_private", full)
    put = desk("archive", "--older-than", "0d", "--to", str(tmp_path / "away"))
    assert (put.code, put.out) == (1, "")
    assert f"{OLD} stays: it cannot be written: No space left on device." in put.err
    assert held(where) == before


@pytest.mark.parametrize(
    "args", [(), ("--older-than", "90d"), ("--to", "x", "--older-than", "soon")]
)
def test_what_is_missing_is_said(desk: Desk, args: tuple[str, ...]) -> None:
    refused = desk("archive", *args)
    assert refused.code == 2
    assert "90d" in refused.err or "30d" in refused.err


@given(st.lists(st.tuples(st.text(), st.none() | st.text(min_size=1)), max_size=5))
def test_any_text_and_key_comes_back(said: list[tuple[str, str | None]]) -> None:
    first = opened()
    events = [first, *(note(text, key=key) for text, key in said), closed()]
    records = [StoredEvent(OLD, seq, e.at, e.event, e.key) for seq, e in enumerate(events, 1)]
    assert read_archive(make_archive(records)) == (OLD, events)
    with pytest.raises(BundleBroken):
        read_archive(make_archive(records)[:-3])
