"""BusyRetry: how one writer among several processes waits for a busy SQLite database.

SQLite's own busy handler waits longer the longer it has waited, so that the newest writer wins
and an old one may starve (seconds, among four). Here every try is made after the same short,
random pause, however old the wish: the longest wait is then tens of milliseconds.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from .sqlite_errors import is_busy

T = TypeVar("T")

_LONGEST_PAUSE = 0.003


class BusyRetry:
    """Waits in the calling thread. After `seconds`, SQLITE_BUSY goes through to the caller."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._random = random.Random()  # noqa: S311 - spreads the tries, guards nothing

    def deadline(self) -> float:
        """When a wish that is made now has waited long enough."""
        return monotonic() + self._seconds

    def retry(self, work: Callable[[], T], deadline: float) -> T:
        """Do `work`, again and again while the database is busy, until the deadline."""
        while True:
            try:
                return work()
            except sqlite3.OperationalError as error:
                if not is_busy(error) or monotonic() >= deadline:
                    raise
            sleep(self._random.uniform(0, _LONGEST_PAUSE))
