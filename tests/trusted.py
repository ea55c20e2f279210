"""A user who has read what a project brings along, and trusts it."""

from __future__ import annotations

from pathlib import Path

from roundtable.trust import Trust


def trust_project(home: Path, workspace: Path) -> None:
    """Trust every file of the workspace as it is now."""
    trust = Trust(home, workspace)
    trust.grant(trust.files())
