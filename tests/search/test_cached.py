"""The cache: the same question in the same session costs one search."""

from __future__ import annotations

import pytest

from roundtable.core.errors import SearchError
from roundtable.core.values import SearchHit
from roundtable.search.cached import Cached
from roundtable.search.engines import ScriptedSearch

HITS = [SearchHit(title="T", url=f"https://example.org/{n}", text=f"{n}") for n in range(5)]


@pytest.mark.requirement("A-38", "X-49")
async def test_the_same_topic_again_in_the_session_is_not_searched_for_again() -> None:
    inner = ScriptedSearch(*HITS)
    search = Cached(inner)
    first = await search.find("Tea or coffee?", 5)
    assert await search.find("  tea or\ncoffee? ", 5) == first == tuple(HITS)
    assert await search.find("Tea or coffee?", 2) == tuple(HITS[:2])
    assert inner.asked == [("Tea or coffee?", 5)]


@pytest.mark.requirement("X-49")
async def test_another_session_shares_nothing() -> None:
    inner = ScriptedSearch(*HITS)
    search = Cached(inner)
    here, there = search.within("channel-1"), search.within("channel-2")
    for each in (search, here, there, here.within("channel-2"), search.within("channel-1")):
        await each.find("tea", 5)
    assert len(inner.asked) == 3


async def test_another_topic_or_more_results_are_searched_for() -> None:
    inner = ScriptedSearch(*HITS)
    search = Cached(inner)
    await search.find("tea", 2)
    await search.find("coffee", 2)
    await search.find("tea", 5)
    assert inner.asked == [("tea", 2), ("coffee", 2), ("tea", 5)]


async def test_a_failure_or_an_empty_result_is_not_remembered() -> None:
    inner = ScriptedSearch(failing=SearchError("It failed."))
    search = Cached(inner)
    with pytest.raises(SearchError):
        await search.find("tea", 5)
    inner.failing = None
    assert await search.find("tea", 5) == ()
    inner.found = tuple(HITS)
    assert await search.find("tea", 5) == tuple(HITS)


async def test_the_memory_is_bounded_and_forgets_what_was_not_used_for_longest() -> None:
    inner = ScriptedSearch(*HITS)
    search = Cached(inner, size=2)
    for topic in ("a", "b", "a", "c", "a", "b"):
        await search.within("s").find(topic, 5)
    assert [query for query, _ in inner.asked] == ["a", "b", "c", "b"]


async def test_what_is_an_hour_old_is_searched_for_again() -> None:
    now = 0.0
    inner = ScriptedSearch(*HITS)
    search = Cached(inner, clock=lambda: now)
    await search.find("tea", 5)
    now = 3599.0
    await search.find("tea", 5)
    assert len(inner.asked) == 1
    now = 3600.0
    await search.find("tea", 5)
    assert len(inner.asked) == 2
