"""The setup wizard, `config` and `help`."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import UsageError
from roundtable.models.registry import Registry
from roundtable.surfaces.setup import stored as storing
from roundtable.surfaces.setup.wizard import Wizard
from tests.servers import NOBODY, Answer, look_for_local_servers, provider_server, status
from tests.wire import Asked

from .desk import Desk, Outcome, obedient

PRESET, ALWAYS, ENGLISH, LOGGED, REST, STORE = "C\nA\n", "A\n", "A\n", "A\n", "A\n", "A\n"
NO_KEY = "\n"
"""No key of another provider."""
HERE = ("llama3.2", "qwen3", "mistral-small", "gemma3", "qwen3-coder")


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of this machine with some models."""
    with provider_server(models=HERE) as server:
        look_for_local_servers(monkeypatch, OLLAMA_HOST=server.base_url)
        yield server.base_url


def setup(desk: Desk, typed: str, *args: str) -> tuple[Outcome, Any]:
    outcome = desk("setup", *args, stdin=typed.encode())
    path = desk.home / "config.json"
    return outcome, json.loads(path.read_text("utf-8")) if path.is_file() else None


@pytest.mark.requirement("C-07", "C-08")
def test_each_message_holds_one_question_with_lettered_options() -> None:
    wizard = Wizard(Registry.load().resolve)
    seen = []
    answers = ("B", "sonnet", "opus", "codex", "C", "D", "Français", "A", "n")
    rest = ("council", "opus", "D", "1.50", "y", "C", "A")
    for answer in (*answers, *rest):
        question = wizard.question
        assert question is not None
        seen.append(question.key)
        text, *options = str(question).split("\nA) ")
        assert "?" in text
        assert text.count("?") == 1
        letters = [option.letter for option in question.options]
        assert letters == list("ABCDE")[: len(question.options)]
        assert bool(options) == bool(question.options)
        wizard = wizard.answer(answer)

    assert seen == [
        *("models", "scholar", "engineer", "muse", "round2"),
        *("language", "own_language", "logging", "rest"),
        *("procedure", "host", "cap", "own_cap", "search", "page", "confirm"),
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
@pytest.mark.usefixtures("ollama")
def test_each_answer_on_models_leads_down_its_own_path(
    desk: Desk, typed: str, expected: dict[str, Any]
) -> None:
    outcome, config = setup(desk, NO_KEY + typed + ALWAYS + ENGLISH + LOGGED + REST + STORE)

    assert outcome.code == 0
    assert {key: config.get(key) for key in expected} == expected


@pytest.mark.requirement("C-09")
@pytest.mark.usefixtures("ollama")
def test_what_counts_for_every_procedure_is_asked_so_and_what_is_the_councils_says_it(
    desk: Desk,
) -> None:
    typed = NO_KEY + "B\ncodex\nopus\nhaiku\n" + ALWAYS + ENGLISH + LOGGED + REST + STORE
    told = setup(desk, typed)[0].out

    assert "one model for every seat" in told
    for seat in ("first seat? In a council, that is the Scholar", "third seat? In a council"):
        assert f"Which model should take the {seat}" in told
    assert "In a council, should the experts cross-examine" in told
    assert "log file of each council" in told
    assert "models: codex, opus, haiku in this order" in told
    assert "a council's round 2: " in told


@pytest.mark.requirement("C-10")
@pytest.mark.parametrize(
    ("letter", "stored"), [("A", True), ("b", False), ("C)", "ask"), ("y", True), ("no", False)]
)
@pytest.mark.usefixtures("ollama")
def test_round_2_is_stored_as_asked(desk: Desk, letter: str, stored: object) -> None:
    outcome, config = setup(desk, f"{NO_KEY}{PRESET}{letter}\n{ENGLISH}{LOGGED}{REST}{STORE}")

    assert config["round2"] == stored
    assert "about doubles the cost" in outcome.out


@pytest.mark.usefixtures("ollama")
def test_yes_takes_what_is_shown_where_there_is_something_to_choose(desk: Desk) -> None:
    alone, taken = setup(desk, "", "--yes")
    (desk.home / "config.json").unlink()
    outcome, config = setup(desk, NO_KEY + "y\n" * 4 + "y\n" * 5)

    assert config == taken, alone.out + outcome.out + outcome.err
    assert outcome.err == ""


@pytest.mark.requirement("C-12")
@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("A\n", "en"),
        ("B\n", "de"),
        ("C\n", "es"),
        ("D\nplattdüütsch\n", "plattdüütsch"),
        ("\n", "auto"),
    ],
)
@pytest.mark.usefixtures("ollama")
def test_the_language_is_stored_as_asked(desk: Desk, typed: str, stored: str) -> None:
    _, config = setup(desk, f"{NO_KEY}{PRESET}{ALWAYS}{typed}{LOGGED}{REST}{STORE}")

    assert config["language"] == stored


@pytest.mark.requirement("C-14")
@pytest.mark.usefixtures("ollama")
def test_logging_is_stored_with_its_one_place(desk: Desk) -> None:
    before = NO_KEY + PRESET + ALWAYS + ENGLISH
    _, logged = setup(desk, before + "A\n" + REST + STORE)
    _, unlogged = setup(desk, before + "n\n" + REST + STORE)

    assert (logged["log_sessions"], logged["log_path"]) == (True, "memory/roundtable")
    assert unlogged["log_sessions"] is False


@pytest.mark.requirement("C-16")
@pytest.mark.usefixtures("ollama")
def test_nothing_is_stored_before_the_summary_is_confirmed(desk: Desk) -> None:
    before = NO_KEY + PRESET + ALWAYS + ENGLISH + LOGGED + REST
    declined, nothing = setup(desk, before + "no\n")
    aborted, still_nothing = setup(desk, NO_KEY + PRESET + ALWAYS)
    stored, config = setup(desk, before + STORE)

    assert (declined.code, aborted.code, stored.code) == (0, 130, 0)
    assert nothing is still_nothing is None
    assert "Nothing was stored." in declined.out
    assert "Nothing was stored." in aborted.err
    summary = stored.out[stored.out.index("This will be stored:") :]
    for line in (
        *("models: preset cheap", "round 2: yes, always", "language: English"),
        *("log: memory/roundtable/", "procedure: deliberation", "host: ollama/", "limit: none"),
    ):
        assert line in summary
    assert config["preset"] == "cheap"
    assert f"Stored in {desk.home / 'config.json'}." in stored.out


@pytest.mark.usefixtures("ollama")
def test_enter_takes_models_as_different_as_can_be_had(desk: Desk) -> None:
    outcome, config = setup(desk, "\n" * 10)

    assert outcome.code == 0
    assert config["models"] == {
        "scholar": "ollama/llama3.2",
        "engineer": "ollama/qwen3",
        "muse": "ollama/mistral-small",
    }
    assert config["host"] == "ollama/gemma3", "a family that does not argue"
    assert "Ollama" in outcome.out
    assert "5 models" in outcome.out


@pytest.mark.parametrize("procedure", ["deliberation", "council", "five-round", "meeting"])
@pytest.mark.usefixtures("ollama")
def test_what_was_chosen_counts_in_every_procedure(desk: Desk, procedure: str) -> None:
    setup(desk, "\n" * 6 + "de\n" + "\n" + "n\n" + "\n\nD\n0.75\n\n\n\n")

    rehearsed = desk("Tea or coffee?", "--procedure", procedure, "--dry-run", "--json").document
    models = {model for seat in rehearsed["participants"] for model in seat["models"]}

    assert {"ollama/llama3.2", "ollama/qwen3", "ollama/mistral-small"} <= models
    rows = {row["key"]: row["value"] for row in desk("config", "--origin", "--json").document}
    assert rows["language"] == "de"
    assert rows["budget.max_cost"] == 0.75


@pytest.mark.usefixtures("ollama")
def test_one_can_go_back_and_answer_otherwise(desk: Desk) -> None:
    before_the_first = "<\nback\n" + NO_KEY
    typed = f"{NO_KEY}A\nback\n{before_the_first}C\nback\nB\nB\nA\nA\n" + "\n" * 5
    outcome, config = setup(desk, typed)

    assert "This is the first question." in outcome.err
    assert config["models"] == {
        "scholar": "ollama/qwen3",
        "engineer": "ollama/llama3.2",
        "muse": "ollama/llama3.2",
    }


@pytest.mark.usefixtures("ollama")
def test_the_next_set_up_starts_from_what_is_stored(desk: Desk) -> None:
    one_by_one = "n\n\nmistral-small\nollama/mistral-small\nD\n$0,75\nn\nB\n"
    setup(desk, NO_KEY + "A\nB\nC\nD\nSuomi\nn\n" + one_by_one + STORE)
    path = desk.home / "config.json"
    first = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**first, "max_budget": "low"}), "utf-8")

    _, again = setup(desk, "\n" * 12)
    _, alone = setup(desk, "", "--yes")

    assert first["budget"] == {"max_cost": 0.75}
    assert (first["search"], first["web"], first["language"]) == ("none", True, "Suomi")
    assert again == alone == {**first, "max_budget": "low"}, "what nobody asked for stays"


@pytest.mark.usefixtures("ollama")
def test_without_questions_what_is_found_is_taken(desk: Desk) -> None:
    outcome, config = setup(desk, "", "--yes")

    assert outcome.code == 0
    assert "This will be stored:" in outcome.out
    assert config["host"] == "ollama/gemma3"


@pytest.mark.usefixtures("ollama")
def test_without_a_terminal_it_says_what_to_do(desk: Desk) -> None:
    outcome, config = setup(desk, "")

    assert (outcome.code, config) == (2, None)
    assert "roundtable setup --yes" in outcome.err


def test_whoever_has_nothing_gets_four_ways_on(desk: Desk) -> None:
    without, config = setup(desk, "D\n" + "\n" * 5)
    alone, _ = setup(desk, "", "--yes")

    ways = re.findall(r"^[ABCD]\) (.*)", without.out, re.MULTILINE)[:4]
    for word, way in zip(("key", "Ollama", "address", "demonstration"), ways, strict=True):
        assert word in way
    assert without.code == 0
    assert "models" not in config, "a key that comes later counts at once"
    assert alone.code == 2
    assert "roundtable demo" in alone.err


def test_a_server_that_was_started_meanwhile_is_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_for_local_servers(monkeypatch)
    outcome, _ = setup(desk, "B\n\nD\n" + "\n" * 5)

    assert outcome.out.count("No model can speak here yet.") == 2
    assert outcome.code == 0


def test_a_key_is_tried_hidden_and_kept_with_the_summary_only(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(models=("gpt-6.1-sol", "gpt-5.5")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/v1")
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.setenv("ROUNDTABLE_MODEL_LISTS", "true")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        way, key = "y\nOpenAI\n", "sk-not-a-real-key-0123456789\n"
        _, nothing = setup(desk, way + key + "\n" * 6 + "B\n")
        before = (desk.home / "keys.toml").exists()
        outcome, config = setup(desk, way + "not a key\n" + key + "\n" * 12)

    assert nothing is None
    assert not before
    assert config is not None, outcome.out + outcome.err
    assert "sk-not" not in outcome.out + outcome.err + json.dumps(config)
    assert "That is not a key" in outcome.err
    kept = desk.home / "keys.toml"
    assert "sk-not-a-real-key-0123456789" in kept.read_text("utf-8")
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize(
    "typed",
    [
        "sk-not-a-real-key-0123456789\nOpenAI\n",
        "y\nsk-not-a-real-key-0123456789\nOpenAI\n",
        "y\nOpenAI\nsk-not-a-real-key-0123456789\n",
    ],
)
def test_a_key_that_is_pasted_where_none_is_asked_for_yet_is_taken_and_never_repeated(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    with provider_server(models=("gpt-6.1-sol", "gpt-5.5")) as server:
        at_no_variable(monkeypatch)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        outcome, config = setup(desk, typed + "\n" * 14)

    assert config is not None, outcome.out + outcome.err
    assert "sk-not" not in outcome.out + outcome.err
    assert ("anyone who saw it" in outcome.out) is not typed.startswith("y\nOpenAI")
    assert "sk-not-a-real-key-0123456789" in (desk.home / "keys.toml").read_text("utf-8")


@pytest.mark.requirement("Z-39")
@pytest.mark.usefixtures("ollama")
@pytest.mark.parametrize("key", ["sk-secret-xyz0", "9f8e7d6c5b4a39281706"])
def test_no_answer_that_may_be_a_key_is_repeated_or_stored(desk: Desk, key: str) -> None:
    # At a menu, as a model, as a language, as an amount.
    answers = f"{key}\nA\n{key}\nqwen3\n{ALWAYS}{key}\nD\nFrançais\n{LOGGED}B\nA\n{key}\n\n"
    amount = f"D\n{key}\n1.50\n" + "\n" * 5
    pasted = key.startswith("sk-")
    typed = NO_KEY + (answers + amount)
    outcome, config = setup(desk, typed)

    assert config is not None, outcome.out + outcome.err
    assert key[:8] not in outcome.out + outcome.err + json.dumps(config)
    assert ("That looks like a key." in outcome.err) is pasted
    assert "That is not one of the options." in outcome.err or pasted


@pytest.mark.usefixtures("ollama")
def test_a_wrong_answer_is_asked_again(desk: Desk) -> None:
    answers = "X\nA\nsonet\nsonnet\n" + ALWAYS + ENGLISH + LOGGED + REST + STORE
    outcome, config = setup(desk, NO_KEY + answers)

    assert "Please answer A, B or C." in outcome.err
    assert "Did you mean sonnet" in outcome.err
    assert config["models"]["muse"] == "sonnet"
    assert "cannot speak now: sonnet" in outcome.out


def test_a_finished_wizard_takes_no_more_answers() -> None:
    wizard = Wizard(Registry.load().resolve)
    for answer in ("C", "A", "A", "A", "B", "A", "B"):
        wizard = wizard.answer(answer)

    assert wizard.question is None
    assert not wizard.confirmed
    with pytest.raises(UsageError, match="finished"):
        wizard.answer("A")


@pytest.mark.usefixtures("ollama")
def test_setup_is_the_way_out_of_a_broken_config(desk: Desk) -> None:
    desk.config("{broken")
    (desk.home / "config.toml").write_text("= broken")
    (desk.home / "models.toml").write_text("= broken")

    outcome, config = setup(desk, NO_KEY + PRESET + ALWAYS + ENGLISH + LOGGED + REST + STORE)

    assert outcome.code == 0
    assert config["preset"] == "cheap"
    assert (desk.home / "config.json.broken").read_text() == "{broken"
    for name in ("config.json:1", "config.toml:1", "models.toml:1"):
        assert outcome.err.count(name) == 1
    assert "Nothing will run until this is corrected as well: " in outcome.out
    assert "Try it" not in outcome.out


HOST = "ollama/gemma3"


@pytest.mark.requirement("I-28")
@pytest.mark.usefixtures("ollama")
@pytest.mark.parametrize(
    "wrong",
    [
        {"max_budget": "huge"},
        {"budget": {"max_cost_usd": -1}},
        {"budget": 7},
        {"round2": "maybe"},
        {"preset": "nope"},
        {"host": 7},
        {"web": "sometimes"},
        {"search": "altavista"},
        {"fubar": 1},
        {"models": ["a", "b"]},
    ],
)
def test_whatever_the_reader_refuses_is_kept_aside_and_what_is_stored_can_be_used(
    desk: Desk, wrong: dict[str, Any]
) -> None:
    text = json.dumps({"version": 1, "language": "Suomi", **wrong})
    desk.config(text)
    refused = desk("Tea or coffee?", "--dry-run")
    outcome, config = setup(desk, "", "--yes")

    assert refused.code == 2
    assert outcome.code == 0, outcome.err
    assert (desk.home / "config.json.broken").read_text() == text
    assert f"is kept as {desk.home / 'config.json.broken'}" in outcome.out
    assert not wrong.keys() & config.keys() - {"models", "host", "round2", "web", "budget"}
    assert (config["host"], config["language"]) == (HOST, "auto")
    assert desk("Tea or coffee?", "--dry-run").code == 0


@pytest.mark.usefixtures("ollama")
def test_a_name_that_means_nothing_any_more_is_neither_suggested_nor_stored(desk: Desk) -> None:
    models = {"scholar": "ollama/qwen3", "engineer": "opuss", "muse": "ollama/gemma3"}
    desk.config(json.dumps({"procedure": "coucil", "host": "opuss", "models": models}))
    outcome, config = setup(desk, "", "--yes")

    assert outcome.code == 0, outcome.err
    assert (config["procedure"], config["host"]) == ("deliberation", HOST)
    assert config["models"]["scholar"] == "ollama/qwen3"
    assert "opuss" not in outcome.out + json.dumps(config)
    assert desk("Tea or coffee?", "--dry-run").code == 0


@pytest.mark.usefixtures("ollama")
def test_a_procedure_that_does_not_exist_is_asked_again(desk: Desk) -> None:
    before = NO_KEY + PRESET + ALWAYS + ENGLISH + LOGGED + "n\n"
    outcome, config = setup(desk, before + "coucil\nmeeting\n" + "\n" * 5)

    assert "Did you mean council?" in outcome.err
    assert config["procedure"] == "meeting"


@pytest.mark.requirement("I-28", "Z-35")
@pytest.mark.usefixtures("ollama")
@pytest.mark.parametrize("cost", [{}, {"max_cost_usd": 3.25}])
def test_limits_and_a_search_that_nobody_is_asked_for_stay(
    desk: Desk, cost: dict[str, float]
) -> None:
    limits = {**cost, "max_calls": 9, "max_tokens": 5_000, "max_seconds": 60.0}
    desk.config(json.dumps({"procedure": "council", "search": "tavily", "budget": limits}))
    alone, once = setup(desk, "", "--yes")
    _, again = setup(desk, "\n" * 14)
    typed = NO_KEY + PRESET + ALWAYS + ENGLISH + LOGGED + "n\n\n\nE\nn\n\n\n"
    declined, without = setup(desk, typed)

    kept = {"max_calls": 9, "max_tokens": 5_000, "max_time": 60.0}
    assert once["search"] == "tavily"
    assert once["budget"] == ({"max_cost": 3.25, **kept} if cost else kept)
    assert again == once
    limit = "limit: $3.25 for each discussion; 9 calls" if cost else "limit: 9 calls, 5,000 tokens"
    for word in (limit, "60 seconds, as before", "web search: tavily"):
        assert word in alone.out
    assert without["search"] == "none", declined.out
    assert without["budget"] == kept


@pytest.mark.parametrize(
    "stored",
    [
        {"models": {"scholar": "openai/gpt-5.5"}},
        {"models": dict.fromkeys(("scholar", "engineer", "muse"), "openai/gpt-5.5")},
        {"preset": "diverse"},
        {"preset": "single"},
        {"language": "de"},
    ],
)
def test_without_questions_nothing_is_stored_that_nobody_could_speak_for(
    desk: Desk, stored: dict[str, Any]
) -> None:
    desk.config(json.dumps(stored))
    outcome, config = setup(desk, "", "--yes")

    assert (outcome.code, config) == (2, stored)
    assert "No model can speak here yet." in outcome.err
    assert "others would" not in outcome.out


def test_a_key_of_another_vendor_is_told_as_what_was_typed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_no_variable(monkeypatch)
    key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz" * 3
    outcome, _ = setup(desk, f"A\nOpenAI\n{key}\nD\n" + "\n" * 8)

    assert "That is a key of Anthropic, not of OpenAI; it was not sent" in outcome.err
    assert "OPENAI_API_KEY" not in outcome.err
    assert not (desk.home / "keys.toml").exists()


@pytest.mark.usefixtures("ollama")
def test_what_a_newer_program_stored_is_not_written_over(desk: Desk) -> None:
    desk.config('{"version": 2, "moods": true}')

    outcome, config = setup(desk, "", "--yes")

    assert outcome.code == 2
    assert "newer Roundtable" in outcome.err
    assert config == {"version": 2, "moods": True}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.usefixtures("ollama")
def test_a_home_that_cannot_be_written_is_said_and_nothing_is_lost(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    desk.config('{"preset": "cheap"}')

    def refuse(path: Path, _: str) -> None:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(storing, "put_private", refuse)
    outcome, config = setup(desk, "", "--yes")

    assert outcome.code == 2
    assert os.strerror(code) in outcome.err
    assert "ROUNDTABLE_HOME" in outcome.err
    assert config == {"preset": "cheap"}


@pytest.mark.usefixtures("ollama")
def test_a_link_to_the_file_stays_one(desk: Desk) -> None:
    real = desk.workspace / "dotfiles.json"
    real.write_text("{}", "utf-8")
    desk.home.mkdir()
    (desk.home / "config.json").symlink_to(real)

    setup(desk, "", "--yes")

    assert (desk.home / "config.json").is_symlink()
    assert json.loads(real.read_text("utf-8"))["host"] == "ollama/gemma3"


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


@pytest.mark.parametrize(
    ("typed", "limit", "told"),
    [
        ("0\n", 0.0, "limit: $0 for each discussion: only free models can be used"),
        ("none\n", None, "limit: none"),
        ("\n", None, "limit: none"),
        ("1e-09\n1,000\n0.001\n1.5\n", 1.5, "limit: $1.50 for each discussion"),
        ("$0,75\n", 0.75, "limit: $0.75 for each discussion"),
    ],
)
@pytest.mark.usefixtures("ollama")
def test_nothing_may_be_spent_is_not_the_same_as_no_limit(
    desk: Desk, typed: str, limit: float | None, told: str
) -> None:
    before = NO_KEY + PRESET + ALWAYS + ENGLISH + LOGGED
    outcome, config = setup(desk, before + "n\n\n\nD\n" + typed + "\n\n" + STORE)

    assert config.get("budget", {}).get("max_cost") == limit
    assert told in outcome.out
    assert outcome.err.count("is not an amount") == typed.count("\n") - 1


@pytest.mark.parametrize(
    ("typed", "limit"), [("5", 5.0), ("$2", 2.0), ("cheap\n1,50", 1.5), ("0", 0.0), ("B", 2.0)]
)
@pytest.mark.usefixtures("ollama")
def test_an_amount_is_taken_where_amounts_are_offered_by_letter(
    desk: Desk, typed: str, limit: float
) -> None:
    before = NO_KEY + PRESET + ALWAYS + ENGLISH + LOGGED
    outcome, config = setup(desk, f"{before}n\n\n\n{typed}\n\n\n{STORE}")
    assert config["budget"]["max_cost"] == limit
    assert outcome.err.count("'cheap' is not an amount.") == typed.count("\n")


@pytest.mark.parametrize(("letter", "web"), [("A", None), ("B", True), ("C", False)])
@pytest.mark.usefixtures("ollama")
def test_what_the_page_does_is_stored_as_it_was_chosen(
    desk: Desk, letter: str, web: bool | None
) -> None:
    before = NO_KEY + PRESET + ALWAYS + ENGLISH + LOGGED
    _, config = setup(desk, f"{before}n\n\n\nE\n\n{letter}\n{STORE}")
    again, kept = setup(desk, "", "--yes")
    rows = {row["key"]: row for row in desk("config", "--origin", "--json").document}

    assert config["web"] is kept["web"] is web
    assert rows["web"]["value"] is web
    assert rows["web"]["origin"] == str(desk.home / "config.json")
    words = {
        "A": "page: automatically, if there is a screen",
        "C": "only when I ask for it (--web)",
    }
    assert words.get(letter, "without a screen it is only served") in again.out


@pytest.mark.parametrize("installed", [True, False])
def test_without_anybody_the_set_up_does_not_say_try_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    monkeypatch.setattr("roundtable.surfaces.cli.setup.embedded_installed", lambda: installed)
    outcome, _ = setup(desk, "D\n" + "\n" * 5)

    assert outcome.code == 0
    assert ("Try it:" in outcome.out) is installed
    assert ("pip install 'roundtable-council[demo]'" in outcome.out) is not installed


def test_a_server_that_is_not_there_is_said_with_where_it_was_looked_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    off, _ = setup(desk, "B\n\nD\n" + "\n" * 5)
    look_for_local_servers(monkeypatch)
    outcome, _ = setup(desk, "B\n\nD\n" + "\n" * 5)

    assert "are not looked for, because local_servers is off" in off.out
    assert f"No server with a model answered. Looked for Ollama at {NOBODY}" in outcome.out


def test_settings_are_shown_to_people_in_words(desk: Desk) -> None:
    shown = desk("config", "--origin").out

    assert "not set  (built in)" in shown
    assert "none  (built in)" in shown
    for written in (" null ", " [] ", " {} "):
        assert written not in shown


HOUSE_KEY = "house-key-0123456789"


def keyed_server(asked: Asked) -> Answer:
    """Lists its models to anybody, and lets in who has its key."""
    allowed = asked.headers.get("authorization") == f"Bearer {HOUSE_KEY}"
    return obedient(asked) if allowed else status(401, "Who are you?")


def at_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUNDTABLE_MODEL_LISTS", "true")
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.requirement("Z-39")
def test_a_key_for_somebodys_server_is_kept_with_its_address_and_goes_nowhere_else(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        provider_server(keyed_server, models=("house-a", "house-b")) as server,
        provider_server(models=("other-a", "other-b")) as other,
    ):
        at_no_variable(monkeypatch)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        entered, _ = setup(desk, f"A\nOpenAI\n{HOUSE_KEY}\n" + "\n" * 14)
        assert entered.code == 0, entered.out + entered.err
        assert "platform.openai.com" not in entered.out, "it is not OpenAI's key"
        assert f"OPENAI_API_KEY for {server.openai_url}" in entered.out
        kept = (desk.home / "keys.toml").read_text("utf-8")
        assert f'OPENAI_API_KEY = "{server.openai_url}"' in kept

        # Another shell, where nothing is set: the key is used where it belongs.
        monkeypatch.delenv("OPENAI_BASE_URL")
        before = len(server.requests)
        asked = desk("Tea or coffee?", "--quick", "--no-log", "--json")
        assert asked.code == 0, asked.err
        assert len(server.requests) > before
        origins = {row["key"]: row for row in desk("config", "--origin", "--json").document}
        assert origins["OPENAI_BASE_URL"]["value"] == server.openai_url

        # And where a variable names another server, it is not sent there.
        monkeypatch.setenv("OPENAI_BASE_URL", other.openai_url)
        elsewhere = desk("Tea or coffee?", "--quick", "--no-log", "--json")
        told = f"was entered for {server.openai_url}, so it is not sent to {other.openai_url}."
        assert told in elsewhere.err
        assert told in desk("doctor").out
        sent = [received.headers.get("authorization", "") for received in other.requests]
        assert sent
        assert not any(HOUSE_KEY in each for each in sent)


@pytest.mark.requirement("Z-36")
def test_a_server_is_set_up_by_its_address_and_asks_for_its_key_only_if_it_wants_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        provider_server(keyed_server, models=("house-a", "house-b")) as locked,
        provider_server(obedient, models=("open-a", "open-b")) as free,
    ):
        at_no_variable(monkeypatch)
        # Most people leave out /v1.
        typed = f"C\nnot an address?\n{locked.base_url}\n{HOUSE_KEY}\n" + "\n" * 12
        outcome, config = setup(desk, typed)
        assert outcome.code == 0, outcome.out + outcome.err
        assert "That is not the address" in outcome.err
        assert set(config["models"].values()) <= {"openai/house-a", "openai/house-b"}
        assert HOUSE_KEY not in outcome.out + outcome.err
        assert desk("Tea or coffee?", "--quick", "--no-log").code == 0

        changed, _ = setup(desk, f"y\nof another server\n{free.openai_url}\n" + "\n" * 12)
        assert changed.code == 0, changed.out + changed.err
        assert f"server: {free.openai_url}, without a key" in changed.out
        assert HOUSE_KEY not in (desk.home / "keys.toml").read_text("utf-8")
        assert desk("Tea or coffee?", "--quick", "--no-log").code == 0
        assert not any(HOUSE_KEY in str(each.headers) for each in free.requests)


def test_who_goes_back_before_the_models_takes_back_the_server_that_was_entered(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        provider_server(obedient, models=("wrong-a",)) as wrong,
        provider_server(obedient, models=("right-a",)) as right,
    ):
        at_no_variable(monkeypatch)
        # One step back from the models, then one more; back counts where an address is typed, too.
        revised = f"C\n{wrong.openai_url}\n{NO_KEY}back\nback\nC\nback\nC\n{right.openai_url}\n"
        outcome, config = setup(desk, revised + "\n" * 12)
    assert outcome.code == 0, outcome.out + outcome.err
    assert f"Taken back: the server {wrong.openai_url}." in outcome.out
    assert "not one of the options" not in outcome.err
    assert "first question" not in outcome.err
    assert set(config["models"].values()) == {"openai/right-a"}
    assert wrong.openai_url not in (desk.home / "keys.toml").read_text("utf-8")


def test_a_server_that_lists_and_lets_nobody_in_is_not_said_to_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(lambda _: status(401, "Bad key."), models=("a", "b")) as server:
        at_no_variable(monkeypatch)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "house-key-wrong")
        outcome, _ = setup(desk, "D\n" + "\n" * 6)
    assert "✓ The server" not in outcome.out
    assert "did not let us in (401)" in outcome.out


@pytest.mark.requirement("Z-36", "Z-39")
def test_models_that_were_just_found_missing_are_neither_suggested_nor_stored(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(asked: Asked) -> Answer:
        gone = asked.model.startswith("ghost")
        return status(404, f"The model {asked.model} does not exist.") if gone else obedient(asked)

    at_no_variable(monkeypatch)
    monkeypatch.setenv("OPENAI_API_KEY", HOUSE_KEY)
    ghosts = ("ghost-1", "ghost-2", "ghost-3", "ghost-4")
    with provider_server(reply, models=ghosts) as nothing:
        monkeypatch.setenv("OPENAI_BASE_URL", nothing.openai_url)
        outcome, config = setup(desk, "", "--yes")
        assert (outcome.code, config) == (2, None), outcome.out + outcome.err
        assert "openai/ghost-1 does not exist there" in outcome.out
        assert outcome.out.count(nothing.openai_url.removeprefix("http://")[:-3]) == 1
        assert "Stored in" not in outcome.out
    with provider_server(reply, models=(*ghosts, "real-1", "real-2")) as some:
        monkeypatch.setenv("OPENAI_BASE_URL", some.openai_url)
        outcome, config = setup(desk, "", "--yes")
        assert outcome.code == 0, outcome.out + outcome.err
        assert {*config["models"].values(), config["host"]} == {"openai/real-1", "openai/real-2"}


@pytest.mark.usefixtures("ollama")
def test_a_seat_is_not_suggested_a_model_that_was_given_to_another(desk: Desk) -> None:
    _, config = setup(desk, NO_KEY + "B\nollama/qwen3\n\n\n" + "\n" * 6)
    assert len(set(config["models"].values())) == 3


def test_more_models_than_are_shown_are_counted_and_can_be_written() -> None:
    names = tuple(f"house/m-{n}" for n in range(300))
    wizard = Wizard(Registry.load().resolve, models=names).answer("A")
    assert wizard.question is not None
    assert "any of 292 more" in wizard.question.text
    assert len(wizard.question.options) == 8


def test_a_server_of_this_machine_without_models_is_told_what_to_do(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(lists=lambda *_: {"models": []}) as server:
        look_for_local_servers(monkeypatch, OLLAMA_HOST=server.base_url)
        told, _ = setup(desk, "D\n" + "\n" * 6)
        models = desk("models").out
        asked = desk("Tea?", "--quick", "--no-log")
    assert "ollama pull llama3.2" in told.out
    assert "lists no chat model. Pull one" in models
    assert "Install Ollama" not in models
    assert "LM Studio at http://127.0.0.1:9/v1 does not answer" in models
    assert (asked.code, "ollama pull" in asked.err) == (2, True), "no demonstration in its place"


@pytest.mark.requirement("Z-35")
@pytest.mark.usefixtures("ollama")
def test_what_another_file_overrides_is_said_with_its_line(desk: Desk) -> None:
    desk.config(json.dumps({"log_path": "my/logs", "language": "fr", "log_sessions": True}))
    path = desk.home / "config.toml"
    path.write_text('language = "de"\n[budget]\nmax_cost = 0.5\n', encoding="utf-8")
    asked, _ = setup(desk, "\n" * 14)
    outcome, stored = setup(desk, "", "--yes")
    told = " ".join(outcome.out.split())
    assert f"language ({path}:1)" in " ".join(asked.out.split())
    assert f"language: will have no effect, because {path}:1 overrides it" in told
    assert f"limit: $0.5 at most, because of {path}:3; the lowest limit applies" in told
    assert "log_path: my/logs, as before; it is ignored" in told
    assert "Some of these settings have no effect" in told
    assert stored["log_path"] == "my/logs"
    shown = next(line for line in desk("config", "--origin").out.splitlines() if "log_path" in line)
    assert "ignored: a council's log goes to memory/roundtable/ only" in shown


@pytest.mark.usefixtures("ollama")
def test_an_open_seat_gets_a_model_that_nobody_has(desk: Desk) -> None:
    here = [f"ollama/{name}" for name in HERE[:4]]
    seats = {"scholar": here[0], "engineer": here[1]}
    desk.config(json.dumps({"models": seats, "host": here[2], "procedure": "council"}))
    _, stored = setup(desk, "", "--yes")
    assert stored["models"]["muse"] not in here[:3]


@pytest.mark.usefixtures("ollama")
def test_a_folder_in_place_of_the_file_leaves_nothing_beside_it(desk: Desk) -> None:
    (desk.home / "config.json").mkdir(mode=0o700, parents=True)
    outcome, _ = setup(desk, "", "--yes")
    assert outcome.code == 2
    assert not list(desk.home.glob("config.json.*"))


def test_a_server_that_a_variable_names_is_said_to_hang_on_it(desk: Desk, ollama: str) -> None:
    told, stored = setup(desk, "", "--yes")

    assert told.code == 0, told.err
    assert f"server: {ollama}/v1, taken from OLLAMA_HOST; the address is not stored" in told.out
    assert ollama not in json.dumps(stored)
