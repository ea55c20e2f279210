"""Every file that somebody may write, broken in every way: one clear line, nothing lost.

A new file joins by one row of FILES, a new way to be broken by one of WAYS.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from roundtable.config_files import contents, line_of
from roundtable.core.errors import BadSetting
from roundtable.trust import Trust
from tests.surfaces.desk import QUICK, Desk

ASK = ("Tea or coffee?", *QUICK, "--procedure", "council")
DELIBERATE = ("Tea or coffee?", "--procedure", "deliberation", "--seats", "2", "--dry-run")
"""A table that is seated from the library."""


@dataclass(frozen=True, slots=True)
class File:
    """One file: where it lies, who needs it, what is wrong in it by its own rules."""

    name: str
    needed_by: tuple[str, ...]
    """A command that cannot do without it."""
    wrong_type: str
    unknown_key: str
    newer: str = ""
    """What a newer version would write; empty if the file has none of ours."""
    good: str = ""
    everywhere: bool = False
    """Needed by every command: it says where things are stored, or what may count at all."""
    ours: bool = False
    """Says who speaks, what runs or where keys go, so that it must be nobody else's."""
    place: Literal["home", "project"] = "home"
    area: str = "settings"
    """What the doctor calls it."""


FILES = (
    File(
        "config.json",
        ASK,
        '{"round2": [1]}',
        '{"prest": "cheap"}',
        '{"version": 2, "mood": "good"}',
        '{"preset": "cheap"}',
        ours=True,
    ),
    File(
        "config.toml",
        ASK,
        'concurrency = "many"',
        "concurency = 3",
        "version = 2",
        "concurrency = 3",
        everywhere=True,
        ours=True,
    ),
    File(
        "models.toml",
        ASK,
        "models = 3",
        "[moods]",
        "version = 2",
        "[aliases]",
        ours=True,
        area="models",
    ),
    File(
        "panels.json", ASK, '{"rounds": "x"}', '{"pannels": 1}', '{"version": 2}', "{}", ours=True
    ),
    File(
        "local_models.json",
        DELIBERATE,
        '{"host": 3}',
        '{"enginering": "opus"}',
        '{"version": 2}',
        "{}",
        ours=True,
        area="routing",
    ),
    File(
        "roundtable_config.yaml",
        DELIBERATE,
        "models: 3",
        "models: [{id: opus, priorty: 1}]",
        good="models: []",
        ours=True,
        area="routing",
    ),
    File(
        "experts/own.toml",
        DELIBERATE,
        "expert = 3",
        "[[expert]]\nmood = 1",
        "version = 2",
        "",
        ours=True,
        area="experts",
    ),
    File(
        "procedures/own.toml",
        ("Tea?", *QUICK[:3], "--procedure", "own"),
        "name = 3",
        'name = "own"\nmoods = 1',
        ours=True,
        area="procedures",
    ),
    File(
        "keys.toml",
        DELIBERATE,  # nobody is named: it would be a demonstration
        "keys = 3",
        "[moods]",
        "version = 2",
        "[keys]",
        ours=True,
        area="credentials",
    ),
    File(
        "tokens.json",
        ("tokens",),
        "[]",
        '{"version": 1, "tokens": [{}], "ended": {}, "era": 0}',
        '{"version": 2}',
        '{"version": 1, "tokens": [], "ended": {}, "era": 0}',
        ours=True,
        area="tokens",
    ),
    File(
        "trust.json",
        ASK,
        '{"a": 3}',
        "",
        '{"version": 2}',
        "{}",
        everywhere=True,
        ours=True,
        area="trust",
    ),
    File(
        "roundtable.toml",
        ASK,
        "language = 3",
        'databse = "x"',
        "version = 2",
        "",
        place="project",
    ),
)


def _text(text: str) -> Callable[[File, Path], object]:
    return lambda _, path: path.write_text(text, "utf-8")


def _bytes(data: bytes) -> Callable[[File, Path], object]:
    return lambda _, path: path.write_bytes(data)


def _large(_: File, path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(60_000_000)


def _own(field: str) -> Callable[[File, Path], object]:
    def write(file: File, path: Path) -> None:
        path.write_text(getattr(file, field), "utf-8")

    return write


WAYS: dict[str, Callable[[File, Path], object]] = {
    "not its language": _text("{broken = ["),
    "binary": _bytes(b"\x80\x00\xff" * 50),
    "utf-16": lambda file, path: path.write_text(file.good or "x", "utf-16"),
    "wrong type": _own("wrong_type"),
    "unknown key": _own("unknown_key"),
    "newer": _own("newer"),
    "folder": lambda _, path: path.mkdir(),
    "pipe": lambda _, path: os.mkfifo(path),
    "leads nowhere": lambda _, path: path.symlink_to(path.with_name("gone")),
    "leads to itself": lambda _, path: path.symlink_to(path.name),
    "sixty megabytes": _large,
}
_IN_NOBODYS_WAY = {
    ("roundtable.toml", "folder"),
    ("roundtable.toml", "pipe"),
    ("roundtable.toml", "leads nowhere"),
    ("roundtable.toml", "leads to itself"),
    ("roundtable.toml", "sixty megabytes"),
    # A folder of that name is nobody's file.
    ("experts/own.toml", "folder"),
}
"""What cannot be trusted cannot count; that is said, and it goes on."""


_HAS = {"unknown key": "unknown_key", "newer": "newer"}
"""Ways that not every file has."""
CASES = [
    pytest.param(file, way, id=f"{file.name}-{way}")
    for file in FILES
    for way in WAYS
    if way not in _HAS or getattr(file, _HAS[way])
]


@pytest.mark.parametrize(("file", "way"), CASES)
def test_a_broken_file_gives_one_clear_line_and_stays_as_it_is(
    desk: Desk, file: File, way: str
) -> None:
    path = (desk.home if file.place == "home" else desk.workspace) / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    desk.home.mkdir(exist_ok=True)
    WAYS[way](file, path)
    _bring_something_to_trust(desk, file)
    if file.place == "project":
        trust = Trust(desk.home, desk.workspace)
        trust.grant(trust.files())
    before = _looks(path)

    needing, listing, helping = desk(*file.needed_by), desk("list"), desk("help")

    assert _looks(path) == before
    assert helping.code == 0
    everything = needing.err + needing.out + listing.err
    assert "Traceback" not in everything
    assert "Errno" not in everything
    if (file.name, way) in _IN_NOBODYS_WAY:
        assert needing.code == 0
        assert file.place == "home" or "does not count" in needing.err
        return
    told = needing.err
    assert needing.code == 2, told
    assert Path(file.name).name in told
    assert len(told.splitlines()) <= 3
    if way == "newer":
        assert "newer Roundtable" in told
    if not file.everywhere:
        assert listing.code == 0, listing.err
    elif listing.code:
        assert file.name in listing.err


_NAMED = [
    pytest.param(file, way, id=f"{file.name}-{way}")
    for file in FILES
    if file.place == "home"
    for way in ("not its language", "newer", "folder", "another user's")
    if way != "newer" or file.newer
    # A folder of that name is only in the way of who names it.
    if way != "folder" or "/" not in file.name
]


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize(("file", "way"), _NAMED)
def test_what_a_command_stops_at_is_named_by_the_doctor_and_by_the_list_of_settings(
    desk: Desk, file: File, way: str
) -> None:
    path = desk.home / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    if way == "another user's":
        if os.geteuid() != 0:
            pytest.skip("only root can give a file to somebody else")
        path.write_text(file.good, "utf-8")
        os.chown(path, 12_345, -1)
    else:
        WAYS[way](file, path)

    examined, origins = desk("doctor", "--json"), desk("config", "--origin")

    broken = [each for each in examined.document["findings"] if each["state"] == "broken"]
    # Where no run can be opened without it, that is told as well.
    assert [each["area"] for each in broken if each["area"] != "run"] == [file.area]
    assert Path(file.name).name in broken[0]["text"]
    assert examined.code == 1
    assert origins.code == 1
    [line] = [each for each in origins.err.splitlines() if each.startswith("Ignored: ")]
    assert Path(file.name).name in line
    assert "models from" not in origins.out
    assert "ROUNDTABLE_HOME" in origins.out
    if not file.everywhere or file.name == "trust.json":
        assert desk("list").code == 0


def _bring_something_to_trust(desk: Desk, file: File) -> None:
    """What is trusted is asked only where there is something that could be."""
    if file.name == "trust.json":
        (desk.workspace / "roundtable.toml").write_text("", "utf-8")


def _looks(path: Path) -> object:
    """What is there, without reading what could be waited for."""
    if path.is_symlink():
        return path.readlink()
    kind = path.lstat().st_mode
    return (kind, path.read_bytes()[:100] if path.is_file() else None, path.lstat().st_size)


@pytest.mark.parametrize("file", [f for f in FILES if f.ours], ids=lambda file: file.name)
def test_what_everybody_could_have_written_does_not_count_the_first_time(
    desk: Desk, file: File
) -> None:
    desk.home.mkdir(mode=0o755)
    path = desk.home / file.name
    path.parent.mkdir(exist_ok=True)
    path.write_text(file.good, "utf-8")
    path.chmod(0o666)
    _bring_something_to_trust(desk, file)

    first, second = desk(*file.needed_by), desk(*file.needed_by)

    assert "everybody could" in first.err + first.out
    assert "everybody could" not in second.err + second.out
    assert path.stat().st_mode & 0o022 == 0


def test_what_belongs_to_another_user_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    path.write_text("concurrency = 3", "utf-8")
    if os.geteuid() == 0:
        os.chown(path, 12_345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12_345)

    with pytest.raises(BadSetting, match="belongs to another user") as caught:
        contents(path, ours=True)

    assert "chown" in caught.value.remedy
    assert contents(path) == b"concurrency = 3", "where it can do no harm it counts"


@pytest.mark.parametrize("file", [f for f in FILES if f.ours], ids=lambda file: file.name)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_no_command_goes_by_a_file_of_another_user(desk: Desk, file: File) -> None:
    path = desk.home / file.name
    path.parent.mkdir(parents=True)
    path.write_text(file.good, "utf-8")
    os.chown(path, 12_345, -1)
    _bring_something_to_trust(desk, file)

    told = desk(*file.needed_by)

    assert told.code == 2
    assert f"{file.name}: " in told.err
    assert ": the file: expected a file of yours; it belongs to another user" in " ".join(
        told.err.split()
    )
    assert "chown" in told.err or file.name == "keys.toml", "keys are entered anew"


def test_the_line_is_named(desk: Desk) -> None:
    desk.home.mkdir()
    (desk.home / "config.toml").write_text('language = "de"\n\n[budget]\nmax_calls = "x"\n')

    told = desk(*ASK).err

    assert re.search(r"config\.toml:4: budget\.max_calls: expected", told)


def _broken_keys(desk: Desk) -> None:
    desk.home.mkdir(0o700)
    path = desk.home / "keys.toml"
    path.write_text('OPENAI_API_KEY = "sk-stored')
    path.chmod(0o600)


def test_stored_keys_that_cannot_be_read_are_told_and_nobody_speaks_in_their_place(
    desk: Desk,
) -> None:
    _broken_keys(desk)

    models, asked = desk("models"), desk("Tea or coffee?", "--quick")
    council = desk("Tea or coffee?", "--procedure", "council", "--models", "opus")
    scripts = desk("Tea or coffee?", *QUICK)
    shown = desk("Tea or coffee?", "--dry-run", "--model", "local/smollm2-135m")

    assert models.code == 0
    assert models.err.count("keys.toml") == 1
    assert "roundtable setup" in models.err
    for refused in (asked, council):
        assert refused.code == 2
        assert "keys.toml" in refused.err
        assert "roundtable setup" in refused.err
        assert "Discussion" not in refused.err
    assert scripts.code == 0, "whoever is named needs no stored key"
    assert "Note: keys.toml: expected" in scripts.err
    assert "The stored keys are ignored" in scripts.err
    assert "The stored keys are ignored" not in shown.err.partition("Note:")[0]
    assert "sk-stored" not in models.err + asked.err + scripts.err


@pytest.mark.parametrize("name", ["panels.json", "config.json", "config.toml", "models.toml"])
@pytest.mark.parametrize("depth", [70, 20_000])
def test_what_is_nested_without_end_is_refused_at_once(desk: Desk, name: str, depth: int) -> None:
    desk.home.mkdir(0o700)
    nested = "[" * depth + "]" * depth
    text = f"a = {nested}" if name.endswith("toml") else nested
    (desk.home / name).write_text(text)
    (desk.home / name).chmod(0o600)

    outcome = desk.ask()

    assert outcome.code == 2
    assert f"{name}: the file: expected at most 64 tables and lists" in outcome.err


def test_a_line_of_brackets_is_looked_through_once() -> None:
    assert line_of("[" * 200_000, "rounds") == 0
    assert line_of("[[expert]]\nmood = 1", "expert.mood") == 2


@pytest.mark.parametrize("amount", ["true", '"2"', "1e400", "NaN"])
def test_a_limit_is_a_number_and_nothing_like_one(desk: Desk, amount: str) -> None:
    desk.config(f'{{"budget": {{"max_cost_usd": {amount}}}}}')

    outcome = desk.ask()

    assert outcome.code == 2
    assert "config.json" in outcome.err
    assert "budget.max_cost_usd: expected a" in outcome.err
    assert "number" in outcome.err


@pytest.mark.requirement("Z-35", "Z-39")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[monthly]\neach_usd = true", "monthly.each_usd"),
        ("[pace]\nfirst_word = true", "pace.first_word"),
        ("[caps]\nmax_calls = true", "caps.max_calls"),
        ("concurrency = true", "concurrency"),
        ("[waiting]\neach = true", "waiting.each"),
    ],
)
def test_true_is_no_number_in_the_settings(desk: Desk, text: str, key: str) -> None:
    desk.home.mkdir(0o700, exist_ok=True)
    (desk.home / "config.toml").write_text(text)
    (desk.home / "config.toml").chmod(0o600)

    outcome = desk.ask()

    assert outcome.code == 2
    assert "config.toml" in outcome.err
    assert f"{key}: expected a number, not true or false" in " ".join(outcome.err.split())


def test_a_broken_file_is_not_taken_for_a_question(desk: Desk) -> None:
    desk.home.mkdir(0o700)
    (desk.home / "tokens.json").write_text("{")
    (desk.home / "tokens.json").chmod(0o600)

    broken = desk("tokens", "add", "x", "--spend", "1")

    assert broken.code == 2
    assert "tokens.json" in broken.err
    assert "as a question" not in broken.err


@pytest.mark.requirement("Z-35")
def test_damaged_trust_is_in_nobodys_way_where_there_is_nothing_to_trust(desk: Desk) -> None:
    desk.home.mkdir(0o700)
    (desk.home / "trust.json").write_text("{")
    (desk.home / "trust.json").chmod(0o600)

    alone = desk.ask()
    (desk.workspace / "roundtable.toml").write_text('language = "de"')
    refused, listed, examined = desk.ask(), desk("list"), desk("doctor")

    assert alone.code == 0, alone.err
    assert refused.code == 2, "what is trusted may be a limit"
    assert "trust.json" in refused.err
    assert listed.code == 0
    assert "✗ trust: " in examined.out
    assert "have not trusted it" not in examined.out, "nobody knows"
    assert "Left out for now: " in listed.err
    assert "trust.json" in listed.err
