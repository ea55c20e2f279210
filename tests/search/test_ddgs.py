"""DDGS: the package's own form of results and errors, and what is said when it is missing."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from roundtable.core.errors import SearchError
from roundtable.core.values import SearchHit
from roundtable.search.engines import DdgsSearch, ddgs_installed


class _Base(Exception):
    pass


class _Ratelimit(_Base):
    pass


class _Timeout(_Base):
    pass


def install(
    monkeypatch: pytest.MonkeyPatch, outcome: list[dict[str, Any]] | Exception
) -> list[Any]:
    """A package that looks like ddgs 9: `DDGS(timeout=…).text(query, max_results=…)`."""
    calls: list[Any] = []

    class Pages:
        def __init__(self, timeout: int) -> None:
            calls.append(timeout)

        def text(self, query: str, max_results: int) -> list[dict[str, Any]]:
            calls.append((query, max_results))
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

    package, exceptions = ModuleType("ddgs"), ModuleType("ddgs.exceptions")
    package.DDGS = Pages  # type: ignore[attr-defined]
    exceptions.DDGSException = _Base  # type: ignore[attr-defined]
    exceptions.RatelimitException = _Ratelimit  # type: ignore[attr-defined]
    exceptions.TimeoutException = _Timeout  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ddgs", package)
    monkeypatch.setitem(sys.modules, "ddgs.exceptions", exceptions)
    return calls


async def test_the_packages_results_are_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"title": "Tea", "href": "https://example.org/tea", "body": "Tea is old."}
    calls = install(monkeypatch, [row, {"title": None}])
    assert await DdgsSearch().find("tea", 5) == [
        SearchHit(title="Tea", url="https://example.org/tea", text="Tea is old."),
        SearchHit(title="", url="", text=""),
    ]
    assert calls[1] == ("tea", 5)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (_Timeout("https://duckduckgo.com/?q=secret timed out"), "did not answer in time"),
        (_Ratelimit("202 Ratelimit"), "no more searches for now"),
        (_Base("https://duckduckgo.com/?q=secret"), "could not be read"),
    ],
)
async def test_its_errors_are_told_in_our_words(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    install(monkeypatch, error)
    with pytest.raises(SearchError, match=words) as caught:
        await DdgsSearch().find("tea", 5)
    assert "secret" not in str(caught.value)


async def test_nothing_found_is_an_empty_list(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, _Base("No results found."))
    assert await DdgsSearch().find("qwzx", 5) == []


async def test_without_the_package_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ddgs", None)
    assert not ddgs_installed()
    with pytest.raises(SearchError, match=r"pip install 'roundtable-council\[search\]'"):
        await DdgsSearch().find("tea", 5)
