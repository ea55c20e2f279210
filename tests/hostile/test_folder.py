"""Nothing of the folder in which Roundtable is asked is ever executed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from roundtable.documents.gather import gather
from roundtable.surfaces.cli.app import cli
from roundtable.surfaces.web.found import STATE_FILE
from tests.speakers.agents import claude_lines, put_agent, speaks
from tests.surfaces.desk import QUICK, SOURCES
from tests.surfaces.test_command_agents import ANSWER

from .traps import Traps

pytestmark = [
    pytest.mark.requirement("Z-39"),
    pytest.mark.skipif(os.name == "nt", reason="the programs of these tests are POSIX scripts"),
]
COMMANDS: dict[str, tuple[str, ...]] = {
    "ask": ("ask", "Tea or coffee?", *QUICK),
    "resume": ("resume",),
    "list": ("list",),
    "show": ("show", "rt_00000000"),
    "export": ("export", "rt_00000000", "--format", "html"),
    "verify": ("verify", "nothing.roundtable"),
    "stop": ("stop", "rt_00000000"),
    "speak": ("speak", "rt_00000000", "words"),
    "pause": ("pause", "rt_00000000"),
    "skip": ("skip", "rt_00000000", "somebody"),
    "add": ("add", "rt_00000000", "pyproject.toml"),
    "extend": ("extend", "rt_00000000", "2"),
    "worker": ("worker",),
    "fleet": ("fleet",),
    "schedule": ("schedule", "list"),
    "archive": ("archive", "--older-than", "1d", "--to", "away"),
    "partition": ("partition",),
    "invite": ("invite", "rt_00000000", "somebody"),
    "dismiss": ("dismiss", "rt_00000000", "somebody"),
    "advance": ("advance", "rt_00000000"),
    "outcome": ("outcome", "rt_00000000", "good"),
    "vote": ("vote", "rt_00000000", "--as", "somebody"),
    "conclude": ("conclude", "rt_00000000", "-"),
    "leave": ("leave", "rt_00000000", "--as", "somebody"),
    "demo": ("demo",),
    "chat": ("chat",),
    "tasks": ("tasks", "rt_00000000", "--board", "none"),
    "notify": ("notify", "pump"),
    "delete": ("delete", "rt_00000000", "--yes"),
    "models": ("models",),
    "experts": ("experts", "--for", "Should we move to the cloud?"),
    "procedures": ("procedures",),
    "setup": ("setup",),
    "config": ("config", "show", "--origin"),
    "answer": ("answer", "rt_00000000", "yes"),
    "compare": ("compare", "rt_00000000", "rt_00000001"),
    "examples": ("examples",),
    "follow-up": ("follow-up", "rt_00000000", "And then?"),
    "doctor": ("doctor",),
    "privacy": ("privacy",),
    "purge": ("purge", "--yes"),
    "skill": ("skill", "publish"),
    "serve": ("serve", "--status"),
    "mcp": ("mcp", "--no-web"),
    "tool": ("tool", "list"),
    "trust": ("trust", "--list"),
    "tokens": ("tokens", "add", "somebody"),
    "help": ("help",),
    "completion": ("completion", "bash"),
}
"""One line for each command; standard input is at its end."""


@pytest.fixture
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Traps]:
    monkeypatch.delenv("ROUNDTABLE_COMMAND_AGENTS")
    traps = Traps(tmp_path)
    yield traps
    # The demonstration and a tool that asks serve the page, too.
    traps.stop_pages(STATE_FILE)


def test_every_command_is_driven() -> None:
    assert set(COMMANDS) >= set(cli.commands)


def test_the_traps_work(traps: Traps) -> None:
    traps.started([sys.executable, "-c", "import click, json"])
    traps.started([str(traps.folder / "git")])
    assert {"click.py", "git"} <= set(traps.sprung)


def test_no_command_executes_anything_of_the_folder(traps: Traps) -> None:
    names = sorted(set(COMMANDS) & set(cli.commands))

    done = traps.run_each({name: COMMANDS[name] for name in names})

    assert {name: each.err for name, each in done.items() if "Traceback" in each.err} == {}
    assert traps.sprung == []


@pytest.mark.parametrize("line", [("list",), ("ask", "Tea or coffee?", *QUICK)])
def test_python_m_imports_nothing_of_the_folder(traps: Traps, line: tuple[str, ...]) -> None:
    """Python itself imports `roundtable` from the current folder, if there is one, before it asks
    anybody; nothing else of it is imported."""
    (traps.folder / "roundtable" / "__init__.py").unlink()

    done = traps.started([sys.executable, "-m", "roundtable", *line])

    assert done.code == 0, done.err
    assert traps.sprung == []


def test_env_files_and_others_settings_are_not_read(traps: Traps) -> None:
    rows = {row["key"]: row for row in traps.run("config", "--json").document}
    found = traps.run("models", "--json").document["found"]

    assert rows["default_model"]["value"] is None
    assert rows["procedure"]["origin"] == "built in"
    assert not {each["provider"] for each in found} & {"openai", "cmd"}


def test_the_page_is_served_without_the_folder(traps: Traps) -> None:
    browser = traps.home.parent / "browser"
    shown = traps.run("Tea or coffee?", *QUICK, "--web", DISPLAY=":0", BROWSER=str(browser))
    try:
        assert shown.code == 0, shown.err
        assert "http://" in shown.err
        assert "http://" in traps.run("serve", "--status").out
    finally:
        assert traps.run("serve", "--stop").code == 0
    try:
        begun = traps.run("serve", "--detached", "--no-browser", "--port", "0")
        assert begun.code == 0, begun.err
    finally:
        traps.run("serve", "--stop")
    assert traps.sprung == []


def test_a_tool_call_goes_on_without_the_folder(traps: Traps) -> None:
    asked = {"question": "Tea or coffee?", "procedure": "council"}
    options = {"all": "scripted/echo", "quick": True}

    begun = traps.run("tool", "ask", json.dumps({**asked, "options": options}))

    assert begun.code == 0, begun.err
    waited = {"discussion_id": begun.document["discussion_id"], "wait": 60}
    ended = traps.run("tool", "collect", json.dumps(waited))
    assert ended.document["done"], ended
    assert traps.sprung == []


def test_an_mcp_client_is_served_without_the_folder(traps: Traps) -> None:
    from mcp import Client, StdioServerParameters

    from tests.surfaces.mcp.clients import called

    async def main() -> None:
        program, *arguments = traps.arguments("mcp")
        server = StdioServerParameters(
            command=program, args=arguments, env=traps.env(), cwd=traps.folder
        )
        async with Client(server) as client:
            await called(client, "list")

    asyncio.run(main())
    assert traps.sprung == []


def test_an_agent_is_found_outside_the_folder_only(traps: Traps, tmp_path: Path) -> None:
    agent = put_agent(tmp_path / "real", "claude", speaks(claude_lines(ANSWER)))
    # Its interpreter is looked for on PATH once more, by `env`.
    agent.write_text(re.sub(r"\A#!.*\n", "#!/usr/bin/env python3\n", agent.read_text("utf-8")))
    path = traps.env()["PATH"].replace(os.environ["PATH"], f"{agent.parent}:{os.environ['PATH']}")

    done = traps.run("Tea?", "--quick", "--all=cmd/claude", "--no-log", "--json", PATH=path)

    assert {each["model"] for each in done.document["speeches"]} >= {"cmd/claude"}
    assert traps.sprung == []


def test_an_agent_that_only_the_folder_has_is_not_installed(traps: Traps) -> None:
    done = traps.run("Tea?", "--quick", "--all=cmd/codex", "--model=scripted/echo", "--no-log")

    assert "scripted/echo speaks in place of cmd/codex" in done.err
    assert traps.sprung == []


@pytest.mark.parametrize("command", ["mine", "./mine", "hostile/mine"])
def test_channels_boards_and_browsers_are_not_taken_from_the_folder(
    traps: Traps, command: str
) -> None:
    lines = {
        "channel": ("notify", "test", "team"),
        "asked": ("Tea?", *QUICK, "--notify", "team", "--task", "ours:1"),
        "doctor": ("doctor",),
    }
    for name in lines:
        (home := traps.home_of(name)).mkdir()
        (home / "config.toml").write_text(
            f'browser = "{command}"\n'
            f'[channels.team]\ncommand = ["{command}"]\n'
            f'[boards.ours]\nkind = "command"\ncommand = ["{command}"]\n',
            "utf-8",
        )

    done = traps.run_each(lines)["asked"]

    assert "ours" in done.err or "mine" in done.err
    assert traps.sprung == []


def test_a_repository_is_read_and_none_of_the_programs_that_it_names_is_run(
    traps: Traps, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    trap = str(traps.folder / "mine")
    lines = ("core.fsmonitor", "core.sshCommand", "core.pager", "filter.a.clean", "alias.ls-files")
    settings = [each for name in lines for each in ("--add", name, trap)]
    traps.started([git, "init", "-q"])
    for at in range(0, len(settings), 3):
        traps.started([git, "config", *settings[at : at + 3]])
    (traps.folder / ".gitignore").write_text("*.py\n*.log\n", "utf-8")
    (traps.folder / "kept.log").write_text("kept", "utf-8")
    traps.started([git, "-c", "core.fsmonitor=false", "add", "-f", "kept.log"])
    assert traps.sprung == []
    for name, value in traps.env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(traps.folder)

    found = gather(["."])

    assert "./kept.log" in {each.source for each in found.materials}
    assert "ignored by git" in found.lines[-1]
    assert traps.sprung == []
    traps.started([git, "status"])
    assert "mine" in traps.sprung, "the trap works"


def test_processes_are_started_in_one_place() -> None:
    starts = re.compile(
        r"\b(?:subprocess\.(?:run|Popen|call|check_\w+)\(|create_subprocess_\w+|subprocess_exec"
        r"|subprocess_shell|which\(|os\.(?:exec|spawn|system|popen|startfile|posix_spawn)\w*\()"
    )
    files = (SOURCES / "roundtable").rglob("*.py")
    assert [path.name for path in files if starts.search(path.read_text("utf-8"))] == [
        "programs.py"
    ]
