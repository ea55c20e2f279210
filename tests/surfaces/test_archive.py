"""`roundtable archive`: what is put away comes back as it was, and nothing is lost on the way."""

from __future__ import annotations

import asyncio
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
    assert desk("archive", "--older-than", "0d", "--to", str(folder)).code == 0  # the same file
    assert list(folder.iterdir()) == [file]


def test_only_what_has_not_changed_for_so_long_is_put_away(desk: Desk, tmp_path: Path) -> None:
    where = str(desk.home / "roundtable.db")
    before = filled(where)
    put = desk("archive", "--older-than", "99999w", "--to", str(tmp_path / "away"))
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


def test_a_file_of_another_state_is_not_written_over(desk: Desk, tmp_path: Path) -> None:
    where = str(desk.home / "roundtable.db")
    before = filled(where)
    folder = tmp_path / "away"
    folder.mkdir()
    other = folder / f"{OLD}.archive.jsonl"
    other.write_text("something else")
    put = desk("archive", "--older-than", "0d", "--to", str(folder))
    assert put.code == 2
    assert other.read_text() == "something else"
    assert held(where) == before


@pytest.mark.parametrize("args", [(), ("--older-than", "90d"), ("--to", "x", "--older-than", "90")])
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
