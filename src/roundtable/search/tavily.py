"""Tavily: a search made for models. POST /search with a bearer key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.values import SearchHit
from .answer import rows, text_of
from .json_request import PATIENCE, JsonRequest
from .keys import read_key

BASE_URL = "https://api.tavily.com"
KEY = "TAVILY_API_KEY"
_MAX_RESULTS = 20
_CHECK = f"Check {KEY}."
_PLAN = "The plan's searches are used up: see https://app.tavily.com."


class TavilySearch:
    name = "tavily"

    def __init__(
        self, env: Mapping[str, str], base_url: str = BASE_URL, *, timeout: float = PATIENCE
    ) -> None:
        self._env = env
        self._base_url = base_url.strip().rstrip("/")
        self._timeout = timeout

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        document = await JsonRequest(
            "Tavily",
            f"{self._base_url}/search",
            method="POST",
            body={
                "query": query,
                "max_results": min(count, _MAX_RESULTS),
                "search_depth": "basic",
                "include_answer": False,
                "include_raw_content": False,
                "include_images": False,
            },
            headers={"authorization": f"Bearer {read_key(self._env, KEY, 'Tavily')}"},
            remedies={401: _CHECK, 403: _CHECK, 432: _PLAN, 433: _PLAN},
            timeout=self._timeout,
        ).send()
        return [
            SearchHit(
                title=text_of(row, "title"), url=text_of(row, "url"), text=text_of(row, "content")
            )
            for row in rows(document, "results", label="Tavily")
        ]
