"""What an adaptive run is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ...core.errors import BadSetting, UsageError
from ...core.values import Value
from ..checking import checked
from .modes import TaskMode, detect_mode

FLAGS = (
    "debate",
    "build",
    "redteam",
    "vote",
    "quick",
    "panel",
    "validate",
    "context_from",
    "session",
)
MAX_LISTED = 8
"""Models in one `--panel`."""
_FORCING: tuple[TaskMode, ...] = ("debate", "build", "redteam", "vote")


class AdaptiveFlags(Value):
    """The flags of one run; they combine freely, except that only one mode can be forced."""

    debate: bool = False
    build: bool = False
    redteam: bool = False
    vote: bool = False
    quick: bool = False
    panel: str | tuple[str, ...] | None = None
    """Models, or the name of a profile."""
    # pydantic has a method of that name.
    check_synthesis: bool = Field(default=False, alias="validate")
    context_from: str | None = None
    session: str | None = None

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> AdaptiveFlags:
        flags = checked(cls, options, "adaptive options")
        if len(flags.forced) > 1:
            given = " and ".join(f"--{mode}" for mode in flags.forced)
            raise UsageError(f"{given} exclude each other.", "Force one mode, or none.")
        if flags.panel is not None and not 1 <= len(flags.listed) <= MAX_LISTED:
            raise BadSetting("adaptive options", "panel", f"1 to {MAX_LISTED} models or a profile")
        return flags

    @property
    def forced(self) -> tuple[TaskMode, ...]:
        return tuple(mode for mode in _FORCING if getattr(self, mode))

    @property
    def listed(self) -> tuple[str, ...]:
        """The names in `--panel`."""
        if self.panel is None:
            return ()
        parts = self.panel.split(",") if isinstance(self.panel, str) else self.panel
        return tuple(name.strip() for name in parts if name.strip())

    def mode(self, topic: str) -> TaskMode:
        """The forced mode, or the one that the question's words show."""
        return self.forced[0] if self.forced else detect_mode(topic)
