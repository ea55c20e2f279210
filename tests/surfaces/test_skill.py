"""The skill: valid, put in place without losing anything, true in every command, never sent
without a yes."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest
import skills_ref

from roundtable.core.declaration_form import Key
from roundtable.surfaces import skill
from roundtable.surfaces.cli.app import cli
from roundtable.surfaces.toolset import OPERATIONS
from roundtable.version import __version__
from tests.speakers.agents import put_agent

from .desk import Desk

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "skills" / "roundtable"
PARTS = ("lead", "seat")
EDITED = '{"preset": "cheap", "round2": false}'


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with the host agents in it."""
    home = tmp_path / "user"
    for name in (".claude", ".openclaw", ".hermes"):
        (home / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "OPENCLAW_STATE_DIR", "HERMES_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.mark.requirement("D-100", "C-76")
def test_the_agent_skills_validator_and_our_own_find_nothing(desk: Desk) -> None:
    assert skills_ref.validate(SHIPPED) == []
    assert skill.problems(SHIPPED) == []
    assert desk("skill", "check").code == 0


@pytest.mark.requirement("D-100")
def test_its_metadata_is_what_openclaw_and_hermes_read() -> None:
    front, _ = skill._front_matter((SHIPPED / "SKILL.md").read_text("utf-8"))
    metadata = front["metadata"]

    assert metadata["version"] == __version__
    assert metadata["openclaw"]["requires"] == {"bins": ["roundtable"]}
    [install] = metadata["openclaw"]["install"]
    # `roundtable` on the package index is somebody else's.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (install["kind"], install["package"]) == ("uv", project["name"])
    assert metadata["hermes"]["category"]
    assert metadata["hermes"]["tags"]


def commands() -> list[str]:
    text = (SHIPPED / "SKILL.md").read_text("utf-8")
    blocks = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


@pytest.mark.parametrize("line", commands())
def test_every_command_that_it_shows_works(desk: Desk, line: str) -> None:
    desk.home.mkdir()
    (desk.home / "config.toml").write_text('default_model = "scripted/echo"')
    (desk.workspace / "design.md").write_text("# Design\nOne service, one database.")
    desk.ask()
    words = [desk.last_id() if word == "ID" else word for word in shlex.split(line)]
    assert words[0] == "roundtable"

    outcome = desk(*words[1:])

    assert outcome.code == 0, outcome.err
    if "--json" in words:
        assert outcome.document


def test_every_flag_and_command_that_it_names_exists() -> None:
    text = "".join(path.read_text("utf-8") for path in SHIPPED.rglob("*.md"))
    known = {
        option for command in cli.commands.values() for p in command.params for option in p.opts
    }
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    called = set(re.findall(r"`roundtable ([a-z]+)", text))

    assert named - known == set()
    assert called - set(cli.commands) == set()


def test_every_tool_argument_and_field_that_it_teaches_exists() -> None:
    lead, seat = ((SHIPPED / "references" / f"{name}.md").read_text("utf-8") for name in PARTS)
    for text in (lead, seat):
        for tool in re.findall(r"roundtable_(\w+)", text):
            assert tool in OPERATIONS
    for name, text in re.findall(r"```\nroundtable_(\w+) (\{.*?\})\n```", lead, re.DOTALL):
        given = json.loads(text)
        assert OPERATIONS[name].checked(
            {"discussion_id": "rt_…", **given} if name != "init" else given
        )
    (shown,) = re.findall(r"```json\n(\{.*?\})\n```", seat, re.DOTALL)
    assert set(json.loads(shown)) <= set(get_args(Key))
    for state in ("awaiting_conclusion", "concluded", "stopped", "failed"):
        assert state in seat


def test_the_fields_of_the_verdict_that_it_names_exist(desk: Desk) -> None:
    text = (SHIPPED / "SKILL.md").read_text("utf-8")
    document = desk.ask("--json").document

    for field in re.findall(r"`verdict\.(\w+)`", text):
        assert field in document["verdict"]
    for field in ("notes", "usage", "speeches"):
        assert f"`{field}`" in text
        assert field in document


def test_it_is_put_where_each_host_agent_looks(desk: Desk, user: Path) -> None:
    outcome = desk("skill", "install", "--for", "all")

    assert outcome.code == 0, outcome.err
    for folder in (".claude", ".openclaw", ".hermes"):
        assert skills_ref.validate(user / folder / "skills" / "roundtable") == []


def test_without_a_name_those_that_are_found_get_it(desk: Desk, user: Path) -> None:
    (user / ".openclaw").rmdir()

    desk("skill", "install")

    assert (user / ".hermes/skills/roundtable/SKILL.md").is_file()
    assert not (user / ".openclaw").exists()


def test_where_there_is_no_host_agent_one_must_be_named(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)

    outcome = desk("skill", "install")

    assert outcome.code == 2
    assert "--for" in outcome.err


@pytest.mark.requirement("C-77")
def test_an_upgrade_keeps_the_users_configuration_and_names_what_is_left(
    desk: Desk, user: Path
) -> None:
    folder = user / ".claude/skills/roundtable"
    desk.config(EDITED)
    desk("skill", "install", "--for", "claude-code")
    (folder / "config.json").write_text(EDITED)
    (folder / "SKILL.md").write_text("---\nname: roundtable\ndescription: older\n---\nOlder.")

    outcome = desk("skill", "install", "--for", "claude-code")

    assert (desk.home / "config.json").read_text() == EDITED
    assert (folder / "config.json").read_text() == EDITED
    assert (folder / "SKILL.md").read_bytes() == (SHIPPED / "SKILL.md").read_bytes()
    assert "older" in (folder / "SKILL.md.old").read_text()
    assert "kept as they are: SKILL.md.old, config.json" in outcome.out
    left = outcome.out.partition("Left to do:")[2]
    assert f"{desk.home / 'config.json'} was left as it is" in left
    assert "roundtable doctor" in left
    again = desk("skill", "install", "--for", "claude-code")
    assert "it is up to date" in again.out


def test_a_folder_that_is_somebody_elses_is_left_alone(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "roundtable"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: knights\ndescription: x\n---\nOther.")

    outcome = desk("skill", "install", "--to", str(folder.parent))

    assert outcome.code == 2
    assert "another skill" in outcome.err
    assert "Other." in (folder / "SKILL.md").read_text()


@pytest.mark.requirement("X-51")
def test_setup_and_skill_write_only_to_the_users_folders(desk: Desk, user: Path) -> None:
    """Whatever is opened for writing lies in the user's folders, never beside the program."""
    package = Path(skill.__file__).parents[1]
    written: list[Path] = []

    def watch(event: str, args: tuple[object, ...]) -> None:
        if watching and event == "open" and isinstance(args[0], str) and isinstance(args[2], int):
            flags = args[2]
            if flags & (os.O_WRONLY | os.O_RDWR) and "__pycache__" not in args[0]:
                written.append(Path(args[0]).absolute())

    watching = True
    sys.addaudithook(watch)
    try:
        desk("setup", stdin=b"D\nA\nA\nA\nA\nA\n")
        desk("skill", "install", "--for", "hermes")
    finally:
        watching = False

    assert (user / ".hermes/skills/roundtable/SKILL.md").is_file()
    assert (desk.home / "config.json").is_file()
    assert written
    assert [path for path in written if path.is_relative_to(package)] == []
    assert [path for path in written if path.is_relative_to(SHIPPED)] == []


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("SKILL.md", "name: roundtable", "name: Round Table", "name: expected small letters"),
        ("SKILL.md", "license:", "licence:", "unknown field 'licence'"),
        ("SKILL.md", "  hermes:", "  apollo:", "metadata.hermes"),
        ("SKILL.md", "---\nname", "name", "front matter"),
        ("SKILL.md", "references/mcp.md", "references/none.md", "does not exist"),
        ("SKILL.md", "## Ask", "See /home/somebody/notes", "a home folder"),
        ("config.example.json", "true", "maybe", "valid JSON"),
        ("config.example.json", '"round2"', '"round9"', "round9"),
    ],
)
def test_a_broken_skill_is_pointed_at(
    desk: Desk, tmp_path: Path, name: str, old: str, new: str, words: str
) -> None:
    desk("skill", "install", "--to", str(tmp_path))
    path = tmp_path / "roundtable" / name
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")

    outcome = desk("skill", "check", str(tmp_path / "roundtable"))

    assert outcome.code == 1
    assert words in outcome.err


# ---------------------------------------------------------------------------------- publishing


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub's program that writes down what it was asked for; returns that file."""
    asked = tmp_path / "asked"
    put_agent(
        tmp_path / "bin",
        "clawhub",
        f"with open({str(asked)!r}, 'a') as f: f.write(' '.join(sys.argv[1:]) + '\\n')\n"
        "if sys.argv[1] == 'whoami': say('somebody\\n')\n"
        "elif sys.argv[1] == 'publish':\n"
        "    found = [os.path.relpath(os.path.join(d, f), sys.argv[2])\n"
        "             for d, _, fs in os.walk(sys.argv[2]) for f in fs]\n"
        f"    open({str(asked)!r}, 'a').write('files ' + ' '.join(sorted(found)) + '\\n')",
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return asked


@pytest.mark.requirement("D-100")
def test_publishing_shows_account_and_files_and_sends_nothing_without_a_yes(
    desk: Desk, hub: Path
) -> None:
    outcome = desk("skill", "publish")

    assert outcome.code == 2
    assert "Account: somebody" in outcome.out
    assert "SKILL.md" in outcome.out
    assert "nothing found" in outcome.out
    assert "and nobody can be asked here" in outcome.err
    assert hub.read_text() == "whoami\n"


@pytest.mark.requirement("D-100")
def test_after_a_yes_exactly_the_files_that_were_shown_are_sent(desk: Desk, hub: Path) -> None:
    outcome = desk("skill", "publish", "--yes")

    assert outcome.code == 0, outcome.err
    _, publish, files = hub.read_text().splitlines()
    assert publish.startswith("publish ")
    assert "--slug roundtable" in publish
    references = "references/lead.md references/mcp.md references/seat.md"
    assert files == f"files SKILL.md config.example.json {references}"


@pytest.mark.requirement("D-100")
def test_a_person_is_asked_and_no_is_the_answer_by_default(desk: Desk, hub: Path) -> None:
    if os.name == "nt":
        pytest.skip("needs a pseudo-terminal")
    import pty

    master, slave = pty.openpty()
    try:
        os.write(master, b"\n")
        done = subprocess.run(
            [sys.executable, "-m", "roundtable", "skill", "publish"],
            stdin=slave,
            capture_output=True,
            text=True,
            cwd=desk.workspace,
            env={**os.environ, "PYTHONPATH": str(SHIPPED.parents[1] / "src")},
            timeout=120,
            check=False,
        )
    finally:
        os.close(master)
        os.close(slave)

    assert done.returncode == 0, done.stderr
    assert "Publish these files as somebody?" in done.stderr
    assert "Nothing was sent." in done.stderr
    assert "publish" not in hub.read_text()


def test_without_the_hubs_program_the_pre_flight_says_how_to_get_it(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    outcome = desk("skill", "publish", "--yes")

    assert outcome.code == 2
    assert "npm install -g clawhub" in outcome.err
