"""The past: what models answered to earlier questions, for the track record of a new table.

Read from the ledger's own deliberations, and only there: in them everybody answers alone first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..core.errors import RoundtableError
from ..core.state import fold
from ..core.track_record import ENOUGH, independent_answers
from ..ports import Casting, CastingRequest, ChosenExperts, DiscussionSummary, Ledger

SOURCE = "deliberation"
LOOKED_THROUGH = 1000
"""So many of the newest discussions are looked through for deliberations."""
MOST = 100
"""So many of these are read: more would tell of models as they were, and take longer."""


class CastingWithPast:
    """Another `Casting`, whose tables know what their models answered before, if they want to."""

    def __init__(self, casting: Casting, ledger: Ledger) -> None:
        self._casting = casting
        self._ledger = ledger
        self._read: dict[str, Mapping[str, str]] = {}
        """What was read before: a discussion that is over does not change."""

    async def choose(self, topic: str, casting_request: CastingRequest) -> ChosenExperts:
        chosen_experts = await self._casting.choose(topic, casting_request)
        return (
            replace(chosen_experts, past=await self._past(topic))
            if casting_request.past
            else chosen_experts
        )

    async def _past(self, topic: str) -> tuple[Mapping[str, str], ...]:
        """Each question once, the newest first, and never the one that is asked now."""
        newest: dict[str, DiscussionSummary] = {}
        for each in await self._ledger.summaries(limit=LOOKED_THROUGH):
            if each.procedure == SOURCE and each.status == "concluded":
                newest.setdefault(_same(each.topic), each)
        newest.pop(_same(topic), None)
        if len(newest) < ENOUGH:
            return ()  # too few to tell anything, so that none needs to be read
        rows = [await self._answers(each.discussion_id) for each in list(newest.values())[:MOST]]
        return tuple(row for row in rows if row)

    async def _answers(self, discussion_id: str) -> Mapping[str, str]:
        if discussion_id not in self._read:
            try:
                state = fold(await self._ledger.read(discussion_id))
            except RoundtableError:
                return {}  # deleted meanwhile, or of a newer program: it tells nothing
            self._read[discussion_id] = independent_answers(state)
        return self._read[discussion_id]


def _same(topic: str) -> str:
    return " ".join(topic.casefold().split())
