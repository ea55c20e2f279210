"""Command-line agents at the table: found, named, seated, paid by nobody but their user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.speakers.agents import claude_lines, on_path, put_agent, speaks
from tests.trusted import trust_project

from .desk import Desk

pytestmark = [
    pytest.mark.requirement("Z-18"),
    pytest.mark.skipif(os.name == "nt", reason="the agents of these tests are POSIX scripts"),
]
ECHOES = ("--engineer=scripted/echo", "--muse=scripted/echo")
ANSWER = """## Analysis
A long look at both shows that waiting is cheaper.

## Position
Wait.

## Confidence
high

## Dissent
none"""


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH, and nothing else of the machine's own agents."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", on_path(folder)["PATH"])
    monkeypatch.delenv("ROUNDTABLE_COMMAND_AGENTS")
    return folder


def settings(desk: Desk, text: str) -> None:
    desk.home.mkdir(exist_ok=True)
    (desk.home / "config.toml").write_text(text, "utf-8")


@pytest.mark.requirement("I-01")
@pytest.mark.parametrize(
    ("procedure", "seats"),
    [
        ("council", ["--quick", "--scholar=cmd/claude", *ECHOES]),
        ("deliberation", ["--models=cmd/claude,scripted/echo,scripted/stubborn"]),
        ("meeting", ["--model=cmd/claude", "--max-rounds=1"]),
        ("five-round", ["--model=cmd/claude"]),
        ("adaptive", ["--panel=cmd/claude,scripted/echo", "--no-search"]),
    ],
)
def test_an_agent_can_hold_a_seat_in_every_procedure(
    desk: Desk, agents: Path, procedure: str, seats: list[str]
) -> None:
    put_agent(agents, "claude", speaks(claude_lines(ANSWER)))
    how = (f"--procedure={procedure}", "--model=scripted/echo", *seats)

    outcome = desk("Tea or coffee?", *how, "--json", "--no-log", "--quiet")

    document = outcome.document
    assert "cmd/claude" in {each["model"] for each in document["participants"]}
    spoken = [each for each in document["speeches"] if each.get("model") == "cmd/claude"]
    assert spoken
    assert document["usage"]["cost_usd"] == 0


def test_models_lists_the_agents_that_are_here_and_chooses_none_by_itself(
    desk: Desk, agents: Path
) -> None:
    put_agent(agents, "codex", "")
    put_agent(agents, "mine", "")
    settings(desk, '[commands.mine]\ncommand = ["mine"]\n')

    document = desk("models", "--json").document
    words = desk("models").out

    [found] = [each for each in document["found"] if each["provider"] == "cmd"]
    assert {"cmd/codex", "cmd/mine"} <= set(found["models"])
    assert document["default_model"] == "local/smollm2-135m"
    assert "Command-line agents (on PATH, on your subscription; used only if named)" in words


def test_its_cost_is_shown_as_the_users_subscription(desk: Desk, agents: Path) -> None:
    put_agent(agents, "claude", speaks(claude_lines(ANSWER)))

    outcome = desk("Tea?", "--quick", "--all=cmd/claude", "--model=scripted/echo", "--no-log")
    report = desk("show", desk.last_id()).out

    assert "your subscription" in outcome.err
    assert "unknown" not in outcome.err
    assert "your subscription" in report


def test_an_agent_that_is_not_here_is_replaced_and_said(
    desk: Desk, agents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(agents))
    settings(desk, 'default_model = "scripted/echo"')

    outcome = desk("Tea?", "--quick", "--all=cmd/codex", "--no-log", "--json")

    [note, *_] = [each for each in outcome.document["notes"] if "cmd/codex" in each["text"]]
    assert "scripted/echo speaks in place of cmd/codex" in note["text"]
    assert "Install the program" in note["remedy"]


def test_an_unknown_agent_is_refused_with_the_known_ones(desk: Desk) -> None:
    outcome = desk("Tea?", "--quick", "--all=cmd/cloude")

    assert outcome.code == 2
    assert "Unknown command-line agent 'cmd/cloude'" in outcome.err
    assert "cmd/claude" in outcome.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[commands.mine]\n", "commands.mine.command: expected"),
        ('[commands.mine]\ncommand = "a"\noutput = "json"', "commands.mine: expected a path"),
        ('[commands.mine]\ncommand = "a"\nprompt = "file"', "{prompt_file} among the arguments"),
        ('[commands.mine]\ncommand = ["a", "{prompt}"]', "placeholders"),
        ('[commands.mine]\ncommand = "a"\ntimeout = 0', "commands.mine.timeout: expected"),
        ('[commands."no good"]\ncommand = "a"', "commands: expected names of small letters"),
        ('[commands.claude]\nshell = "yes"', "commands.claude.shell"),
    ],
)
def test_a_mistake_in_the_settings_of_an_agent_is_pointed_at(
    desk: Desk, text: str, words: str
) -> None:
    settings(desk, text)

    outcome = desk("models")

    assert outcome.code == 2
    assert words in outcome.err


def test_a_project_cannot_bring_commands_along(desk: Desk) -> None:
    (desk.workspace / "roundtable.toml").write_text('[commands.mine]\ncommand = "rm"\n')
    trust_project(desk.home, desk.workspace)

    outcome = desk("models")

    assert outcome.code == 2
    assert "commands" in outcome.err


def test_a_built_in_agent_can_be_changed_in_one_point(desk: Desk, agents: Path) -> None:
    put_agent(agents, "claude", f"{speaks(claude_lines(ANSWER))} if 'PASS' in os.environ else 0")
    settings(desk, '[commands.claude]\nset_env = {PASS = "1"}\n')

    outcome = desk("Tea?", "--quick", "--all=cmd/claude:opus", "--model=scripted/echo", "--no-log")

    assert outcome.code == 0, outcome.err
