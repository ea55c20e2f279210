"""What an extra brings is missing: it says so in a line, and everything else works."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import get_args

import pytest

from roundtable.core.extras import Extra, install
from tests.surfaces.desk import QUICK, environment

from .family import Done, Line, family

ROOT = Path(__file__).parents[1]
MODULES: dict[Extra, tuple[str, ...]] = {
    "cluster": ("pgqueuer",),
    "demo": ("xllamacpp",),
    "documents": ("pypdf", "docx", "pptx", "openpyxl", "defusedxml"),
    "experts": ("wordllama",),
    "keyring": ("keyring",),
    "mcp": ("mcp",),
    "notify": ("apprise",),
    "postgres": ("asyncpg",),
    "schedules": ("croniter",),
    "search": ("ddgs",),
    "sign": ("cryptography",),
    "telemetry": ("opentelemetry", "prometheus_client"),
    "web": ("fastapi", "uvicorn"),
}
ASK = ("Tea or coffee?", *QUICK)
HIDING = """
import sys
ALL = {all!r}
for name in ALL:
    sys.modules[name] = None
import roundtable.bootstrap, roundtable.ledger, roundtable.surfaces.cli.app
def act(words):
    hidden, *words = words
    for name in ALL - set(hidden.split(",")):
        del sys.modules[name]
    return roundtable.surfaces.cli.app.run(words)
"""
"""None of them can be imported while what every command needs is loaded; in a command, only the
other ones can."""
NEEDING: dict[Extra, tuple[tuple[str, ...], dict[str, str], int | None]] = {
    "web": (("serve", "--no-browser"), {}, 2),
    "mcp": (("mcp",), {}, 2),
    "postgres": (("list",), {"ROUNDTABLE_DB": "postgresql://h/d"}, 2),
    "sign": (("export", "example:{example}", "--bundle", "b.json", "--sign"), {}, 2),
    "notify": ((*ASK, "--notify", "mail"), {"ROUNDTABLE_CHANNEL_MAIL": "mailto://a:b@c.d"}, 2),
    "search": (("doctor",), {"ROUNDTABLE_SEARCH": "ddgs"}, None),
    "schedules": (("schedule", "add", "Why?", "--cron", "@daily"), {}, 2),
    "demo": (("doctor",), {}, None),
    "documents": ((*ASK, "--context", "paper.pdf"), {}, 2),
    "experts": (("Tea or coffee?", "--model", "scripted/echo", "--no-log"), {}, 0),
}
"""A command that needs the extra, its environment, and how it ends without it."""


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """Each of these commands where what it needs cannot be imported."""
    from roundtable.surfaces.recorded import recorded_examples

    place = tmp_path_factory.mktemp("without")
    lines: dict[str, Line] = {}
    for extra, (args, env, _) in NEEDING.items():
        (folder := place / extra).mkdir()
        (folder / "paper.pdf").write_bytes(b"%PDF-1.4\n")
        named = [each.format(example=recorded_examples()[0].name) for each in args]
        words = [",".join(MODULES[extra]), *named]
        lines[extra] = Line(words, folder, {"ROUNDTABLE_HOME": str(folder / "home"), **env})
    quiet = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_COMMAND_AGENTS": "false"}
    everything = {name for names in MODULES.values() for name in names}
    return family(HIDING.format(all=everything), lines, environment(quiet), place)


@pytest.mark.requirement("I-37")
@pytest.mark.parametrize("extra", NEEDING)
def test_whatever_needs_an_extra_says_how_to_get_it(extra: Extra, without: dict[str, Done]) -> None:
    done, code = without[extra], NEEDING[extra][2]
    assert install(extra) in done.stdout + done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert code is None or done.returncode == code, done.stderr


def test_every_extra_of_the_package_is_known_by_its_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(get_args(Extra)) == {*project["optional-dependencies"]} - {"all", "dev"}
    assert set(MODULES) == set(get_args(Extra))
