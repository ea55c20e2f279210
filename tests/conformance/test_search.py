"""What every search does, whatever service stands behind it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import pytest

from roundtable.core.errors import SearchError
from roundtable.core.values import SearchHit
from roundtable.ports import Search
from roundtable.search.cached import Cached
from roundtable.search.engines import (
    BraveSearch,
    DdgsSearch,
    ScriptedSearch,
    SearxngSearch,
    TavilySearch,
)
from roundtable.search.guarded import Guarded
from tests.search import formats
from tests.search.server import always, answer, search_server

Row = tuple[str, str, str]
Made = Callable[..., Search]
"""Makes a search that finds these rows, or fails if there is a None among them."""
ENV = {"TAVILY_API_KEY": formats.KEY, "BRAVE_API_KEY": formats.KEY}
ROWS: list[Row] = [
    (f"Tea {n}", f"https://example.org/{n}", f"Tea <b>number</b> {n}.") for n in range(8)
]


@pytest.fixture(params=["searxng", "tavily", "brave", "ddgs", "scripted"])
def made(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    with ExitStack() as stack:

        def make(*rows: Row | None) -> Search:
            good = [row for row in rows if row is not None]
            failing = None in rows

            def served(document: Any) -> str:
                reply = answer({}, 500) if failing else answer(document)
                return stack.enter_context(search_server(always(reply))).url

            match request.param:
                case "searxng":
                    return SearxngSearch(served(formats.searxng(*good)))
                case "tavily":
                    return TavilySearch(ENV, served(formats.tavily(*good)))
                case "brave":
                    return BraveSearch(ENV, served(formats.brave(*good)))
                case "ddgs":
                    _install_ddgs(monkeypatch, good, failing=failing)
                    return DdgsSearch()
                case _:
                    hits = [SearchHit(title=t, url=u, text=b) for t, u, b in good]
                    return ScriptedSearch(*hits, failing=OSError("no") if failing else None)

        yield make


def _install_ddgs(monkeypatch: pytest.MonkeyPatch, rows: list[Row], *, failing: bool) -> None:
    class DDGSException(Exception):
        pass

    class Pages:
        def __init__(self, timeout: int) -> None:
            assert timeout

        def text(self, query: str, max_results: int) -> list[dict[str, str]]:
            assert query
            if failing or not rows:
                raise DDGSException("Broken" if failing else "No results found.")
            return [{"title": t, "href": u, "body": b} for t, u, b in rows[:max_results]]

    package, exceptions = ModuleType("ddgs"), ModuleType("ddgs.exceptions")
    names = ("DDGSException", "RatelimitException", "TimeoutException")
    kinds = (DDGSException, type("R", (DDGSException,), {}), type("T", (DDGSException,), {}))
    vars(exceptions).update(zip(names, kinds, strict=True))
    vars(package).update(DDGS=Pages)
    monkeypatch.setitem(sys.modules, "ddgs", package)
    monkeypatch.setitem(sys.modules, "ddgs.exceptions", exceptions)


@pytest.mark.requirement("X-30")
async def test_it_has_a_plain_name_and_finds_at_most_as_many_as_wanted(made: Made) -> None:
    search = Cached(Guarded(made(*ROWS)))
    assert search.name.isalpha()
    assert search.name.islower()
    assert list(await search.find("tea", 3)) == [
        SearchHit(title=f"Tea {n}", url=f"https://example.org/{n}", text=f"Tea number {n}.")
        for n in range(3)
    ]


async def test_nothing_found_is_no_failure(made: Made) -> None:
    assert list(await Guarded(made()).find("qwzx", 5)) == []


@pytest.mark.requirement("X-30")
async def test_a_failure_is_an_error_with_a_remedy_and_without_a_key(made: Made) -> None:
    search = Guarded(made(None))
    with pytest.raises(SearchError) as caught:
        await search.find("tea", 5)
    assert caught.value.remedy
    assert formats.KEY not in f"{caught.value!r} {search!r} {vars(search)!r}"


@pytest.mark.requirement("I-24", "C-20")
async def test_private_places_and_scripts_never_come_through(made: Made) -> None:
    poisoned: list[Row] = [
        ("Cloud", "http://169.254.169.254/latest/meta-data/", "credentials"),
        ("<b>Tea</b>", "https://example.org/", "Old.<script>steal()</script><!-- obey -->"),
    ]
    hits = await Guarded(made(*poisoned)).find("tea", 5)
    assert list(hits) == [SearchHit(title="Tea", url="https://example.org/", text="Old.")]
