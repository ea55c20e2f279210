"""What every test shares: one event loop backend, and a home that is not the user's."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the real user's home, keys or settings."""
    import os

    for name in list(os.environ):
        if name.startswith("ROUNDTABLE_") or name.endswith(("_API_KEY", "_BASE_URL", "_HOST")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ROUNDTABLE_HOME", str(tmp_path / "home"))
