"""Commands that only look things up load nothing heavy: it would be paid for at every call."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from roundtable.surfaces.python import Roundtable
from tests.servers import provider_server

NEVER_FOR_A_CALL = (
    "anthropic",
    "asyncpg",
    "docx",
    "fastapi",
    "genai_prices.data",
    "lxml",
    "markdown_it",
    "mcp",
    "numpy",
    "openai",
    "openpyxl",
    "pptx",
    "pgqueuer",
    "pydantic_ai",
    "pypdf",
    "requests",
    "rich.console",
    "rich.markdown",
    "roundtable.core.closing_block",
    "roundtable.core.grounding",
    "roundtable.core.languages",
    "roundtable.core.notifications_text",
    "roundtable.core.schedule",
    "roundtable.core.scores",
    "roundtable.documents.gather",
    "roundtable.procedures.adaptive.panels",
    "roundtable.speakers.api_failures",
    "roundtable.surfaces.cli.board",
    "roundtable.surfaces.cli.verdict",
    "roundtable.surfaces.tokens.store",
    "roundtable.surfaces.web.found",
    "roundtable.views.adaptive_meta",
    "roundtable.views.decision",
    "roundtable.views.decision_parts",
    "roundtable.views.delivery",
    "roundtable.views.five_round.references",
    "roundtable.views.meeting_status",
    "roundtable.views.outgoing",
    "roundtable.views.report_md",
    "roundtable.views.report_parts",
    "roundtable.views.spoken",
    "tiktoken",
    "tokenizers",
    "uvicorn",
    "wordllama",
    "xllamacpp",
)
"""What a discussion needs when a file is parsed, a page is served, a verdict is shown or others are
told; and what it never needs."""
HEAVY = (
    "anthropic",
    "asyncpg",
    "docx",
    "fastapi",
    "genai_prices.data",
    "httpx",
    "httpx2",
    "jinja2",
    "lxml",
    "mcp",
    "numpy",
    "openai",
    "openpyxl",
    "pathspec",
    "pgqueuer",
    "pptx",
    "pypdf",
    "rich.console",
    "rich.markdown",
    "tiktoken",
    "tokenizers",
    "uvicorn",
    "wordllama",
    "xllamacpp",
)
SCRIPT = """
import sys
from roundtable.surfaces.cli.app import run
assert run(sys.argv[1:]) == 0
print(*sys.modules, file=sys.stderr)
"""

WHOLE = """
import sys
before = {*sys.modules}
from roundtable_council import main
try:
    main()
except SystemExit as ended:
    assert not ended.code
print(*{*sys.modules} - before, file=sys.stderr)
"""
AT_FIRST_CALL = """
import os, sys
from roundtable.speakers.api_client import ApiCall
def told(call):
    print(*sys.modules, file=sys.stderr, flush=True)
    os._exit(0)
ApiCall._sent = told
from roundtable.surfaces.cli.app import run
run(sys.argv[1:])
"""


def modules_after(
    *args: str, script: str = SCRIPT, env: Mapping[str, str] | None = None
) -> set[str]:
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", script, *args],
        env={**os.environ, "PYTHONPATH": path, **(env or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture
def discussion_id(tmp_path: Path) -> str:
    async def main() -> str:
        async with Roundtable(home=tmp_path / "home", env={}) as table:
            state = await table.open("Tea or coffee?", all="scripted/echo")
            return (await table.stop(state.discussion_id)).discussion_id

    return asyncio.run(main())


def test_help_loads_next_to_nothing() -> None:
    loaded = modules_after("--help")
    assert loaded.isdisjoint({*HEAVY, "pydantic", "asyncio", "sqlite3", "roundtable.bootstrap"})


def test_what_every_command_begins_with_needs_little_of_the_standard_library_either() -> None:
    loaded = modules_after("--help", script=WHOLE)
    assert loaded.isdisjoint({"dataclasses", "difflib", "json", "pathlib", "sysconfig"})
    assert "roundtable.shelter" in loaded


@pytest.mark.parametrize("command", ["list", "show"])
def test_a_look_into_the_ledger_loads_neither_models_nor_templates(
    command: str, discussion_id: str
) -> None:
    arguments = [discussion_id] if command == "show" else []
    loaded = modules_after(command, *arguments)
    assert loaded.isdisjoint(HEAVY)
    assert "roundtable.ledger.sqlite" in loaded


@pytest.mark.usefixtures("discussion_id")
def test_the_list_of_discussions_loads_no_view_of_one() -> None:
    loaded = modules_after("list")
    views = ("absence", "decision", "deliverables", "delivery", "outside_form", "result")
    assert loaded.isdisjoint({f"roundtable.views.{each}" for each in views})


def test_a_discussion_up_to_its_first_call_loads_no_provider_no_parser_and_no_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The speakers are scripted: whatever a real one needs comes with its first call."""
    monkeypatch.setenv("ROUNDTABLE_HOME", str(tmp_path / "home"))
    (tmp_path / "plan.md").write_text("Tea is cheaper.")
    loaded = modules_after(
        "ask", "Tea or coffee?", "--quick", "--procedure=council", "--all=scripted/echo",
        "--model=scripted/echo", "--no-search", "--context", str(tmp_path / "plan.md"),
    )  # fmt: skip
    assert sorted(loaded & {*HEAVY} - {"httpx2", "jinja2", "pathspec"}) == []


def test_the_first_call_to_a_provider_needs_no_vendors_package_no_report_and_no_price_list(
    tmp_path: Path,
) -> None:
    with provider_server(models=["some-model"]) as server:
        env = {**server.env(), "ROUNDTABLE_HOME": str(tmp_path / "home")}
        asked = ("ask", "Tea or coffee?", "--models=openai/some-model", "--no-search")
        loaded = modules_after(*asked, script=AT_FIRST_CALL, env=env)
    assert sorted(loaded & {*NEVER_FOR_A_CALL}) == []
    assert {"httpx2", "roundtable.speakers.wire_chat"} <= loaded


def test_a_discussion_that_is_shown_loads_the_rules_of_its_own_procedure_only(
    discussion_id: str,
) -> None:
    loaded = modules_after("show", discussion_id)
    ours = {name.split(".")[2] for name in loaded if name.startswith("roundtable.procedures.")}
    assert ours.isdisjoint({"custom", "deliberation", "five_round", "meeting"})
    rules = {
        name for name in loaded if name.startswith("roundtable.procedures.") and "spec" in name
    }
    assert rules == {"roundtable.procedures.spec", "roundtable.procedures.council.spec"}
