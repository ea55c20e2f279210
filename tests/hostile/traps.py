"""A folder full of traps: whatever of it is executed leaves its name in a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.surfaces.desk import Outcome, environment

# fmt: off
MODULES = (
    "__future__", "typing", "json", "os", "re", "asyncio", "subprocess", "webbrowser", "sqlite3",
    "click", "pydantic", "yaml", "rich", "numpy", "jinja2", "httpx2", "uvicorn", "fastapi", "mcp",
    "pip", "platformdirs", "genai_prices", "tokenizers", "xllamacpp", "wordllama", "sitecustomize",
    "usercustomize", "conftest", "roundtable_plugin",
)
PROGRAMS = (
    "claude", "codex", "gemini", "opencode", "mine", "python", "python3", "git", "roundtable", "sh",
    "env", "xdg-open", "x-www-browser", "firefox", "www-browser", "clawhub", "uname", "lsb_release",
    "gcc", "ldconfig",
)
# fmt: on
ENV_FILE = """ROUNDTABLE_MODEL=cmd/mine
ROUNDTABLE_PROCEDURE=meeting
OPENAI_API_KEY=trapped
OPENAI_BASE_URL=http://127.0.0.1:9/trapped
"""
FAMILY = """
import sys
from roundtable.shelter import shelter
import os
shelter(os.environ, sys.path)
import json
import roundtable.bootstrap, roundtable.ledger.sqlite, roundtable.models.lookout
import roundtable.notify.channels, roundtable.search.choose, roundtable.surfaces.cli.app
import roundtable.surfaces.cli.here, roundtable.surfaces.cli.with_app, roundtable.telemetry.watch
from roundtable.surfaces.cli import main
for name, line in json.loads(sys.argv[1]).items():
    if not (child := os.fork()):
        os.environ["ROUNDTABLE_HOME"] += "-" + name
        for number, kind in ((1, "out"), (2, "err")):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(f"{sys.argv[0]}-{name}.{kind}", flags), number)
        sys.argv[1:] = line
        sys.exit(main())
    _, status = os.waitpid(child, 0)
    print(name, os.waitstatus_to_exitcode(status), flush=True)
"""
"""Begins as the installed command does, loads what most commands need, and becomes each of them in
turn: so that is loaded once, in the folder, and what a command needs beside it by that command."""


class Traps:
    """The folder, what was executed of it, and how to run the program in it."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "hostile"
        self.home = root / "home"
        self._sprung = root / "sprung"
        self._script = root / "installed" / "roundtable"
        self._family = root / "installed" / "family"
        self.folder.mkdir()
        self._set()
        self._script.parent.mkdir()
        self._script.write_text(
            "import sys\nfrom roundtable.surfaces.cli import main\nsys.exit(main())\n", "utf-8"
        )

    def _set(self) -> None:
        python = "with open({!r}, 'a') as sprung: sprung.write({!r})\n"
        for name in MODULES:
            code = python.format(str(self._sprung), f"{name}.py\n")
            (self.folder / f"{name}.py").write_text(code, "utf-8")
        for package in ("roundtable", ".roundtable/plugins"):
            (self.folder / package).mkdir(parents=True)
            code = python.format(str(self._sprung), f"{package}/\n")
            (self.folder / package / "__init__.py").write_text(code, "utf-8")
        for name in PROGRAMS:
            path = self.folder / name
            if path.is_dir():  # on most systems a program cannot lie where the package does
                path = path / name
            path.write_text(f"#!/bin/sh\necho {name} >> '{self._sprung}'\n", "utf-8")
            path.chmod(0o755)
        (self.folder / ".env").write_text(ENV_FILE, "utf-8")
        (self.folder / "pyproject.toml").write_text(
            '[tool.roundtable]\ndefault_model = "cmd/mine"\n[commands.mine]\ncommand = "./mine"\n',
            "utf-8",
        )
        (self.folder / "roundtable.toml").write_text(
            'default_model = "cmd/mine"\nbrowser = "./mine"\n[commands.mine]\ncommand = "./mine"\n',
            "utf-8",
        )
        (self.folder / "panels.json").write_text('{"synthesis": "cmd/mine"}', "utf-8")
        (self.folder / "local_models.json").write_text('{"host": "cmd/mine"}', "utf-8")
        (self.folder / "config.toml").write_text('[commands.mine]\ncommand = "./mine"\n', "utf-8")
        (self.folder / "config.json").write_text('{"preset": "premium"}', "utf-8")

    def env(self, **more: str) -> dict[str, str]:
        """Every way into the folder that a careless PATH can hold."""
        folders = (".", "", str(self.folder), "bin", os.environ["PATH"])
        env = {"PATH": os.pathsep.join(folders), "ROUNDTABLE_HOME": str(self.home), **more}
        return environment(env)

    def arguments(self, *args: str) -> list[str]:
        """As the installed command begins."""
        return [sys.executable, str(self._script), *args]

    def run(self, *args: str, stdin: str = "", **env: str) -> Outcome:
        """From beginning to end, in the folder."""
        return self.started(self.arguments(*args), stdin=stdin, **env)

    def run_each(self, lines: Mapping[str, Sequence[str]]) -> dict[str, Outcome]:
        """Each in a process and a home of its own (`home_of`)."""
        self._family.write_text(FAMILY, "utf-8")
        done = self.started([sys.executable, str(self._family), json.dumps(lines)])
        codes = dict(line.split() for line in done.out.splitlines())
        assert list(codes) == list(lines), done.err
        return {
            name: Outcome(int(code), *(self._left(name, kind) for kind in ("out", "err")))
            for name, code in codes.items()
        }

    def home_of(self, name: str) -> Path:
        return self.home.with_name(f"{self.home.name}-{name}")

    def stop_pages(self, state_file: str) -> None:
        """Whatever was served in any of the homes."""
        states = [path.parent.name for path in self.home.parent.glob(f"home*/{state_file}")]
        if self.home.name in states:
            self.run("serve", "--stop")
        prefix = f"{self.home.name}-"
        names = [each.removeprefix(prefix) for each in states if each.startswith(prefix)]
        if names:
            self.run_each(dict.fromkeys(names, ("serve", "--stop")))

    def _left(self, name: str, kind: str) -> str:
        return self._family.with_name(f"{self._family.name}-{name}.{kind}").read_text("utf-8")

    def started(self, arguments: list[str], *, stdin: str = "", **env: str) -> Outcome:
        done = subprocess.run(
            arguments,
            input=stdin.encode(),
            capture_output=True,
            cwd=self.folder,
            env=self.env(**env),
            check=False,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    @property
    def sprung(self) -> list[str]:
        """What was executed."""
        return self._sprung.read_text("utf-8").split() if self._sprung.exists() else []
