"""What was found already: the same question in the same session is searched for once."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.values import SearchHit
from ..ports import Search

SIZE = 128
MAX_AGE = 3600.0
"""Seconds. A server is one session for weeks, and what it found last week is not current."""


@dataclass(frozen=True, slots=True)
class _Remembered:
    count: int
    hits: tuple[SearchHit, ...]
    at: float


class Cached:
    """A search that remembers, for one session. The process is the session where none is named.

    Failures and empty results are not remembered: the next one to ask tries again.
    """

    def __init__(
        self,
        search: Search,
        *,
        size: int = SIZE,
        max_age: float = MAX_AGE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._search = search
        self._size = size
        self._max_age = max_age
        self._clock = clock
        self._session = ""
        self._memory: OrderedDict[tuple[str, str], _Remembered] = OrderedDict()

    @property
    def name(self) -> str:
        return self._search.name

    def within(self, session: str) -> Cached:
        """The same search for another session: it shares the room, but none of the results."""
        other = Cached(self._search, size=self._size, max_age=self._max_age, clock=self._clock)
        other._session = session
        other._memory = self._memory
        return other

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        key = (self._session, " ".join(query.casefold().split()))
        known = self._memory.get(key)
        if known and known.count >= count and self._clock() - known.at < self._max_age:
            self._memory.move_to_end(key)
            return known.hits[:count]
        hits = tuple(await self._search.find(query, count))
        if hits:
            self._memory[key] = _Remembered(count, hits, self._clock())
            self._memory.move_to_end(key)
            while len(self._memory) > self._size:
                self._memory.popitem(last=False)
        return hits
