"""One turn on a stage of its own: a discussion in memory, a plan, and voices by function."""

from __future__ import annotations

from typing import Any

from roundtable.core.contracts import ANYTHING, Contract
from roundtable.core.effects import PromptPlan, Task, TurnPlan, TurnPolicy, Untrusted
from roundtable.core.events import DiscussionOpened, Event, NewEvent, StoredEvent
from roundtable.core.state import Turn
from roundtable.core.values import Budget, Participant, SpeakerRef
from roundtable.engine.journal import Journal
from roundtable.engine.tools import Draft, Tools
from roundtable.engine.turn import take_turn
from roundtable.ledger.memory import MemoryLedger
from roundtable.ports import Ids
from tests.rehearsal import TestClock, TestIds, Voice, Voices

DISCUSSION = "rt_0000000a"
PRICED = {"usd_per_million_in": 1.0, "usd_per_million_out": 5.0}
QUICK = TurnPolicy(timeout=90, deadline=90)


def speaker(model: str, **facts: Any) -> SpeakerRef:
    return SpeakerRef(model=model, **{**PRICED, **facts})


class Scene:
    """A discussion with one participant, whose turn can be taken again and again."""

    def __init__(
        self,
        voices: dict[str, Voice],
        *,
        policy: TurnPolicy = QUICK,
        contract: Contract = ANYTHING,
        question: str = "Tea or coffee?",
        budget: Budget | None = None,
        facts: dict[str, Any] | None = None,
        ids: Ids | None = None,
    ) -> None:
        self.voices = voices
        self.clock = TestClock()
        self.ledger = MemoryLedger(self.clock.monotonic)
        self.drafts: list[Draft] = []
        seat = Participant(
            id="scholar",
            name="Scholar",
            role="Scholar",
            speakers=tuple(speaker(model, **(facts or {})) for model in voices),
        )
        self.opened = DiscussionOpened(
            topic=question,
            procedure="council",
            participants=(seat,),
            host=seat,
            budget=budget or Budget(),
        )
        self.plan = TurnPlan(
            turn_id="1/answer/scholar",
            stage="answer",
            round=1,
            participant=seat,
            label="council-scholar-r1",
            task=Task(
                PromptPlan(
                    "council/briefing",
                    {
                        "question": Untrusted("question", question),
                        "context": (),
                        "remarks": (),
                        "language": "auto",
                        "today": "2026-01-02",
                        "clarify": False,
                    },
                ),
                contract,
                max_tokens=500,
            ),
            policy=policy,
        )
        self.tools = Tools(
            speakers=Voices(voices),
            clock=self.clock,
            ids=ids or TestIds(),
            dearest_price=(10.0, 50.0),
            on_draft=self.drafts.append,
        )

    async def open(self) -> None:
        await self.ledger.append(DISCUSSION, [NewEvent(self.opened, self.clock.now())], expected=0)

    async def append(self, event: Event, key: str | None = None) -> None:
        """As somebody else would, in another process."""
        await self.ledger.append(DISCUSSION, [NewEvent(event, self.clock.now(), key)])

    async def journal(self) -> Journal:
        return await Journal.load(self.ledger, self.clock, DISCUSSION)

    async def take(self) -> Turn:
        """Take the turn as a new process would: from what the ledger says."""
        journal = await self.journal()
        await take_turn(self.plan, journal, self.tools)
        turn = journal.state.turn(self.plan.turn_id)
        return turn or Turn(self.plan.turn_id)

    async def records(self) -> list[StoredEvent]:
        return await self.ledger.read(DISCUSSION)

    async def types(self) -> list[str]:
        return [record.event.type for record in (await self.records())[1:]]
