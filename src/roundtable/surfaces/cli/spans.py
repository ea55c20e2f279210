"""Spans of time as people write them: 12h, 30d, 4w."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from ...core.errors import UsageError

SPAN = re.compile(r"([0-9]{1,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def span(given: str, option: str) -> timedelta:
    """A span such as 12h, 30d or 4w. UsageError names the option and says how to write one."""
    found = SPAN.fullmatch(given.strip().lower())
    if found is None:
        raise UsageError(f"{option} {given!r} is not a span.", "Write one such as 12h, 30d or 4w.")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def ago(given: str, option: str) -> datetime:
    """The time so long before now; a bare number is days. UsageError as in `span`."""
    text = given.strip()
    try:
        return datetime.now(UTC) - span(f"{text}d" if text.isdecimal() else text, option)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
