"""Brave Search: an index of its own. GET /res/v1/web/search with a subscription token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.values import SearchHit
from .answer import rows, text_of, texts_of
from .json_request import PATIENCE, JsonRequest
from .keys import read_key

BASE_URL = "https://api.search.brave.com"
KEY = "BRAVE_API_KEY"
_MAX_RESULTS = 20
_CHECK = f"Check {KEY}."


class BraveSearch:
    name = "brave"

    def __init__(
        self, env: Mapping[str, str], base_url: str = BASE_URL, *, timeout: float = PATIENCE
    ) -> None:
        self._env = env
        self._base_url = base_url.strip().rstrip("/")
        self._timeout = timeout

    async def find(self, query: str, count: int) -> Sequence[SearchHit]:
        document = await JsonRequest(
            "Brave Search",
            f"{self._base_url}/res/v1/web/search",
            params={
                "q": query,
                "count": str(max(1, min(count, _MAX_RESULTS))),
                "result_filter": "web",
                "text_decorations": "false",
            },
            headers={"x-subscription-token": read_key(self._env, KEY, "Brave Search")},
            # A token that it does not know is answered with 422, not with 401.
            remedies={401: _CHECK, 403: _CHECK, 422: _CHECK},
            timeout=self._timeout,
        ).send()
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
