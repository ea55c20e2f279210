"""DDGS: the keyless search, by the package of that name. It asks public search pages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.util import find_spec

from ..core.errors import SearchError
from ..core.values import SearchHit
from .answer import text_of
from .json_request import ELSEWHERE

_SECONDS_PER_PAGE = 4


def ddgs_installed() -> bool:
    """Whether the package is there, found out without importing it."""
    return find_spec("ddgs") is not None


class DdgsSearch:
    name = "ddgs"

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        """What the search pages list. A thread does it: the package knows no other way, and when
        nobody waits any longer, its own time limits end it."""
        return await asyncio.to_thread(_find, query, count)


def _find(query: str, count: int) -> list[SearchHit]:
    try:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
    except ImportError:
        raise SearchError(
            "The keyless search is not installed.", "Run: pip install 'roundtable[search]'"
        ) from None
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
