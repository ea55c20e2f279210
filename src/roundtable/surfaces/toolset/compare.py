"""Discussions side by side, for agents."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.text import clip
from ...views.comparison import Comparison, Row
from .base import Id, ToolsetBase
from .operations import operation
from .results import Compared

LONGEST = 160
"""Characters of one value."""


class CompareTools(ToolsetBase):
    """What two discussions have in common, and what not."""

    @operation("compare", "Compare two discussions", read_only=True)
    async def compare(self, discussion_id: Id, other: Id) -> Compared:
        """Answers, votes, confidence, positions and costs of two discussions side by side."""
        one = await self._state(discussion_id)
        named = await self.found({"discussion_id": other})
        self.access.check_call("compare", named)
        another = await self._state(named["discussion_id"])
        found = Comparison.of(one, another)
        result = Compared(
            discussion_ids=list(found.discussions),
            rows=_short(found.rows),
            positions=_short(found.positions),
            hint="Go on from one of them: ask with follows.",
        )
        while result.size() > self.limit and result.positions:
            result.positions.popitem()
        return result


def _short(rows: Sequence[Row]) -> dict[str, list[str]]:
    return {each.what: [clip(cell, LONGEST) for cell in each.cells] for each in rows}
