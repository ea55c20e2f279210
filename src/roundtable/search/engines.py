"""The search services: SearXNG, Tavily, Brave Search, DDGS, and a scripted one for rehearsals.

What they answer is whatever their servers put there. What they say about a failure is never shown:
it may repeat the key, which is read when it is needed and never kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import Any

from ..core.errors import NetError, SearchError
from ..core.extras import install
from ..core.text import readable
from ..core.values import SearchHit
from ..net import Method, fit_for_a_header, request
from .guarded import ELSEWHERE

PATIENCE = 9.0
"""Seconds: less than the engine waits, so that the message can name the service."""


async def ask(
    label: str,
    url: str,
    *,
    method: Method = "GET",
    params: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    remedies: Mapping[int, str],
    not_json: str = ELSEWHERE,
    timeout: float,
) -> Any:
    """A service's document. SearchError if there is none; `remedies` say what to do about a
    refusal, by its status, and `not_json` about an answer in another format."""
    try:
        answer = await request(
            label,
            method,
            url,
            params=params,
            body=body,
            headers={"accept": "application/json", **(headers or {})},
            timeout=timeout,
            redirects="same place",
        )
        if answer.status == 200:
            return answer.json()
    except NetError as error:
        other = not_json if error.cause == "format" else ELSEWHERE
        raise SearchError(error.message, error.remedy or other) from None
    raise SearchError(
        f"{label} {_refusal(answer.status)} (HTTP {answer.status}).",
        remedies.get(answer.status, ELSEWHERE),
    )


def _refusal(status: int) -> str:
    if status in (401, 403):
        return "refused access"
    if status in (402, 429):
        return "allows no more searches for now"
    return "has failed" if status >= 500 else "refused the search"


def rows(document: Any, *path: str, label: str) -> list[Mapping[str, Any]]:
    """The list of results under `path`; entries that are no objects are left out."""
    found = document
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    if not isinstance(found, list):
        raise SearchError(f"{label} answered in a form that it does not document.", ELSEWHERE)
    return [row for row in found if isinstance(row, Mapping)]


def text_of(row: Mapping[str, Any], name: str) -> str:
    """A field's text; empty if it is missing or something else."""
    value = row.get(name)
    return readable(value) if isinstance(value, str) else ""


def texts_of(row: Mapping[str, Any], name: str) -> list[str]:
    """The texts of a field that holds a list of them."""
    values = row.get(name)
    return [readable(v) for v in values if isinstance(v, str)] if isinstance(values, list) else []


def read_key(env: Mapping[str, str], variable: str, label: str) -> str:
    """The key. SearchError, without the key in it, if there is none or it cannot be one."""
    key = env.get(variable, "").strip()
    if not key:
        raise SearchError(f"{label} needs a key.", f"Set {variable}.")
    if not fit_for_a_header(key):
        raise SearchError(
            f"{variable} contains characters that no key has.", "Copy the key once more."
        )
    return key


_SEARXNG_NO_JSON = "Its settings.yml must allow JSON: `search: formats: [html, json]`."


class SearxngSearch:
    name = "searxng"

    def __init__(self, base_url: str, *, timeout: float = PATIENCE) -> None:
        self._base_url = base_url.strip().rstrip("/").removesuffix("/search")
        self._timeout = timeout

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        if not self._base_url:
            raise SearchError("SearXNG has no address.", "Set SEARXNG_URL.")
        document = await ask(
            "SearXNG",
            f"{self._base_url}/search",
            params={"q": query, "format": "json"},
            remedies={403: _SEARXNG_NO_JSON},
            not_json=_SEARXNG_NO_JSON,
            timeout=self._timeout,
        )
        return [
            SearchHit(
                title=text_of(row, "title"), url=text_of(row, "url"), text=text_of(row, "content")
            )
            # It cannot be asked for a number; some more than wanted, as not all may be shown.
            for row in rows(document, "results", label="SearXNG")[: 4 * count]
        ]


TAVILY_URL = "https://api.tavily.com"
TAVILY_KEY = "TAVILY_API_KEY"
_TAVILY_RESULTS = 20
_CHECK_TAVILY = f"Check {TAVILY_KEY}."
_TAVILY_PLAN = "The plan's searches are used up: see https://app.tavily.com."


class TavilySearch:
    name = "tavily"

    def __init__(
        self, env: Mapping[str, str], base_url: str = TAVILY_URL, *, timeout: float = PATIENCE
    ) -> None:
        self._env = env
        self._base_url = base_url.strip().rstrip("/")
        self._timeout = timeout

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        document = await ask(
            "Tavily",
            f"{self._base_url}/search",
            method="POST",
            body={
                "query": query,
                "max_results": min(count, _TAVILY_RESULTS),
                "search_depth": "basic",
                "include_answer": False,
                "include_raw_content": False,
                "include_images": False,
            },
            headers={"authorization": f"Bearer {read_key(self._env, TAVILY_KEY, 'Tavily')}"},
            remedies={401: _CHECK_TAVILY, 403: _CHECK_TAVILY, 432: _TAVILY_PLAN, 433: _TAVILY_PLAN},
            timeout=self._timeout,
        )
        return [
            SearchHit(
                title=text_of(row, "title"), url=text_of(row, "url"), text=text_of(row, "content")
            )
            for row in rows(document, "results", label="Tavily")
        ]


BRAVE_URL = "https://api.search.brave.com"
BRAVE_KEY = "BRAVE_API_KEY"
_BRAVE_RESULTS = 20
_CHECK_BRAVE = f"Check {BRAVE_KEY}."


class BraveSearch:
    name = "brave"

    def __init__(
        self, env: Mapping[str, str], base_url: str = BRAVE_URL, *, timeout: float = PATIENCE
    ) -> None:
        self._env = env
        self._base_url = base_url.strip().rstrip("/")
        self._timeout = timeout

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        document = await ask(
            "Brave Search",
            f"{self._base_url}/res/v1/web/search",
            params={
                "q": query,
                "count": str(max(1, min(count, _BRAVE_RESULTS))),
                "result_filter": "web",
                "text_decorations": "false",
            },
            headers={"x-subscription-token": read_key(self._env, BRAVE_KEY, "Brave Search")},
            # A token that it does not know is answered with 422, not with 401.
            remedies={401: _CHECK_BRAVE, 403: _CHECK_BRAVE, 422: _CHECK_BRAVE},
            timeout=self._timeout,
        )
        if isinstance(document, dict) and document.get("type") == "search":
            document.setdefault("web", {"results": []})  # left out where nothing was found
        return [
            SearchHit(
                title=text_of(row, "title"),
                url=text_of(row, "url"),
                text=" ".join([text_of(row, "description"), *texts_of(row, "extra_snippets")]),
            )
            for row in rows(document, "web", "results", label="Brave Search")
        ]


_SECONDS_PER_PAGE = 4
_THREADS = 32


def ddgs_installed() -> bool:
    """Whether the package is there, found out without importing it."""
    return find_spec("ddgs") is not None


class DdgsSearch:
    name = "ddgs"

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        """What the search pages list. A thread does it: the package knows no other way, and when
        nobody waits any longer, its own time limits end it. It is none of those that all else
        shares: searches would stand in its way for seconds."""
        return await asyncio.get_running_loop().run_in_executor(_threads(), _find, query, count)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="roundtable-search")


def _find(query: str, count: int) -> list[SearchHit]:
    try:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
    except ImportError:
        raise SearchError("The keyless search is not installed.", install("search")) from None
    try:
        found = DDGS(timeout=_SECONDS_PER_PAGE).text(query, max_results=count)
    except TimeoutException:
        raise SearchError("The search pages did not answer in time.", ELSEWHERE) from None
    except RatelimitException:
        raise SearchError("The search pages allow no more searches for now.", ELSEWHERE) from None
    except DDGSException as error:
        if str(error) == "No results found.":
            return []
        raise SearchError("The search pages could not be read.", ELSEWHERE) from None
    return [
        SearchHit(title=text_of(row, "title"), url=text_of(row, "href"), text=text_of(row, "body"))
        for row in found
    ]


class ScriptedSearch:
    name = "scripted"

    def __init__(self, *found: SearchHit, failing: Exception | None = None) -> None:
        self.found = found
        self.failing = failing
        self.asked: list[tuple[str, int]] = []
        """Every query that came, with its count."""

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        self.asked.append((query, count))
        if self.failing is not None:
            raise self.failing
        return self.found
