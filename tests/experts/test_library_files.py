"""Reading experts: the user's own over the shipped ones, and errors that point to the place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from roundtable.core.errors import BadSetting
from roundtable.experts import library_files
from roundtable.experts.library_files import (
    OwnFile,
    kept_experts,
    own_files,
    read_library,
    read_own,
    shipped_experts,
    shipped_files,
)
from roundtable.trust import Folder

GOOD = """\
[[expert]]
id = "beekeeper"
name = "Beekeeper"
domain = "food"
perspective = "Judges everything by what the bees would say."
asks = ["What blooms, and when?"]
blind_spot = "People who are afraid of bees."
guidance = "Count hives."
[expert.tags]
en = ["bees", "honey"]
de = ["Bienen", "Honig"]
"""


def written(tmp_path: Path, text: str, name: str = "own.toml") -> OwnFile:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return OwnFile(path, path.read_bytes())


def test_own_experts_join_the_library(tmp_path: Path) -> None:
    library = read_library([written(tmp_path, GOOD)])

    assert library["beekeeper"].tags["de"] == ("Bienen", "Honig")
    assert "backend-engineer" in library


def test_an_own_expert_replaces_the_shipped_one_of_its_id(tmp_path: Path) -> None:
    mine = GOOD.replace('"beekeeper"', '"backend-engineer"')
    library = read_library([written(tmp_path, mine)])

    assert library["backend-engineer"].name == "Beekeeper"
    assert len(library) == len(read_library())


def test_files_come_folder_by_folder_in_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.toml", "a.toml", "notes.txt"):
        written(tmp_path, "", name)
    (tmp_path / "folder.toml").mkdir()

    found = own_files(Folder(tmp_path / "nowhere"), Folder(tmp_path))

    assert [file.path.name for file in found] == ["a.toml", "b.toml"]
    assert read_own(found) == {}


def test_a_mark_at_the_beginning_does_no_harm(tmp_path: Path) -> None:
    assert list(read_own([written(tmp_path, "\ufeff" + GOOD)])) == ["beekeeper"]


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "expected"),
    [
        ('id = "beekeeper"', 'id = "Bee Keeper"', 2, "id", "lower-case words"),
        ('id = "beekeeper"\n', "", 1, "id", "it is missing"),
        ("blind_spot", "blindspot", 1, "blind_spot", "it is missing"),
        ("guidance =", 'guidnce = "x"\nguidance =', 8, "guidnce", "one of id, name, domain"),
        ('["What blooms, and when?"]', '"What?"', 6, "asks", "a list of what it always asks"),
        ('["What blooms, and when?"]', "[]", 6, "asks", "a list of what it always asks"),
        ('["Bienen", "Honig"]', '"Bienen"', 11, "tags.de", "a table of lists by language"),
        ('["Bienen", "Honig"]', '["Bienen", 7]', 11, "tags.de.1", "a table of lists"),
        ('"Count hives."', '"  "', 8, "guidance", "a text"),
        ("[[expert]]", "[expert]", None, "expert", "write [[expert]], not [expert]"),
        ("[[expert]]", "[[experts]]", 1, "experts", "nothing but [[expert]] tables"),
        ('domain = "food"', 'domain = "food', 4, "the file", "valid TOML"),
    ],
)
def test_an_error_names_the_file_the_line_the_key_and_what_was_expected(
    tmp_path: Path, old: str, new: str, line: int | None, key: str, expected: str
) -> None:
    file = written(tmp_path, GOOD.replace(old, new, 1))

    with pytest.raises(BadSetting) as caught:
        read_own([file])

    assert caught.value.where == (str(file.path) if line is None else f"{file.path}:{line}")
    assert caught.value.key == key
    assert expected in caught.value.expected


def test_the_line_is_that_of_the_right_expert(tmp_path: Path) -> None:
    second = GOOD.replace("beekeeper", "florist").replace('name = "Beekeeper"', "name = 3")

    with pytest.raises(BadSetting) as caught:
        read_own([written(tmp_path, GOOD + "\n" + second)])

    assert caught.value.where.endswith("own.toml:15")
    assert caught.value.key == "name"


def test_an_id_may_occur_once_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="'beekeeper' is taken"):
        read_own([written(tmp_path, GOOD + "\n" + GOOD)])


@pytest.mark.parametrize("text", ["expert = [1]", "expert = [{}]", "expert = ['x']"])
def test_what_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadSetting):
        read_own([written(tmp_path, text)])


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(BadSetting, match="UTF-8"):
        read_own([OwnFile(path, path.read_bytes())])


def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on nobody may read the program's own files."""
    monkeypatch.setattr(library_files, "shipped_experts", lambda: pytest.fail("they were read"))


def test_a_kept_library_is_the_one_that_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = shipped_experts()
    assert kept_experts(tmp_path / "cache") == read

    unread(monkeypatch)

    assert kept_experts(tmp_path / "cache") == read
    (file,) = (tmp_path / "cache").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "emptied", "folder"])
def test_a_damaged_library_is_read_and_kept_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    read = kept_experts(tmp_path)
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    match damage:
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "changed":
            path.write_bytes(data.replace(b"backend", b"back-end"))
        case "emptied":
            path.write_bytes(data.partition(b"\n")[0] + b"\n[]")
        case _:
            path.unlink()
            path.mkdir()

    assert kept_experts(tmp_path) == read
    if damage != "folder":
        assert path.read_bytes() == data
        unread(monkeypatch)
        assert kept_experts(tmp_path) == read


@pytest.mark.parametrize("change", ["text", "time", "name", "version"])
def test_files_that_changed_are_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    source = tmp_path / "food.toml"
    source.write_text(GOOD, "utf-8")
    monkeypatch.setattr(library_files, "shipped_files", lambda: sorted(tmp_path.glob("*.toml")))
    before = kept_experts(tmp_path / "cache")
    match change:
        case "text":
            source.write_text(GOOD.replace("Count hives.", "Count the hives."), "utf-8")
        case "time":
            os.utime(source, ns=(1, 1))
        case "name":
            source.rename(tmp_path / "bees.toml")
        case _:
            monkeypatch.setattr(library_files, "__version__", "0.0.1")

    after = kept_experts(tmp_path / "cache")

    assert [each.id for each in before] == [each.id for each in after] == ["beekeeper"]
    assert (after[0].guidance == "Count the hives.") == (change == "text")
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")

    assert kept_experts(tmp_path / "cache") == shipped_experts()


def test_the_library_comes_in_the_order_of_its_files() -> None:
    names = [file.name for file in shipped_files()]
    assert names == sorted(names)
    assert list(dict.fromkeys(each.domain for each in shipped_experts())) == [
        name.removesuffix(".toml") for name in names
    ]
