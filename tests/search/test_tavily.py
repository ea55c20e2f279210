"""Tavily: its own wire format, its key, its refusals."""

from __future__ import annotations

import pytest

from roundtable.core.errors import SearchError
from roundtable.core.values import SearchHit
from roundtable.search.engines import TavilySearch

from . import formats
from .server import always, answer, search_server

ROW = ("Tea", "https://example.org/tea", "Tea is old.")
ENV = {"TAVILY_API_KEY": f" {formats.KEY}\n"}


@pytest.mark.requirement("C-19", "X-30")
async def test_the_question_is_posted_with_the_key_and_the_results_are_hits() -> None:
    with search_server(always(answer(formats.tavily(ROW)))) as server:
        hits = await TavilySearch(ENV, server.url + "/").find("tea or coffee?", 5)
    assert hits == [SearchHit(title="Tea", url="https://example.org/tea", text="Tea is old.")]
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/search")
    assert asked.headers["authorization"] == f"Bearer {formats.KEY}"
    assert (asked.body["query"], asked.body["max_results"]) == ("tea or coffee?", 5)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "Tavily refused access (HTTP 401). Check TAVILY_API_KEY."),
        (
            432,
            "Tavily refused the search (HTTP 432). "
            "The plan's searches are used up: see https://app.tavily.com.",
        ),
    ],
)
async def test_a_refusal_says_what_to_check_and_repeats_nothing(status: int, message: str) -> None:
    refusal = answer(formats.tavily_error(f"Unauthorized: invalid API key {formats.KEY}."), status)
    with search_server(always(refusal)) as server, pytest.raises(SearchError) as caught:
        await TavilySearch(ENV, server.url).find("tea", 5)
    assert str(caught.value) == message


async def test_the_key_is_read_when_it_is_needed() -> None:
    env: dict[str, str] = {}
    with search_server(always(answer(formats.tavily()))) as server:
        search = TavilySearch(env, server.url)
        with pytest.raises(SearchError, match="Set TAVILY_API_KEY"):
            await search.find("tea", 5)
        env["TAVILY_API_KEY"] = formats.KEY
        assert await search.find("tea", 5) == []
    assert len(server.asked) == 1


async def test_a_key_with_strange_characters_is_not_sent_and_not_shown() -> None:
    for strange in ("tvly-secret\r\nx-evil: 1", "tvly-secret-ключ", "tvly secret"):
        with (
            search_server(always(answer(formats.tavily()))) as server,
            pytest.raises(SearchError) as caught,
        ):
            await TavilySearch({"TAVILY_API_KEY": strange}, server.url).find("tea", 5)
        assert "secret" not in str(caught.value)
        assert server.asked == []
