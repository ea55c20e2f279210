"""The guard: only clean hits from public places come through, and only errors without secrets."""

from __future__ import annotations

import asyncio

import pytest

from roundtable.core.errors import SearchError
from roundtable.core.values import SearchHit
from roundtable.search.engines import ScriptedSearch
from roundtable.search.guarded import MAX_QUERY, MAX_TEXT, MAX_TITLE, Guarded, as_query, kept


def hit(url: str = "https://example.org/", text: str = "", title: str = "T") -> SearchHit:
    return SearchHit(title=title, url=url, text=text or f"About {url}")


@pytest.mark.requirement("I-24", "C-20")
async def test_hits_are_cleaned_and_private_places_dropped() -> None:
    inner = ScriptedSearch(
        hit("http://169.254.169.254/latest", "secrets"),
        hit("https://example.org/a", "Tea<script>steal()</script> is <b>old</b>.", "<i>Tea</i>"),
        hit("javascript:alert(1)", "x"),
        hit(" https://example.org/b ", "y", ""),
        hit("https://example.org/c", "<script>only()</script>", ""),
    )
    assert await Guarded(inner).find("tea", 5) == [
        SearchHit(title="Tea", url="https://example.org/a", text="Tea is old."),
        SearchHit(title="example.org", url="https://example.org/b", text="y"),
    ]


@pytest.mark.requirement("I-24")
def test_hits_are_few_and_short() -> None:
    many = [hit(f"https://example.org/{n}", f"{n} " + "x" * 5000, "t" * 500) for n in range(50)]
    found = kept(many, 5)
    assert [each.url for each in found] == [f"https://example.org/{n}" for n in range(5)]
    assert {len(each.text) for each in found} == {MAX_TEXT}
    assert {len(each.title) for each in found} == {MAX_TITLE}


def test_the_same_place_and_the_same_text_come_once() -> None:
    found = kept(
        [
            hit("https://example.org/tea", "one"),
            hit("http://www.example.org/tea/?utm_source=x#top", "two"),
            hit("https://example.org/tea?page=2", "three"),
            hit("https://copy.example.com/", "one"),
        ],
        5,
    )
    assert [each.text for each in found] == ["one", "three"]


async def test_the_query_is_the_question_as_far_as_a_stranger_may_see_it() -> None:
    inner = ScriptedSearch()
    await Guarded(inner).find("Tea or coffee?", 5)
    await Guarded(inner).find("Is\n my key  sk-ant-REDACTED safe?", 500)
    assert inner.asked == [("Tea or coffee?", 5), ("Is my key [redacted] safe?", 20)]


def test_a_long_question_is_cut_to_what_services_take() -> None:
    assert len(as_query("word " * 1000).split()) == 50
    assert len(as_query("茶" * 1000)) == MAX_QUERY


@pytest.mark.requirement("X-30")
async def test_an_error_of_another_kind_is_told_by_its_name_only() -> None:
    with pytest.raises(SearchError) as caught:
        await Guarded(ScriptedSearch(failing=OSError("https://u:secret@example.org"))).find("q", 5)
    assert caught.value.message == "The search failed (scripted, OSError)."
    assert caught.value.__suppress_context__


async def test_being_cancelled_is_not_an_error_of_the_search() -> None:
    with pytest.raises(asyncio.CancelledError):
        await Guarded(ScriptedSearch(failing=asyncio.CancelledError())).find("q", 5)  # type: ignore[arg-type]
