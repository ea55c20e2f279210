"""Extras: what is installed only where it is wanted, and the one way to say how to get it."""

from __future__ import annotations

from typing import Literal

from .errors import UsageError

Extra = Literal[
    "cluster",
    "demo",
    "documents",
    "experts",
    "keyring",
    "mcp",
    "notify",
    "postgres",
    "schedules",
    "search",
    "sign",
    "telemetry",
    "web",
]


def install(extra: Extra) -> str:
    """The command that brings an extra."""
    return f"pip install 'roundtable-council[{extra}]'"


def needs(what: str, extra: Extra) -> UsageError:
    """For what cannot be done without an extra: "The page", "web"."""
    return UsageError(f"{what} needs the extra {extra!r}, which is not installed.", install(extra))
