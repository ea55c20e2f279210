"""Everything that a search service can do wrong on the wire."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest

from roundtable.core.errors import SearchError
from roundtable.net import MAX_BYTES
from roundtable.ports import Search
from roundtable.search.engines import BraveSearch, SearxngSearch, TavilySearch

from . import formats
from .server import Answer, Asked, always, answer, search_server

ROW = ("Tea", "https://example.org/tea", "Tea is old.")
ENV = {"TAVILY_API_KEY": formats.KEY, "BRAVE_API_KEY": formats.KEY}
SERVICES: dict[str, Callable[[str], Search]] = {
    "SearXNG": lambda url: SearxngSearch(url, timeout=2),
    "Tavily": lambda url: TavilySearch(ENV, url, timeout=2),
    "Brave Search": lambda url: BraveSearch(ENV, url, timeout=2),
}
FAULTS = {
    "401": (answer({"key": formats.KEY}, 401), "refused access (HTTP 401)"),
    "429": (answer({}, 429, retry_after="1"), "allows no more searches for now (HTTP 429)"),
    "500": (answer({}, 500), "has failed (HTTP 500)"),
    "503 as a page": (Answer(b"<h1>Down</h1>", 503, "text/html"), "has failed (HTTP 503)"),
    "204": (Answer(b"", 204, ""), "refused the search (HTTP 204)"),
    "a page": (Answer(b"<html>", 200, "text/html"), "answered with text/html, not with JSON"),
    "no type": (Answer(b"{}", 200, ""), "answered with an unknown format"),
    "a wild type": (Answer(b"{}", 200, "x<script>y"), "answered with an unknown format"),
    "garbage": (Answer(b"{not json at all"), "not valid JSON"),
    "not UTF-8": (Answer(b'{"results": "\xff\xfe\xfa"}'), "not valid JSON"),
    "very deep": (Answer(b"[" * 100_000), "not valid JSON"),
    "huge": (Answer(b" " * (MAX_BYTES + 1)), "sent more than 1 MB"),
    "packed": (
        Answer(gzip.compress(b" " * 50 * MAX_BYTES, 1), headers={"content-encoding": "gzip"}),
        "sent more than 1 MB",
    ),
    "cut": (Answer(b'{"results": [', cut=True), "cannot be reached at 127.0.0.1"),
    "a list": (answer([1, 2]), "answered in a form that it does not document"),
    "another object": (answer({"results": 7}), "answered in a form that it does not document"),
}


@pytest.mark.requirement("X-30", "I-24")
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("fault", FAULTS)
async def test_every_fault_is_one_clear_error_without_the_key(service: str, fault: str) -> None:
    said, words = FAULTS[fault]
    with search_server(always(said)) as server:
        search = SERVICES[service](server.url)
        with pytest.raises(SearchError) as caught:
            await search.find("tea", 5)
    assert caught.value.message.startswith(f"{service} ")
    assert words in caught.value.message
    assert caught.value.remedy
    assert formats.KEY not in f"{caught.value!r} {caught.value} {search!r} {vars(caught.value)}"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


async def test_a_service_that_hangs_is_given_up() -> None:
    words = r"Tavily did not answer within 0\.2 s\."
    with (
        search_server(always(Answer(hang=True))) as server,
        pytest.raises(SearchError, match=words),
    ):
        await TavilySearch(ENV, server.url, timeout=0.2).find("tea", 5)


@pytest.mark.parametrize(
    "address", ["", "localhost:8080", "ftp://example.org", "http://", "http://[::1", "http://a:b"]
)
async def test_an_address_that_is_none_is_said_to_be_that(address: str) -> None:
    with pytest.raises(SearchError, match="Tavily has no usable address"):
        await TavilySearch(ENV, address).find("tea", 5)


async def test_strange_entries_among_the_results_are_left_out() -> None:
    document = formats.tavily(ROW)
    document["results"] += [None, 7, "x", {"url": 5, "title": ["t"]}, {"content": "\ud800 half"}]
    with search_server(always(answer(document))) as server:
        hits = await TavilySearch(ENV, server.url).find("tea", 5)
    assert [(hit.title, hit.url, hit.text) for hit in hits] == [
        ROW,
        ("", "", ""),
        ("", "", "\ufffd half"),
    ]


@pytest.mark.requirement("I-24")
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("status", [302, 307])
async def test_a_redirect_to_another_place_is_not_followed(service: str, status: int) -> None:
    with search_server(always(answer(formats.searxng(ROW)))) as other:
        for target in (other.url, "http://169.254.169.254/latest", "//localhost/", "file:///etc"):
            away = Answer(b"", status, headers={"location": target})
            with (
                search_server(always(away)) as server,
                pytest.raises(SearchError, match=f"{service} redirects to another place"),
            ):
                await SERVICES[service](server.url).find("tea", 5)
    assert other.asked == []


async def test_a_redirect_within_the_same_place_is_followed_a_few_times() -> None:
    def reply(asked: Asked) -> Answer:
        if asked.path == "/search":
            return Answer(b"", 302, headers={"location": "/searx/search?q=tea&format=json"})
        return answer(formats.searxng(ROW))

    with search_server(reply) as server:
        assert len(await SearxngSearch(server.url).find("tea", 5)) == 1
    round_and_round = Answer(b"", 302, headers={"location": "/search"})
    with (
        search_server(always(round_and_round)) as server,
        pytest.raises(SearchError, match="redirects in circles"),
    ):
        await SearxngSearch(server.url).find("tea", 5)
    assert len(server.asked) == 4


@pytest.mark.requirement("I-24")
async def test_a_proxy_of_the_environment_is_not_asked_for_a_server_of_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with search_server(always(answer({}, 500))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        with search_server(always(answer(formats.searxng(ROW)))) as server:
            assert len(await SearxngSearch(server.url).find("tea", 5)) == 1
    assert proxy.asked == []
