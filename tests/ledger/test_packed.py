"""What SQLite stores of an event is short, and gives back every byte."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.errors import LedgerBroken
from roundtable.core.events import NewEvent, SpeechGiven, dump
from roundtable.ledger import migrations as migrations_module
from roundtable.ledger.migrations import migrations
from roundtable.ledger.packed import SHORTEST, pack, unpack
from roundtable.prompts import load
from tests.ledger.events import note, opened, texts
from tests.ledger.sqlite_places import another_program, opening

ID = "rt_00000001"
WORDS = "We should keep the old bridge, says the one; the other would not. " * 40


def speech(text: str) -> NewEvent:
    said = SpeechGiven(
        turn_id="1/answer/ada", stage="answer", round=1, participant="ada", model="m", text=text
    )
    return NewEvent(said, opened().at)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def stored(path: Path) -> list[str | bytes]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT data FROM events ORDER BY seq")]


@given(st.text(max_size=2_000))
def test_what_is_packed_comes_back_byte_for_byte(text: str) -> None:
    data = json.dumps({"text": text * 3}, ensure_ascii=False)
    data = data.encode("utf-8", "replace").decode()
    packed = pack(data)
    assert unpack(packed) == data
    assert len(packed if isinstance(packed, bytes) else packed.encode()) <= len(data.encode())


def test_short_data_stays_text_that_anybody_can_read() -> None:
    assert pack(short := "{" + " " * (SHORTEST - 2) + "}") != short
    assert pack(short := "{" + " " * (SHORTEST - 3) + "}") == short


def test_the_usual_words_of_a_prompt_take_next_to_no_room() -> None:
    prompt = json.dumps(load("council/scholar").body, ensure_ascii=False)
    assert len(pack(prompt)) < len(zlib.compress(prompt.encode())) / 2


def test_the_words_that_rows_were_packed_with_never_change() -> None:
    words = (files("roundtable.ledger") / "packed_1.txt").read_bytes().replace(b"\r\n", b"\n")
    assert zlib.adler32(words) == 3636395073


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"x",
        zlib.compress(b"{}"),
        bytes(pack(WORDS))[:-1],  # type: ignore[arg-type]
        bytes(pack(WORDS)) + b"more",  # type: ignore[arg-type]
        bytes(pack(WORDS))[:20] + b"\xff" * 20,  # type: ignore[arg-type]
    ],
)
async def test_a_row_that_cannot_be_unpacked_is_damaged_and_hides_no_other(
    path: Path, damaged: bytes
) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened("Bridges"), speech(WORDS)])
        await ledger.append("rt_2", [opened("Ferries"), speech(WORDS)])
    with another_program(path) as connection:
        connection.execute("DROP TRIGGER events_are_for_ever")
        sql = "UPDATE events SET data = ? WHERE discussion_id = ? AND type = 'SpeechGiven'"
        connection.execute(sql, (damaged, ID))
    async with opening(path) as ledger:
        with pytest.raises(LedgerBroken, match=f"Event 2 of {ID} is damaged"):
            await ledger.read(ID)
        found = await ledger.summaries(search="bridge", said=True)
        assert {row.discussion_id for row in found} == {ID, "rt_2"}  # by topic, and by speech


@pytest.mark.requirement("I-15")
async def test_a_database_from_before_is_read_as_it_is_and_goes_on_packed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [opened(), note(WORDS, key="once"), speech(WORDS)]
    with monkeypatch.context() as patch:
        patch.setattr(migrations_module, "migrations", lambda _: migrations("sqlite")[:3])
        patch.setattr("roundtable.ledger.sqlite.pack", lambda data: data)
        async with opening(path) as ledger:
            await ledger.append(ID, before)
    old = stored(path)
    assert old == [dump(each.event) for each in before]

    async with opening(path) as ledger:
        assert [r.event for r in await ledger.read(ID)] == [each.event for each in before]
        (again,) = await ledger.append(ID, [note("else", key="once")])
        assert again.seq == 2  # its key is found in a row from before
        await ledger.append(ID, [note(WORDS)])
        assert texts(await ledger.read(ID)) == [WORDS, WORDS]
        found = await ledger.summaries(search='"old bridge"', said=True)
        assert [row.discussion_id for row in found] == [ID]
    assert stored(path)[:3] == old  # what is stored is never written anew
    assert isinstance(stored(path)[3], bytes)


async def test_a_file_with_packed_rows_can_be_vacuumed_and_stays_append_only(path: Path) -> None:
    async with opening(path) as ledger:
        await ledger.append(ID, [opened(), *(note(f"{n} {WORDS}") for n in range(50))])
        await ledger.append("rt_2", [opened(), *(note(f"{n} {WORDS}") for n in range(50))])
        await ledger.delete("rt_2")
    with another_program(path) as connection:
        connection.execute("VACUUM")
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            connection.execute("UPDATE events SET data = x'00'")
    async with opening(path) as ledger:
        assert texts(await ledger.read(ID)) == [f"{n} {WORDS}" for n in range(50)]
