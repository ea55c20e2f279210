"""SearXNG: a metasearch server, usually one's own. GET /search?q=…&format=json, no key."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import SearchError
from ..core.values import SearchHit
from .answer import rows, text_of
from .json_request import PATIENCE, JsonRequest

_NO_JSON = "Its settings.yml must allow JSON: `search: formats: [html, json]`."


class SearxngSearch:
    name = "searxng"

    def __init__(self, base_url: str, *, timeout: float = PATIENCE) -> None:
        self._base_url = base_url.strip().rstrip("/").removesuffix("/search")
        self._timeout = timeout

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        if not self._base_url:
            raise SearchError("SearXNG has no address.", "Set SEARXNG_URL.")
        document = await JsonRequest(
            "SearXNG",
            f"{self._base_url}/search",
            params={"q": query, "format": "json"},
            remedies={403: _NO_JSON},
            not_json=_NO_JSON,
            timeout=self._timeout,
        ).send()
        return [
            SearchHit(
                title=text_of(row, "title"), url=text_of(row, "url"), text=text_of(row, "content")
            )
            # It cannot be asked for a number; some more than wanted, as not all may be shown.
            for row in rows(document, "results", label="SearXNG")[: 4 * count]
        ]
