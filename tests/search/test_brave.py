"""Brave Search: its own wire format, its token, its refusals."""

from __future__ import annotations

import pytest

from roundtable.core.errors import SearchError
from roundtable.core.values import SearchHit
from roundtable.search.engines import BraveSearch

from . import formats
from .server import always, answer, search_server

ROW = ("Tea", "https://example.org/tea", "Tea is <strong>old</strong>.")
ENV = {"BRAVE_API_KEY": formats.KEY}


@pytest.mark.requirement("C-19", "X-30")
async def test_the_question_is_sent_with_the_token_and_the_results_are_hits() -> None:
    document = formats.brave(ROW)
    document["web"]["results"][0]["extra_snippets"] = ["From China.", 7]
    with search_server(always(answer(document))) as server:
        hits = await BraveSearch(ENV, server.url).find("tea or coffee?", 50)
    text = "Tea is <strong>old</strong>. From China."
    assert hits == [SearchHit(title="Tea", url="https://example.org/tea", text=text)]
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("GET", "/res/v1/web/search")
    assert asked.headers["x-subscription-token"] == formats.KEY
    assert (asked.params["q"], asked.params["count"]) == ("tea or coffee?", "20")


async def test_nothing_found_is_an_empty_list_and_not_a_failure() -> None:
    with search_server(always(answer(formats.brave()))) as server:
        assert await BraveSearch(ENV, server.url).find("qwzx", 5) == []


async def test_a_token_it_does_not_know_is_answered_with_422_and_told_as_that() -> None:
    refusal = answer(formats.brave_error(422, "SUBSCRIPTION_TOKEN_INVALID"), 422)
    with search_server(always(refusal)) as server, pytest.raises(SearchError) as caught:
        await BraveSearch(ENV, server.url).find("tea", 5)
    assert str(caught.value) == ("Brave Search refused the search (HTTP 422). Check BRAVE_API_KEY.")
