"""The guard: what a search finds is cleaned here before anything else sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from ..core.errors import SearchError
from ..core.text import clip, redact
from ..core.values import SearchHit
from ..ports import Search
from .addresses import is_public
from .cleaning import clean
from .json_request import ELSEWHERE

MAX_HITS = 20
MAX_TITLE = 200
MAX_TEXT = 1500
MAX_QUERY = 400
MAX_QUERY_WORDS = 50
"""Brave and Tavily take no more, and no search does better with more."""


class Guarded:
    """A search whose hits are plain text from public addresses and whose errors tell no secrets."""

    def __init__(self, search: Search) -> None:
        self._search = search

    @property
    def name(self) -> str:
        return self._search.name

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        """At most `count` clean hits. SearchError if the search fails, however it does."""
        count = max(1, min(count, MAX_HITS))
        try:
            found = await self._search.find(as_query(query), count)
        except SearchError:
            raise
        except Exception as error:
            # Its own words may hold anything, an address with a key in it included.
            raise SearchError(
                f"The search failed ({self.name}, {type(error).__name__}).", ELSEWHERE
            ) from None
        return kept(found, count)


def as_query(topic: str) -> str:
    """A topic as it is sent to a stranger: one line, not too long, without credentials."""
    words = redact(topic).split()[:MAX_QUERY_WORDS]
    return clip(" ".join(words), MAX_QUERY, ellipsis="")


def kept(found: Iterable[SearchHit], count: int) -> list[SearchHit]:
    """The first `count` hits that may be shown, cleaned, each place and each text once."""
    hits: list[SearchHit] = []
    seen: set[str] = set()
    for hit in found:
        if len(hits) == count:
            break
        url = hit.url.strip()
        if not is_public(url):
            continue
        title, text = clean(hit.title, MAX_TITLE), clean(hit.text, MAX_TEXT)
        marks = {_place(url), text or url}
        if seen & marks or not (title or text):
            continue
        seen |= marks
        hits.append(SearchHit(title=title or urlsplit(url).netloc, url=url, text=text))
    return hits


def _place(url: str) -> str:
    """What two spellings of one address have in common."""
    parts = urlsplit(url)
    query = "&".join(p for p in parts.query.split("&") if not p.lower().startswith("utm_"))
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}:{parts.port or ''}{parts.path.rstrip('/')}?{query}"
