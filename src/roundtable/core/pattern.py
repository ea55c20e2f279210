"""Patterns that are made when they are first used.

The rules of reading are some hundred patterns, and a process uses a few of them: making them all
took a tenth of the time until the first call of a question.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    """Stands for a pattern. What was asked of it once stands here, and costs nothing any more."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, which checks a text when the pattern is first used. For constants of a
    module: their methods are called, and they are not handed to functions of `re`."""
    return cast("re.Pattern[str]", _Late(text, flags))
