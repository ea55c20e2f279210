"""SearXNG: its own wire format, and what it says when it is not set up for it."""

from __future__ import annotations

import pytest

from roundtable.core.errors import SearchError
from roundtable.core.values import SearchHit
from roundtable.search.engines import SearxngSearch

from . import formats
from .server import Answer, always, answer, search_server

ROW = ("Tea", "https://example.org/tea", "Tea is old.")


@pytest.mark.requirement("C-19", "X-30")
@pytest.mark.parametrize("path", ["", "/", "/search"])
async def test_the_server_is_asked_for_json_and_its_results_are_hits(path: str) -> None:
    with search_server(always(answer(formats.searxng(ROW)))) as server:
        hits = await SearxngSearch(server.url + path).find("tea or coffee?", 5)
    assert hits == [SearchHit(title="Tea", url="https://example.org/tea", text="Tea is old.")]
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", "/search")
    assert asked.params == {"q": "tea or coffee?", "format": "json"}
    assert asked.headers["accept"] == "application/json"


async def test_a_server_that_does_not_allow_json_is_told_from_one_that_is_down() -> None:
    refusal = Answer(b"<h1>Forbidden</h1>", 403, "text/html")
    page = Answer(b"<html>results</html>", 200, "text/html; charset=utf-8")
    for reply in (refusal, page):
        with search_server(always(reply)) as server, pytest.raises(SearchError) as caught:
            await SearxngSearch(server.url).find("tea", 5)
        assert "settings.yml" in caught.value.remedy


async def test_a_server_without_an_address_says_which_variable_to_set() -> None:
    with pytest.raises(SearchError, match="Set SEARXNG_URL"):
        await SearxngSearch("").find("tea", 5)


async def test_a_password_in_the_address_is_used_and_never_shown() -> None:
    with search_server(always(answer({}, 500))) as server:
        address = server.url.replace("://", "://someone:hunter2secret@")
        search = SearxngSearch(address)
        with pytest.raises(SearchError) as caught:
            await search.find("tea", 5)
    assert server.asked[0].headers["authorization"].startswith("Basic ")
    assert "hunter2secret" not in f"{caught.value!r} {caught.value} {search!r}"
    with pytest.raises(SearchError) as unreachable:
        await SearxngSearch("http://someone:hunter2secret@127.0.0.1:1").find("tea", 5)
    assert str(unreachable.value) == (
        "SearXNG cannot be reached at 127.0.0.1. Check the address and the network."
    )
    assert unreachable.value.__cause__ is None
