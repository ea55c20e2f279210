"""The scripted search: finds what it was given, or fails as it was told. For rehearsals."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.values import SearchHit


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
