"""The past: what earlier discussions of a ledger tell a new one, gathered once when it is opened.

What models answered before they heard others tells which of them are one voice, and how far each
was to be trusted; how decisions turned out tells how sure the next one may be. What is found is
kept in the options of the new discussion, so that counting again always comes to the same. A ledger
belongs to one user, or to people who decide together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core.assessment import kept_outcomes, unadjusted_probability
from ..core.confidence import LEAST_OUTCOMES, learn_outcomes
from ..core.errors import RoundtableError
from ..core.state import fold
from ..core.track_record import ENOUGH, Answers, independent_answers
from ..core.twins import ENOUGH_TO_COMPARE
from ..core.values import OUTSIDE, Options, Participant, TurnedOut
from ..core.voter_groups import kept_twins
from ..core.voters import bare_model, merge_twins
from ..ports import DiscussionSummary, Ledger

LOOKED_THROUGH = 1000
"""So many of the newest discussions are looked through."""
MOST = 100
"""So many of them are read: more would tell of models as they were, and take longer."""

FEWEST_MODELS = 4
"""Two models are told from two who are just both right by two others at the same table."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What one discussion that is over tells."""

    answers: Answers
    probability: float | None


class Past:
    """Reads what is over, each discussion once."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._read: dict[str, _Told] = {}
        """Whatever is said about a discussion that is over, its answers do not change."""

    async def answers(self, topic: str, least: int = ENOUGH) -> tuple[Answers, ...]:
        """What each model answered to earlier questions before it heard others: each question
        once, the newest first, and never the one that is asked now. Nothing if there are fewer
        than `least`, so that none needs to be read."""
        return await self._answers(await self._rows(), topic, least)

    async def kept(self, topic: str, seated: Sequence[Participant]) -> Options:
        """What a new discussion keeps of it, for its options."""
        rows = await self._rows()
        return {**await self._twins(rows, topic, seated), **await self._outcomes(rows)}

    async def _rows(self) -> list[DiscussionSummary]:
        return await self._ledger.summaries(limit=LOOKED_THROUGH)

    async def _answers(
        self, rows: Iterable[DiscussionSummary], topic: str, least: int
    ) -> tuple[Answers, ...]:
        newest: dict[str, DiscussionSummary] = {}
        for each in rows:
            if each.status == "concluded":
                newest.setdefault(_same(each.topic), each)
        newest.pop(_same(topic), None)
        if len(newest) < least:
            return ()
        told = [await self._told(each.discussion_id) for each in list(newest.values())[:MOST]]
        return tuple(each.answers for each in told if each.answers)

    async def _twins(
        self, rows: Iterable[DiscussionSummary], topic: str, seated: Sequence[Participant]
    ) -> Options:
        seats = {each.id: each.speaker for each in seated}
        models = {bare_model(ref.model) for ref in seats.values()} - {"", OUTSIDE}
        if len(models) < FEWEST_MODELS:
            return {}
        history = await self._answers(rows, topic, ENOUGH_TO_COMPARE)
        return kept_twins(merge_twins(seats, history))

    async def _outcomes(self, rows: Iterable[DiscussionSummary]) -> Options:
        known = [(each.discussion_id, each.outcome) for each in rows if each.outcome is not None]
        if len(known) < LEAST_OUTCOMES:
            return {}
        past: list[tuple[float, TurnedOut]] = []
        for discussion_id, turned_out in known[:MOST]:
            probability = (await self._told(discussion_id)).probability
            if probability is not None:
                past.append((probability, turned_out))
        return kept_outcomes(learn_outcomes(past))

    async def _told(self, discussion_id: str) -> _Told:
        if discussion_id not in self._read:
            try:
                state = fold(await self._ledger.read(discussion_id))
                told = _Told(independent_answers(state), unadjusted_probability(state))
            except RoundtableError:
                return _Told({}, None)  # deleted meanwhile, or of a newer program
            self._read[discussion_id] = told
        return self._read[discussion_id]


def _same(topic: str) -> str:
    return " ".join(topic.casefold().split())
