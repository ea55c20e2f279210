"""What an extra brings is missing: it says so in a line, and everything else works."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from roundtable.core.extras import Extra, install
from tests.surfaces.desk import QUICK, environment

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
for name in sys.argv[1].split(","):
    sys.modules[name] = None
from roundtable.surfaces.cli.app import run
sys.exit(run(sys.argv[2:]))
"""


def without(
    modules: tuple[str, ...], *args: str, folder: Path, **env: str
) -> subprocess.CompletedProcess[str]:
    """A command where these cannot be imported."""
    quiet = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_COMMAND_AGENTS": "false"}
    return subprocess.run(
        [sys.executable, "-c", HIDING, ",".join(modules), *args],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment({**quiet, **env}),
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


@pytest.mark.requirement("I-37")
@pytest.mark.parametrize(
    ("extra", "args", "env", "code"),
    [
        ("web", ("serve", "--no-browser"), {}, 2),
        ("mcp", ("mcp",), {}, 2),
        ("postgres", ("list",), {"ROUNDTABLE_DB": "postgresql://h/d"}, 2),
        ("sign", ("export", "example:{example}", "--bundle", "b.json", "--sign"), {}, 2),
        ("notify", (*ASK, "--notify", "mail"), {"ROUNDTABLE_CHANNEL_MAIL": "mailto://a:b@c.d"}, 2),
        ("search", ("doctor",), {"ROUNDTABLE_SEARCH": "ddgs"}, None),
        ("schedules", ("schedule", "add", "Why?", "--cron", "@daily"), {}, 2),
        ("demo", ("doctor",), {}, None),
        ("documents", (*ASK, "--context", "paper.pdf"), {}, 2),
        ("experts", ("Tea or coffee?", "--model", "scripted/echo", "--no-log"), {}, 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_whatever_needs_an_extra_says_how_to_get_it(
    tmp_path: Path, extra: Extra, args: tuple[str, ...], env: dict[str, str], code: int | None
) -> None:
    from roundtable.surfaces.recorded import recorded_examples

    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.4\n")
    named = [each.format(example=recorded_examples()[0].name) for each in args]
    done = without(MODULES[extra], *named, folder=tmp_path, **env)
    assert install(extra) in done.stdout + done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert code is None or done.returncode == code, done.stderr


def test_every_extra_of_the_package_is_known_by_its_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(get_args(Extra)) == {*project["optional-dependencies"]} - {"all", "dev"}
    assert set(MODULES) == set(get_args(Extra))
