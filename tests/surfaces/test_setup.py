"""The setup wizard, `config` and `help`."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from roundtable.core.errors import UsageError
from roundtable.models.registry import Registry
from roundtable.surfaces.setup.wizard import Wizard

from .desk import Desk, Outcome

PRESET, ALWAYS, ENGLISH, LOGGED, STORE = "C\nA\n", "A\n", "A\n", "A\n", "A\n"


def setup(desk: Desk, typed: str) -> tuple[Outcome, Any]:
    outcome = desk("setup", stdin=typed.encode())
    path = desk.home / "config.json"
    return outcome, json.loads(path.read_text("utf-8")) if path.exists() else None


@pytest.mark.requirement("C-07", "C-08")
def test_each_message_holds_one_question_with_lettered_options() -> None:
    wizard = Wizard(Registry.load().resolve)
    seen = []
    for answer in ("B", "sonnet", "opus", "codex", "C", "D", "Français", "A", "A"):
        question = wizard.question
        assert question is not None
        seen.append(question.key)
        text, *options = str(question).split("\nA) ")
        assert text.count("?") == 1
        assert [option.letter for option in question.options] == list("ABCD")[
            : len(question.options)
        ]
        assert bool(options) == bool(question.options)
        wizard = wizard.answer(answer)

    assert seen == [
        *("models", "scholar", "engineer", "muse", "round2"),
        *("language", "own_language", "logging", "confirm"),
    ]
    first = Wizard(Registry.load().resolve).question
    assert first is not None
    assert [option.text[0] for option in first.options] == ["🎯", "🔀", "📦"]


@pytest.mark.requirement("C-09", "C-16")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("A\nsonnet\n", {"models": dict.fromkeys(("scholar", "engineer", "muse"), "sonnet")}),
        (
            "B\ncodex\nopus\nhaiku\n",
            {"models": {"scholar": "codex", "engineer": "opus", "muse": "haiku"}},
        ),
        ("C\nA\n", {"preset": "cheap"}),
        ("C\nB\n", {"preset": "balanced"}),
        ("C\nC\n", {"preset": "premium"}),
        ("C\ndiverse\n", {"preset": "diverse"}),
    ],
)
def test_each_answer_on_models_leads_down_its_own_path(
    desk: Desk, typed: str, expected: dict[str, Any]
) -> None:
    outcome, config = setup(desk, typed + ALWAYS + ENGLISH + LOGGED + STORE)

    assert outcome.code == 0
    assert {key: config.get(key) for key in expected} == expected


@pytest.mark.requirement("C-10")
@pytest.mark.parametrize(("letter", "stored"), [("A", True), ("b", False), ("C)", "ask")])
def test_round_2_is_stored_as_asked(desk: Desk, letter: str, stored: object) -> None:
    outcome, config = setup(desk, f"{PRESET}{letter}\n{ENGLISH}{LOGGED}{STORE}")

    assert config["round2"] == stored
    assert "costs about 2x" in outcome.out


@pytest.mark.requirement("C-12")
@pytest.mark.parametrize(
    ("typed", "stored"),
    [("A\n", "en"), ("B\n", "de"), ("C\n", "es"), ("D\nplattdüütsch\n", "plattdüütsch")],
)
def test_the_language_is_stored_as_asked(desk: Desk, typed: str, stored: str) -> None:
    _, config = setup(desk, f"{PRESET}{ALWAYS}{typed}{LOGGED}{STORE}")

    assert config["language"] == stored


@pytest.mark.requirement("C-14")
def test_logging_is_stored_with_its_one_place(desk: Desk) -> None:
    _, logged = setup(desk, PRESET + ALWAYS + ENGLISH + "A\n" + STORE)
    _, unlogged = setup(desk, PRESET + ALWAYS + ENGLISH + "B\n" + STORE)

    assert (logged["log_sessions"], logged["log_path"]) == (True, "memory/roundtable")
    assert unlogged["log_sessions"] is False


@pytest.mark.requirement("C-16")
def test_nothing_is_stored_before_the_summary_is_confirmed(desk: Desk) -> None:
    declined, nothing = setup(desk, PRESET + ALWAYS + ENGLISH + LOGGED + "B\n")
    aborted, still_nothing = setup(desk, PRESET + ALWAYS)
    stored, config = setup(desk, PRESET + ALWAYS + ENGLISH + LOGGED + STORE)

    assert (declined.code, aborted.code, stored.code) == (0, 130, 0)
    assert nothing is still_nothing is None
    assert "Nothing was stored." in declined.out
    assert "Nothing was stored." in aborted.err
    summary = stored.out[stored.out.index("This will be stored:") :]
    assert all(f"{key}: {value}" in summary for key, value in config.items())
    assert f"Stored in {desk.home / 'config.json'}." in stored.out


def test_a_wrong_answer_is_asked_again(desk: Desk) -> None:
    outcome, config = setup(desk, "X\nA\nsonet\nsonnet\n" + ALWAYS + ENGLISH + LOGGED + STORE)

    assert "Answer with one of A, B, C." in outcome.err
    assert "Did you mean sonnet" in outcome.err
    assert config["models"]["muse"] == "sonnet"


def test_a_finished_wizard_takes_no_more_answers() -> None:
    wizard = Wizard(Registry.load().resolve)
    for answer in ("C", "A", "A", "A", "B", "B"):
        wizard = wizard.answer(answer)

    assert wizard.question is None
    assert not wizard.confirmed
    with pytest.raises(UsageError, match="finished"):
        wizard.answer("A")


def test_setup_is_the_way_out_of_a_broken_config(desk: Desk) -> None:
    desk.config("{broken")

    outcome, config = setup(desk, PRESET + ALWAYS + ENGLISH + LOGGED + STORE)

    assert outcome.code == 0
    assert config["preset"] == "cheap"


@pytest.mark.requirement("C-06")
def test_config_prints_what_is_stored_or_how_to_store_something(desk: Desk) -> None:
    without = desk("config")
    desk.config('{"preset": "cheap"}')
    stored = desk("config")

    assert without.out == "There is no config.json yet. Make one with: roundtable setup\n"
    assert json.loads(stored.out) == {"preset": "cheap"}
    assert str(desk.home / "config.json") in stored.err


@pytest.mark.parametrize("content", [b"{broken", b"\xff\xfe\x00", b'{"no": "such key"}'])
def test_config_shows_also_what_is_broken(desk: Desk, content: bytes) -> None:
    desk.home.mkdir()
    (desk.home / "config.json").write_bytes(content)

    assert desk("config").code == 0


@pytest.mark.requirement("C-02", "C-05")
def test_help_lists_four_entries_even_with_a_broken_config(desk: Desk) -> None:
    desk.config("{broken")
    (desk.home / "config.toml").write_text("= broken")

    outcome = desk("help")

    assert outcome.code == 0
    entries = re.findall(r"^roundtable (\S+) ", outcome.out, re.MULTILINE)
    assert entries == ["<question>", "setup", "config", "help"]
