"""A file that a procedure leaves in the workspace."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OutputFile:
    """Where it belongs, relative to the workspace, and what it says. A taken name gets a number."""

    path: str
    text: str
