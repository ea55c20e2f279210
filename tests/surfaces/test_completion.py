"""What a shell offers for a word that is being typed: by click's own mechanism, and never
an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from roundtable.procedures import PROCEDURES
from roundtable.surfaces.cli import completing
from roundtable.surfaces.cli.completing import BUILT_IN

from .desk import QUICK, Desk, environment

VARIABLE = "_ROUNDTABLE_COMPLETE"


def offered(desk: Desk, line: str, shell: str = "bash", **env: str) -> list[str]:
    """What stands behind `line`, whose last word is being typed."""
    words = line.split(" ")
    typed = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        typed["COMP_CWORD"] = words[-1]
    outcome = desk.beside(stdin=b"", **{VARIABLE: f"{shell}_complete", **typed, **env})
    assert (outcome.code, outcome.err) == (0, ""), outcome.err
    return outcome.out.splitlines()


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("roundtable sh", {"plain,show"}),
        ("roundtable --mo", {"plain,--models"}),
        ("roundtable ask --procedure five", {"plain,five-round"}),
        ("roundtable ask --models opus,son", {"plain,opus,sonnet"}),
        ("roundtable ask --experts threat", {"plain,threat-modeller"}),
        ("roundtable ask --experts prec", {"plain,precedent"}),
        ("roundtable Should we --template arch", {"plain,architecture"}),
        ("roundtable ask --notify st", {"plain,stdout", "plain,stderr"}),
        ("roundtable ask --context q", {"file,q"}),
        ("roundtable help meet", {"plain,meeting"}),
        ("roundtable help res", {"plain,resume"}),
        ("roundtable ask --roster tech", {"plain,tech-design-review"}),
        ("roundtable ask --language d", {"plain,de"}),
        ("roundtable export example:free", {"plain,example:free-buses"}),
        ("roundtable show --example free", {"plain,free-buses"}),
    ],
)
def test_values_are_offered_where_they_are_known(desk: Desk, line: str, some: set[str]) -> None:
    assert some <= set(offered(desk, line))


def test_discussions_are_offered_by_id_with_their_question(desk: Desk) -> None:
    desk("Should we drink tea?", *QUICK)
    rows = offered(desk, "roundtable show ", "zsh")
    assert rows[1] == "last"
    assert rows[rows.index(desk.last_id()) + 1] == "Should we drink tea?"
    fish = offered(desk, "roundtable show ", "fish")
    assert f"plain,{desk.last_id()}\tShould we drink tea?" in fish


def test_ones_own_procedures_boards_and_channels_are_offered(desk: Desk) -> None:
    (desk.home / "procedures").mkdir(parents=True)
    (desk.home / "procedures" / "delphi.toml").write_text('summary = "Estimates"\n')
    (desk.home / "config.toml").write_text(
        '[boards.desk]\nkind = "webhook"\nurl = "http://x"\n[channels]\nteam = "file:x"\n'
    )
    assert offered(desk, "roundtable ask --procedure delp") == ["plain,delphi"]
    assert offered(desk, "roundtable ask --task de") == ["plain,desk:"]
    assert offered(desk, "roundtable ask --notify te") == ["plain,team"]


def _models(begun: str = "") -> list[str]:
    """What Tab offers for `--models`, without a process: more than a line of values is cut off."""
    return [each.value for each in completing.offered(completing.models, begun, many=True)]


@pytest.mark.requirement("Z-36")
def test_models_that_cannot_be_used_here_are_not_offered(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.home.mkdir()
    assert "anthropic/claude-sonnet-5-5" in _models("an"), "nothing is set up: it could be"

    monkeypatch.setenv("OPENAI_BASE_URL", "http://10.0.0.9:8000/v1")
    assert _models() == [], "nobody knows what a private server has"
    (desk.home / "config.toml").write_text('models = ["openai/qwen3", "anthropic/claude-x"]\n')
    assert _models() == ["openai/qwen3"], "but what the settings name"

    lists = desk.home / "cache" / "lists"
    lists.mkdir(parents=True)
    row = {"provider": "openai", "at": 1.0, "listing": {"models": [{"name": "qwen3:8b"}]}}
    (lists / "x.json").write_text(json.dumps(row))
    assert _models("openai/") == ["openai/qwen3", "openai/qwen3:8b"]
    assert "qwen3:8b" in _models()
    assert _models("an") == []

    (desk.home / "keys.toml").write_text('[keys]\nANTHROPIC_API_KEY = "k"\n')
    assert "anthropic/claude-sonnet-5-5" in _models("an"), "a key that was entered counts as well"
    assert _models("gemini") == []


@pytest.mark.parametrize(
    "line",
    ["roundtable show 'un", "roundtable nonsense --x", "roundtable ask --seats", "", "roundtable"],
)
def test_nothing_is_offered_without_an_error(desk: Desk, line: str) -> None:
    desk.home.mkdir()
    (desk.home / "config.toml").write_text("= broken")
    (desk.home / "roundtable.db").write_text("no database")
    offered(desk, line)
    offered(desk, line, ROUNDTABLE_DB="postgresql://nobody@127.0.0.1:9/x")


def test_the_procedures_that_are_offered_are_those_that_there_are() -> None:
    assert set(BUILT_IN) == set(PROCEDURES)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_line_for_each_shell_is_printed_with_where_it_belongs(desk: Desk, shell: str) -> None:
    outcome = desk("completion", shell)
    assert outcome.code == 0
    assert f"{VARIABLE}={shell}_source roundtable" in outcome.out
    assert f"roundtable completion {shell} >>" in outcome.err
    script = desk.beside(stdin=b"", **{VARIABLE: f"{shell}_source"})
    assert script.code == 0
    assert "_roundtable_completion" in script.out


def test_a_shell_that_is_not_known_is_said(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/csh")
    outcome = desk("completion")
    assert outcome.code == 2
    assert "bash | zsh | fish" in outcome.err


def test_ids_are_offered_without_anything_heavy(desk: Desk) -> None:
    heavy = ("pydantic", "httpx2", "rich", "asyncio", "roundtable.settings", "roundtable.ledger")
    program = (
        "import sys; from roundtable.surfaces.cli.app import run; run([]); "
        f"sys.stderr.write(' '.join(n for n in {heavy!r} if n in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(
            {VARIABLE: "bash_complete", "COMP_WORDS": "roundtable show ", "COMP_CWORD": "2"}
        ),
        cwd=Path(desk.workspace),
        capture_output=True,
        timeout=60,
    )
    assert done.stderr.decode() == ""
    assert b"plain,last" in done.stdout
