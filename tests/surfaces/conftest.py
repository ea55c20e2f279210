"""A desk of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from .desk import Desk


@pytest.fixture(autouse=True)
def _no_probing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever servers and agents are on the machine of the test, they take no part in it."""
    monkeypatch.setenv("ROUNDTABLE_LOCAL_SERVERS", "false")
    monkeypatch.setenv("ROUNDTABLE_COMMAND_AGENTS", "false")
    monkeypatch.delenv("FALLBACK_MODEL", raising=False)


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Desk:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(workspace)

    def capture() -> tuple[str, str]:
        taken = capsys.readouterr()
        return taken.out, taken.err

    return Desk(tmp_path / "home", workspace, capture)
