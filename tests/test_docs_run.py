"""What the pages show is done: their commands are run, their files are read, their Python is run.

One test a page, in the order of the page and in one home, as a reader would do it. The models are
scripted. What cannot be done here (a server that does not end, somebody else's network) stands in
`NOT_RUN` with its reason; `test_docs.py` shows that the program understands it all the same.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
import yaml

from roundtable import Roundtable
from roundtable.core.declaration_form import Key
from roundtable.surfaces.cli.app import run

from .documents import samples
from .forked import Program
from .test_docs import _COMMAND, _OURS, _SHELL, PAGES, ROOT, _name, blocks

SPEAKER = "scripted/echo"
NOT_RUN = {
    r"^serve( --detached| --port.*| --host.*)?$": "a server does not end",
    r"^mcp\b": "a server does not end",
    r"^chat\b": "it waits for messages",
    r" --web\b": "it opens a browser",
    r" --join\b": "a person must speak",
    r"^doctor --reach": "it calls the providers",
    r"^notify (test|resend|pump|ID)\b": "it needs a channel of the reader's",
    r" --notify\b": "it needs a channel of the reader's",
    r" --task\b|^tasks ID": "it needs a board of the reader's",
    r"^setup$": "a person must answer",
    r"^skill publish": "it sends the skill to a registry",
    r"--signer 18c8a56c…": "the key of somebody else",
    r"^tokens (end|budget) 3f9a": "a token of the reader's",
    r"^worker\b|^fleet\b| --detach\b| --follow\b": "it needs PostgreSQL and a worker",
    r"^schedule \w+ sc_1a2b3c4d\b": "a schedule of the reader's",
    r"^schedule run$": "it waits for what is due",
    r"…": "something is left out",
}
"""Parts of commands that are shown and not run here, and why."""
ENDS_WITH = {
    r"^verify example:": 4,
    r"^models \w": 2,
    r"^serve --status": 1,
    r"^purge( --settings)?\b(?! --older)": 2,
}
"""Exit codes other than 0 where they are right: examples of earlier rules cannot be decided again,
there is no model of that kind, no page is served here, and nobody can be asked about a purge."""
OF_A_MEETING = ("docs/mcp.md", "docs/tokens.md", "docs/how-to/agents.md")
"""The pages whose discussion is a meeting that is under way, not one that is over."""
IN_THE_FOLDER = {
    "design.md": "# Design\n\nOne service, one database, and a queue between them.\n",
    "questions.txt": "# of this week\nShould we rent?\nShould we walk?\n",
    "change.diff": "--- a/queue.py\n+++ b/queue.py\n@@ -1 +1 @@\n-retry = 3\n+retry = 5\n",
    "notes.md": "The neighbours sold for less.\n",
    "service/main.py": "print('served')\n",
    "plan.md": "# Plan\n\nFirst the queue, then the database.\n",
    "open-questions.txt": "# For Monday\nTea or coffee?\nBuild or buy?\n",
    "speech.txt": "I would keep one database until the load is measured.\n",
}
SEATS = [
    {"profile": "ops", "role": "Operations"},
    {"profile": "architect", "role": "Architect"},
]
_ID = re.compile(r"\brt_1a2b(3c4d)?\b|\bID\b")


_VARIABLES = re.compile(r"^(?:[A-Z_]+=\S+ +)+(?=roundtable )")


def _blocks(page: Path) -> Iterator[tuple[str, str]]:
    yield from blocks(page.read_text("utf-8"))


def _commands(page: Path) -> list[str]:
    """The commands of a page's blocks, each without its comment. A line that ends in a backslash
    goes on."""
    shown = (block for language, block in _blocks(page) if language in _SHELL)
    lines = (line for block in shown for line in block.replace("\\\n", " ").splitlines())
    bare = (_VARIABLES.sub("", line.strip().removeprefix("$ ")) for line in lines)
    return [line.removeprefix("roundtable ") for line in bare if _COMMAND.match(line)]


def _why_not(command: str) -> str | None:
    return next((why for form, why in NOT_RUN.items() if re.search(form, _bare(command))), None)


def _bare(command: str) -> str:
    return re.sub(r"\s+#.*$", "", command)


NOT_OURS = {
    r"^make \w+$": "the Makefile has it",
    r"^pip install '[\w.-]+\[[\w,]+\]'": "its extras exist",
    r"^export [A-Z_]+=\S": "the program knows the variable",
    r"^git diff |^ollama pull |^python3? -m (pytest|venv) ": "programs of others",
    r"^claude mcp add roundtable -- roundtable mcp$": "a program of others, which calls ours",
    r"^/(roundtable|council) |^ask the council ": "written in a chat",
    r'^roundtable_\w+ \{"': "a call of a tool; test_skill.py checks it",
}
"""Lines in blocks of commands that are no command of ours, and what speaks for them."""
_TOOL = re.compile(r"^roundtable_(\w+) (\{.*?\})\n?$", re.MULTILINE | re.DOTALL)


def _shown(page: Path) -> list[str]:
    """Every line of the blocks of commands, without prompts and comments; a call of a tool, which
    may take several, is one."""
    shell = (block for language, block in _blocks(page) if language in _SHELL)
    whole = (_TOOL.sub(lambda call: call[0].replace("\n", " "), block) for block in shell)
    lines = (line for block in whole for line in block.replace("\\\n", " ").splitlines())
    return [_bare(bare) for line in lines if (bare := line.strip().removeprefix("$ "))]


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_no_line_of_a_block_of_commands_escapes(page: Path) -> None:
    """Whatever is neither our command nor listed above is output, and its block says `text`."""
    for line in _shown(page):
        ours = _COMMAND.match(_OURS.sub("", line)) or line == "roundtable"
        assert ours or any(re.search(form, line) for form in NOT_OURS), line


def test_every_kind_of_line_that_is_no_command_of_ours_is_still_shown() -> None:
    shown = [line for page in PAGES for line in _shown(page)]
    for form in NOT_OURS:
        assert any(re.search(form, line) for line in shown), form


@cache
def _source() -> str:
    files = (path for form in ("*.py", "*.toml") for path in (ROOT / "src").rglob(form))
    return "".join(path.read_text("utf-8") for path in files)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_extras_and_variables_that_a_page_shows_exist(page: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    known = _source()
    text = page.read_text("utf-8")
    for listed in re.findall(r"roundtable-council\[([\w,]+)\]", text):
        assert {*listed.split(",")} - {"NAME"} <= {*project["optional-dependencies"]}, listed
    for line in _shown(page):
        for variable in re.findall(r"([A-Z][A-Z_]+)=", line.partition("roundtable ")[0]):
            own = variable.removeprefix("ROUNDTABLE_").removesuffix("_TEAM").lower()
            named = rf"\b{own}\b" if variable.startswith("ROUNDTABLE_") else rf'"{variable}"'
            assert variable.startswith("OTEL_") or re.search(named, known), line


WITH_COMMANDS = [page for page in PAGES if any(not _why_not(c) for c in _commands(page))]


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A reader's folder and home, with what the pages speak of."""
    folder, home, user = tmp_path / "project", tmp_path / "home", tmp_path / "user"
    for made in (folder, home / "procedures", user / ".claude"):
        made.mkdir(parents=True, mode=0o700)
    for name, text in IN_THE_FOLDER.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "offer.pdf").write_bytes(samples.pdf("We offer the house for 300,000."))
    shutil.copy(ROOT / "examples" / "delphi.toml", home / "procedures")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv(
        "PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    )
    monkeypatch.setenv("ROUNDTABLE_MODEL", SPEAKER)
    monkeypatch.setenv("ROUNDTABLE_LOCAL_SERVERS", "false")
    monkeypatch.setenv("ROUNDTABLE_WEB", "false")
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield folder


def _hold(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """A meeting that waits for its seats; one that was opened and then left alone, so that it can
    be resumed; and one that is over, the newest. The ids of the first and the last."""

    async def others() -> str:
        async with Roundtable() as table:
            await table.open("Tea or coffee?", procedure="council", all=SPEAKER)
            over = await table.open("Should we rewrite it?", procedure="council", all=SPEAKER)
            await table.run(over.discussion_id)
        return over.discussion_id

    def tool(name: str, **arguments: object) -> str:
        assert run(["tool", name, json.dumps(arguments)]) == 0
        return str(json.loads(capsys.readouterr().out)["discussion_id"])

    meeting = tool("init", topic="One database?", participants=SEATS)
    tool("speak", discussion_id=meeting, participant="coordinator", content="We decide on one.")
    return meeting, asyncio.run(others())


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=_name)
@pytest.mark.usefixtures("reader")
def test_the_commands_of_a_page_do_what_they_say(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    meeting, over = _hold(capsys)
    meant = meeting if _name(page) in OF_A_MEETING else over
    for command in _commands(page):
        if _why_not(command):
            continue
        words = shlex.split(_ID.sub(meant, re.sub(r"[\[\]]", "", command)), comments=True)
        code = run(words)
        told = capsys.readouterr()
        expected = next((c for form, c in ENDS_WITH.items() if re.search(form, command)), 0)
        assert code == expected, f"roundtable {command}\n{told.out[-600:]}\n{told.err[-1500:]}"
        assert told.out.strip() or told.err.strip(), f"roundtable {command} said nothing"


def test_every_reason_not_to_run_a_command_is_still_needed() -> None:
    shown = [_bare(command) for page in PAGES for command in _commands(page)]
    for form in NOT_RUN:
        assert any(re.search(form, command) for command in shown), form


_DECLARED = re.compile(r"^```declaration\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_data_of_a_page_can_be_read(page: Path) -> None:
    for language, block in _blocks(page):
        match language:
            case "toml":
                assert tomllib.loads(block)
            case "json":
                assert json.loads(block)
            case "yaml":
                assert yaml.safe_load(block)
            case _:
                for declared in _DECLARED.findall(block):
                    assert {*json.loads(declared)} <= {*get_args(Key)}


PROGRAMS = {
    page: "\n".join(block for language, block in _blocks(page) if language == "python")
    for page in PAGES
}
_SERVED, _TOKEN = "http://localhost:8199", "rtk_…"


@pytest.mark.parametrize("page", [page for page in PAGES if PROGRAMS[page]], ids=_name)
def test_the_python_of_a_page_runs(page: Path, reader: Path, tmp_path: Path) -> None:
    """All of a page in one go, as in a notebook: a fragment may use what stands above it, and may
    wait for something."""
    text = PROGRAMS[page]
    program = tmp_path / "program.py"
    with ExitStack() as stack:
        if _SERVED in text:
            address, token = stack.enter_context(_served(reader))
            text = text.replace(_SERVED, address).replace(_TOKEN, token)
        program.write_text(text, encoding="utf-8")
        told = tmp_path / "told"
        done = Program(
            ["notebook", str(program)],
            cwd=reader,
            env=os.environ,
            stderr=told,
            module="tests.python_files",
        ).wait()
    assert done == 0, f"{text}\n{told.read_text('utf-8')}"


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, str]]:
    """The service, and a token for it: its address is another one in a test."""
    command = [sys.executable, "-m", "roundtable"]

    def told(*words: str) -> str:
        done = subprocess.run([*command, *words], capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    served = told("serve", "--detached", "--port", "0", "--no-browser")
    try:
        address = re.search(r"http://[\w.]+:\d+", served)
        token = re.search(r"rtk_[\w-]+", told("tokens", "add", "my-client"))
        assert address is not None, served
        assert token is not None
        yield address[0], token[0]
    finally:
        told("serve", "--stop")


def test_the_two_commands_of_the_readme_are_in_the_makefile() -> None:
    assert shutil.which("make") is None or (ROOT / "Makefile").is_file()
    for target in ("demo", "test"):
        assert f"$ make {target}\n" in (ROOT / "README.md").read_text("utf-8")
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
