"""Searches of many discussions: one for equal questions, and never too many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from roundtable.core.effects import LookUp
from roundtable.core.errors import SearchError
from roundtable.core.events import SearchFailed, SearchFinished
from roundtable.core.values import SearchHit
from roundtable.engine.lookups import LookUps
from roundtable.search.cached import Cached
from tests.rehearsal import Table, run_in_virtual_time

HIT = SearchHit(title="Tea", url="https://example.org/tea", text="Tea is old.")
TEA = LookUp("Tea or coffee?")


class Slow:
    """A search that takes a second, and counts."""

    name = "slow"

    def __init__(self, failing: Exception | None = None) -> None:
        self.failing = failing
        self.asked: list[str] = []
        self.at_once = self.most = 0
        self.ended_early = 0

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        self.asked.append(query)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            self.ended_early += 1
            raise
        finally:
            self.at_once -= 1
        if self.failing is not None:
            raise self.failing
        return [HIT] * count


@pytest.mark.requirement("X-30")
def test_councils_that_ask_the_same_at_once_search_once() -> None:
    search = Slow()

    async def main() -> None:
        table = Table(search=search)
        states = await asyncio.gather(*(table.ask() for _ in range(20)))
        found = SearchFinished(query="Tea or coffee?", provider="slow", hits=(HIT,) * 5)
        assert all(state.searches == [found] for state in states)

    run_in_virtual_time(main())
    assert search.asked == ["Tea or coffee?"]


def test_another_session_or_another_number_of_hits_is_another_search() -> None:
    search = Slow()

    async def main() -> None:
        lookups, cached = LookUps(), Cached(search)
        wanted = [TEA, LookUp(TEA.query, 3), *(LookUp(TEA.query, session=s) for s in "abab")]
        found = await asyncio.gather(*(lookups.outcome(cached, each) for each in wanted))
        assert all(isinstance(each, SearchFinished) for each in found)

    run_in_virtual_time(main())
    assert len(search.asked) == 4


def test_so_many_are_under_way_at_most_and_the_others_have_their_time_still() -> None:
    search = Slow()

    async def main() -> None:
        lookups = LookUps(places=2)
        wanted = (LookUp(f"Question {n}?", timeout=1.5) for n in range(4))
        for each in await asyncio.gather(*(lookups.outcome(search, each) for each in wanted)):
            assert isinstance(each, SearchFinished)

    run_in_virtual_time(main())
    assert search.most == 2


def test_where_no_place_becomes_free_in_time_a_search_fails_and_says_so() -> None:
    async def main() -> None:
        lookups, search = LookUps(places=1), Slow()
        first = asyncio.create_task(lookups.outcome(search, LookUp("One?")))
        await asyncio.sleep(0)
        second = await lookups.outcome(search, LookUp("Two?", timeout=0.5))
        assert isinstance(second, SearchFailed)
        assert isinstance(await first, SearchFinished)
        assert search.asked == ["One?"]

    run_in_virtual_time(main())


def test_who_leaves_takes_nothing_from_the_others_and_the_last_one_ends_it() -> None:
    search = Slow()

    async def main() -> None:
        lookups = LookUps()
        one, two = (asyncio.create_task(lookups.outcome(search, TEA)) for _ in range(2))
        await asyncio.sleep(0.5)
        one.cancel()
        assert isinstance(await two, SearchFinished)
        assert search.ended_early == 0

        three = asyncio.create_task(lookups.outcome(search, TEA))
        await asyncio.sleep(0.5)
        three.cancel()
        await asyncio.wait([three])
        assert isinstance(await lookups.outcome(search, TEA), SearchFinished)  # one of its own

    run_in_virtual_time(main())
    assert (len(search.asked), search.ended_early) == (3, 1)


def test_a_search_that_fails_is_told_to_all_who_waited_and_tried_again_by_the_next() -> None:
    search = Slow(failing=SearchError("It failed."))

    async def main() -> None:
        lookups = LookUps()
        for each in await asyncio.gather(*(lookups.outcome(search, TEA) for _ in range(3))):
            assert each == SearchFailed(query=TEA.query, provider="slow", message="It failed.")
        assert len(search.asked) == 1
        search.failing = None
        assert isinstance(await lookups.outcome(search, TEA), SearchFinished)

    run_in_virtual_time(main())
    assert len(search.asked) == 2
