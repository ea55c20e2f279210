"""Which search is used: the configured one, else one that the environment opens, else ddgs.

::

    search = "…" in the settings      that one; what it lacks it says when it is asked
    SEARXNG_URL or searxng_url        SearXNG
    TAVILY_API_KEY                    Tavily
    BRAVE_API_KEY                     Brave Search
    the package ddgs is installed     ddgs
    nothing of all this               none
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..ports import Search
from .cached import Cached
from .engines import (
    BRAVE_KEY,
    BRAVE_URL,
    TAVILY_KEY,
    TAVILY_URL,
    BraveSearch,
    DdgsSearch,
    SearxngSearch,
    TavilySearch,
    ddgs_installed,
)
from .guarded import Guarded

SearchName = Literal["searxng", "tavily", "brave", "ddgs", "none"]


def choose_search(
    wanted: SearchName | None, searxng_url: str | None, env: Mapping[str, str]
) -> Search | None:
    """The search for this process, guarded and cached, or None. Nothing is called for this."""
    address = (searxng_url or env.get("SEARXNG_URL", "")).strip()
    name = wanted or _found(address, env)
    if name == "none":
        return None
    return Cached(Guarded(_adapter(name, address, env)))


def _found(searxng_url: str, env: Mapping[str, str]) -> SearchName:
    if searxng_url:
        return "searxng"
    if env.get(TAVILY_KEY, "").strip():
        return "tavily"
    if env.get(BRAVE_KEY, "").strip():
        return "brave"
    return "ddgs" if ddgs_installed() else "none"


def _adapter(
    name: Literal["searxng", "tavily", "brave", "ddgs"], searxng_url: str, env: Mapping[str, str]
) -> Search:
    match name:
        case "searxng":
            return SearxngSearch(searxng_url)
        case "tavily":
            return TavilySearch(env, env.get("TAVILY_BASE_URL") or TAVILY_URL)
        case "brave":
            return BraveSearch(env, env.get("BRAVE_BASE_URL") or BRAVE_URL)
        case "ddgs":
            return DdgsSearch()
