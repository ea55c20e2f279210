"""The doctor: every broken set-up named, with what to do; nothing shown that is secret."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from roundtable.ledger.sqlite_file import APPLICATION_ID
from roundtable.surfaces.python import Roundtable
from tests.servers import TEST_KEY, provider_server, status
from tests.speakers.agents import put_agent
from tests.trusted import trust_project

from .desk import Desk, Outcome


@pytest.fixture(autouse=True)
def _own_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No skill, database or key of the machine's real user is looked at."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user" / "share"))
    monkeypatch.setenv("ROUNDTABLE_WEB_PORT", "0")
    for name in ("CLAUDE_CONFIG_DIR", "OPENCLAW_STATE_DIR", "HERMES_HOME", "BLOCKRUN_PROXY_URL"):
        monkeypatch.delenv(name, raising=False)


def settings(desk: Desk, text: str, name: str = "config.toml") -> None:
    desk.home.mkdir(exist_ok=True)
    (desk.home / name).write_text(text, "utf-8")


def broken(outcome: Outcome) -> list[dict[str, Any]]:
    return [each for each in outcome.document["findings"] if each["state"] == "broken"]


def only(outcome: Outcome, area: str) -> dict[str, Any]:
    """The one thing that is broken."""
    [found] = broken(outcome)
    assert found["area"] == area
    assert found["remedy"]
    assert outcome.code == 1
    assert outcome.document["healthy"] is False
    return found


@pytest.mark.requirement("I-04", "D-99")
def test_a_fresh_machine_is_healthy_and_told_what_more_could_be_had(desk: Desk) -> None:
    outcome = desk("doctor", "--json")

    assert outcome.code == 0, outcome.out
    assert outcome.document["healthy"]
    areas = {each["area"] for each in outcome.document["findings"]}
    assert {"settings", "models", "embedded", "database", "page", "tools", "channels", "search",
            "run"} <= areas  # fmt: skip
    assert "You need at least one of these" in desk("doctor").out


@pytest.mark.requirement("A-21", "C-77")
def test_without_a_proxy_the_steps_to_one_are_printed_with_the_expected_cost(desk: Desk) -> None:
    words = desk("doctor").out

    assert "@blockrun/clawrouter" in words
    assert "gateway restart" in words
    assert "USDC on Base" in words
    assert "$5–10" in words
    assert "address of a wallet" in words
    assert "Expected for one run with a panel of four: $" in words


@pytest.mark.requirement("A-21")
def test_whoever_has_a_wrong_key_reads_of_that_at_the_end_and_of_a_proxy_where_it_is(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROUNDTABLE_MODEL_LISTS", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    refusal = status(401, "Incorrect API key provided.")
    with provider_server(lambda _: refusal, lists=lambda *_: refusal) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        outcome = desk("doctor", "--reach")
        asked = desk("doctor", "--proxy").out

    assert outcome.code == 1
    assert "roundtable doctor --proxy" in outcome.out
    assert "wallet" not in outcome.out
    end = outcome.out.rpartition("Broken: providers.")[2]
    assert "OPENAI_API_KEY" in end, outcome.out
    assert "@blockrun/clawrouter" in asked
    assert "USDC on Base" in asked


@pytest.mark.requirement("A-21")
def test_with_a_proxy_no_steps_are_printed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOCKRUN_PROXY_URL", "http://localhost:8402")

    assert desk("doctor", "--json").document["full_set_up"] == []


BROKEN_FILES = [
    ("settings", "config.toml", "lanuage = 1", "lanuage"),
    ("settings", "config.json", "{", "config.json"),
    ("settings", "panels.json", "[]", "panels.json"),
    ("models", "models.toml", '[aliases]\ntea = "no-slash"', "models.toml: aliases.tea"),
    ("routing", "local_models.json", "[]", "local_models.json"),
    ("experts", "experts/mine.toml", "x = 1", "mine.toml"),
    ("procedures", "procedures/mine.toml", "x = 1", "mine.toml"),
]


@pytest.mark.requirement("I-04")
@pytest.mark.parametrize(("area", "name", "text", "words"), BROKEN_FILES)
def test_a_broken_file_is_named_and_the_rest_is_examined(
    desk: Desk, area: str, name: str, text: str, words: str
) -> None:
    (desk.home / name).parent.mkdir(parents=True, exist_ok=True)
    settings(desk, text, name)

    outcome = desk("doctor", "--json")

    assert words in only(outcome, area)["text"]
    assert "database" in {each["area"] for each in outcome.document["findings"]}


@pytest.mark.requirement("I-04")
def test_a_default_model_that_cannot_be_used_is_named(desk: Desk) -> None:
    settings(desk, 'default_model = "opus"')

    found = only(desk("doctor", "--json"), "models")

    assert "anthropic/claude-opus-4-6" in found["text"]
    assert "ANTHROPIC_API_KEY" in found["remedy"]


@pytest.mark.requirement("I-04", "I-20")
def test_credentials_are_found_by_their_variable_and_never_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", '"my key"')

    outcome = desk("doctor", "--json")

    assert "ANTHROPIC_API_KEY" in only(outcome, "credentials")["text"]
    assert "OpenAI: OPENAI_API_KEY" in outcome.out
    assert TEST_KEY not in outcome.out + desk("doctor").out
    assert "my key" not in outcome.out


@pytest.mark.requirement("I-04")
def test_providers_are_called_only_when_asked_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    assert desk("doctor").code == 0
    outcome = desk("doctor", "--reach", "--json")

    assert "does not answer" in only(outcome, "providers")["text"]


@pytest.mark.requirement("I-04")
def test_a_provider_that_answers_is_told_from_one_that_refuses(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(models=["m"]) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        outcome = desk("doctor", "--reach", "--json")
    findings = [each for each in outcome.document["findings"] if each["area"] == "providers"]

    assert findings
    assert {each["state"] for each in findings} <= {"ok", "broken"}
    assert any("works: openai/m answered in" in each["text"] for each in findings)


def test_an_agent_of_the_users_own_that_is_not_there_is_broken(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROUNDTABLE_COMMAND_AGENTS")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    put_agent(tmp_path / "bin", "claude", "")
    settings(desk, '[commands.mine]\ncommand = ["no-such-program"]')

    outcome = desk("doctor", "--json")

    assert "no-such-program" in only(outcome, "agents")["text"]
    assert "cmd/claude, on your own subscription" in outcome.out
    assert "cmd/codex is not installed." in outcome.out


def test_damaged_weights_are_named(desk: Desk) -> None:
    path = desk.home / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not weights")

    assert "damaged" in only(desk("doctor", "--json"), "embedded")["text"]


def other_program(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (x)")
    database.close()


def from_the_future(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute("PRAGMA user_version = 999")
        database.execute("CREATE TABLE discussions (x)")
    database.close()


@pytest.mark.requirement("I-04")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (other_program, "another program"),
        (from_the_future, "schema version 999"),
        (lambda path: path.write_bytes(b"no database at all" * 99), "is not a SQLite database"),
        (lambda path: path.mkdir(), "not a file"),
    ],
)
def test_a_database_that_cannot_be_used_is_named(desk: Desk, make: Any, words: str) -> None:
    desk.home.mkdir()
    make(desk.home / "roundtable.db")

    found = only(desk("doctor", "--json"), "database")
    assert words in found["text"]
    assert "Move" not in found["remedy"], "it may be somebody's only copy"


@pytest.mark.requirement("I-04")
@pytest.mark.parametrize("left", ["roundtable.db.rescue/rt_00000001.jsonl", "roundtable.db-wal"])
def test_a_database_that_is_gone_from_beside_what_belongs_to_it_is_named_as_by_other_commands(
    desk: Desk, left: str
) -> None:
    (desk.home / left).parent.mkdir(parents=True)
    (desk.home / left).write_text("{}\n")

    outcome = desk("doctor", "--json")
    listed = desk("list")

    assert (outcome.code, listed.code) == (1, 2)
    found = only(outcome, "database")
    assert f"{desk.home / 'roundtable.db'} is gone, but " in found["text"]
    assert found["text"] in listed.err
    assert found["remedy"] in listed.err


@pytest.mark.requirement("I-04")
def test_a_damaged_database_is_named_and_left_as_it_is(desk: Desk) -> None:
    desk.ask()
    path = desk.home / "roundtable.db"
    data = bytearray(path.read_bytes())
    for page in range(4096, len(data) - 4096, 4096):
        data[page : page + 64] = b"\xff" * 64
    path.write_bytes(data)

    outcome = desk("doctor", "--json")

    assert str(path) in only(outcome, "database")["text"]
    assert path.read_bytes() == data


def test_a_database_server_that_does_not_answer_is_named_without_its_password(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_DB", "postgresql://me:hunter2secret@127.0.0.1:9/x")

    outcome = desk("doctor", "--json")

    only(outcome, "database")
    assert "hunter2secret" not in outcome.out


def test_a_pooler_before_the_database_is_told_with_what_to_do(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, postgres_url: str, pgbouncer_url: str
) -> None:
    monkeypatch.setenv("ROUNDTABLE_DB", pgbouncer_url)

    found = desk("doctor", "--json").document["findings"]
    (database,) = (each for each in found if each["area"] == "database")
    assert database["state"] == "doubtful"
    assert "ROUNDTABLE_DB_LISTEN" in database["remedy"]

    monkeypatch.setenv("ROUNDTABLE_DB_LISTEN", postgres_url)
    found = desk("doctor", "--json").document["findings"]
    assert "ok" in [each["state"] for each in found if each["area"] == "database"]


@pytest.mark.requirement("D-86")
def test_databases_in_other_usual_places_are_reported_as_strays(desk: Desk, tmp_path: Path) -> None:
    desk.ask()
    used = desk.home / "roundtable.db"
    stray = tmp_path / "user" / ".roundtable" / "roundtable.db"
    stray.parent.mkdir(parents=True)
    stray.write_bytes(used.read_bytes())
    other_program(desk.workspace / "roundtable.db")

    outcome = desk("doctor", "--json")

    doubtful = [each for each in outcome.document["findings"] if each["state"] == "doubtful"]
    assert [str(stray) in each["text"] for each in doubtful] == [True]
    assert outcome.code == 0


@pytest.mark.requirement("D-86")
def test_commands_python_and_tools_find_the_same_database(desk: Desk) -> None:
    desk.ask()
    discussion_id = desk.last_id()

    async def from_python() -> list[str]:
        async with Roundtable() as table:
            return [row.discussion_id for row in await table.discussions()]

    assert asyncio.run(from_python()) == [discussion_id]
    assert discussion_id in desk.command("list", "--json").out
    assert discussion_id in desk.command("tool", "list").out
    assert str(desk.home / "roundtable.db") in desk("doctor").out


@pytest.mark.requirement("D-90")
def test_a_profile_that_cannot_reach_its_tools_is_named_with_the_reason(desk: Desk) -> None:
    settings(desk, "[profiles.dev]\ntoolsets = []")

    assert "No toolset is enabled for 'dev'" in only(desk("doctor", "--json"), "tools")["text"]


@pytest.mark.requirement("I-04")
def test_a_channel_that_cannot_send_is_named(desk: Desk) -> None:
    settings(desk, '[news]\nchannels = ["nowhere"]')

    assert "nowhere" in only(desk("doctor", "--json"), "channels")["text"]


@pytest.mark.requirement("I-04")
def test_a_search_without_its_key_is_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUNDTABLE_SEARCH", "tavily")

    assert "TAVILY_API_KEY" in only(desk("doctor", "--json"), "search")["remedy"]


def test_an_older_skill_and_a_stray_configuration_are_doubtful(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "user" / ".claude").mkdir(parents=True)
    assert "claude-code has no skill" in desk("doctor").out
    desk("skill", "install")
    folder = tmp_path / "user" / ".claude" / "skills" / "roundtable"
    (folder / "SKILL.md").write_text("older")
    (folder / "config.json").write_text("{}")

    words = desk("doctor").out

    assert "is of another version" in words
    assert "is not read" in words


@pytest.mark.requirement("X-23")
def test_each_value_is_shown_with_the_file_or_variable_it_comes_from(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_LANGUAGE", "de")
    settings(desk, 'language = "en"\nconcurrency = 3\n[budget]\nmax_calls = 9\n'
             '[channels]\nteam = "slack://top/secret/token"')  # fmt: skip
    settings(desk, '{"preset": "cheap"}', "config.json")
    settings(desk, '{"engineering": "opus"}', "local_models.json")
    (desk.workspace / "roundtable.toml").write_text("[budget]\nmax_cost_usd = 1.5\n")
    trust_project(desk.home, desk.workspace)

    rows = {each["key"]: each for each in desk("config", "show", "--origin", "--json").document}
    words = desk("config", "show", "--origin").out

    toml = str(desk.home / "config.toml")
    assert (rows["language"]["value"], rows["language"]["origin"]) == ("de", "ROUNDTABLE_LANGUAGE")
    assert (rows["concurrency"]["value"], rows["concurrency"]["origin"]) == (3, toml)
    assert rows["budget.max_calls"]["origin"] == toml
    assert rows["budget.max_cost"]["origin"] == "roundtable.toml"
    assert rows["council.preset"]["origin"] == str(desk.home / "config.json")
    assert rows["search"]["origin"] == "ROUNDTABLE_SEARCH"
    assert rows["default_model"]["origin"] == "built in"
    assert rows["models from"]["origin"] == str(desk.home / "local_models.json")
    assert rows["home"]["origin"] == "ROUNDTABLE_HOME"
    assert rows["channels.team"]["value"] == "(set)"
    assert "secret" not in words.replace("secrets ", "")  # a setting has this name
    assert f"3  ({toml}:2)" in words
    assert rows["budget.max_calls"]["line"] == 4


def test_config_says_how_it_is_used(desk: Desk) -> None:
    assert desk("config", "shwo").code == 2
