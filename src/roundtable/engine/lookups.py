"""Look-ups: the web searches of all discussions of a process. So many are under way at most, and of
equal ones only one, whose answer all who asked share.

Whoever no longer wants the answer leaves the others theirs; one that nobody waits for is ended.
What failed is told to those who waited for it, and the next one to ask tries again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.effects import LookUp
from ..core.events import SearchFailed, SearchFinished
from ..core.text import redact
from ..core.values import SearchHit
from ..ports import Search, SessionSearch

PLACES = 32

Key = tuple[str, str, int]
"""In which session what is looked for, and how many hits are wanted."""


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Sequence[SearchHit]]
    waiting: int = 0


class LookUps:
    """One for a process; it belongs to the event loop in which it is used."""

    def __init__(self, places: int = PLACES) -> None:
        self._count = places
        self._loop: asyncio.AbstractEventLoop | None = None
        self._places = asyncio.Semaphore(places)
        self._under_way: dict[Key, _Flight] = {}

    async def outcome(self, search: Search | None, wanted: LookUp) -> SearchFinished | SearchFailed:
        """What came of a search. It never breaks a discussion, whatever it does."""
        if search is None:
            return SearchFailed(
                query=wanted.query, provider="none", message="No web search is configured."
            )
        if wanted.session and isinstance(search, SessionSearch):
            search = search.within(wanted.session)
        try:
            hits = await self._shared(search, wanted)
        except TimeoutError:
            message = f"No answer within {wanted.timeout:.0f} s."
        except Exception as error:
            message = redact(str(error))
        else:
            return SearchFinished(query=wanted.query, provider=search.name, hits=tuple(hits))
        return SearchFailed(query=wanted.query, provider=search.name, message=message)

    async def _shared(self, search: Search, wanted: LookUp) -> Sequence[SearchHit]:
        self._in_this_loop()
        key = (wanted.session, " ".join(wanted.query.casefold().split()), wanted.count)
        flight = self._under_way.get(key)
        if flight is None:
            flight = _Flight(asyncio.create_task(self._search(search, wanted)))
            self._under_way[key] = flight
            flight.task.add_done_callback(lambda _: self._over(key, flight))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._over(key, flight)
                flight.task.cancel()

    async def _search(self, search: Search, wanted: LookUp) -> Sequence[SearchHit]:
        # As long again for a place: where nobody answers, those behind are not to wait for all.
        places = self._places
        async with asyncio.timeout(wanted.timeout):
            await places.acquire()
        try:
            async with asyncio.timeout(wanted.timeout):
                return await search.find(wanted.query, wanted.count)
        finally:
            places.release()

    def _over(self, key: Key, flight: _Flight) -> None:
        if self._under_way.get(key) is flight:
            del self._under_way[key]
        if flight.task.done() and not flight.task.cancelled():
            flight.task.exception()  # if nobody is left to hear of it

    def _in_this_loop(self) -> None:
        if self._loop is not (loop := asyncio.get_running_loop()):
            self._loop = loop
            self._places = asyncio.Semaphore(self._count)
            self._under_way = {}
