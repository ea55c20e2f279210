"""The loop: decide, perform, append, until nothing is left to decide."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable

from ..core.decide import Procedure, decide
from ..core.effects import AskPerson, Deliver, Effect, LookUp, Record, TakeTurn, Wait
from ..core.events import ChoiceMade, Event
from ..core.values import OUTSIDE
from ..ports import AssumingAsker
from .deliver import deliver
from .external import await_words
from .journal import Journal
from .tools import Tools
from .turn import settle_lost, take_turn

LEASE_TTL = 30.0
RENEW_EVERY = 10.0
"""Seconds between renewals of the lease, and so till a database is missed that went away while
nobody spoke."""


async def drive(journal: Journal, procedure: Procedure, tools: Tools) -> None:
    """Drive a discussion until it is closed, with a journal that holds its lease; or, where this
    process is leaving, until the calls that are under way have their answers. Cancelling leaves a
    consistent ledger behind."""
    await settle_lost(journal, *journal.state.turns.values())
    work = [
        asyncio.create_task(_Loop(journal, procedure, tools).run()),
        asyncio.create_task(journal.follow()),
        asyncio.create_task(_keep_lease(journal, tools)),
    ]
    telling = asyncio.create_task(_tell_of_leaving(journal, tools.leaving))
    try:
        done, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        for task in work:
            if task in done:
                task.result()
                return
    except asyncio.CancelledError:
        journal.end()
        raise
    finally:
        await _cancelled([*work, telling])


async def _tell_of_leaving(journal: Journal, leaving: asyncio.Event | None) -> None:
    if leaving is not None:
        await leaving.wait()
        journal.changed.set()


async def _keep_lease(journal: Journal, tools: Tools) -> None:
    while True:
        await tools.clock.sleep(RENEW_EVERY)
        await journal.renew_lease(ttl=LEASE_TTL)


class _Loop:
    def __init__(self, journal: Journal, procedure: Procedure, tools: Tools) -> None:
        self.journal = journal
        self.procedure = procedure
        self.tools = tools
        self.under_way: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Decide; store what was decided, or begin it and wait until there is more to decide."""
        journal = self.journal
        try:
            while effects := await self._decide():
                decided_at = journal.state.seq
                await self._drop_unwanted(effects)
                if events := decided_events(effects):
                    await journal.record_decision(events, decided_at)
                    continue
                if self.tools.leaving is None or not self.tools.leaving.is_set():
                    self._begin(effects)
                elif not await self._calls_under_way(effects):
                    return
                await journal.changed.wait()
        finally:
            await _cancelled(self.under_way.values())

    async def _decide(self) -> tuple[Effect, ...]:
        """What is to be done now, as the stored events tell it; a defect in what was begun ends
        the drive."""
        await self.tools.loop_gate.step()
        self.journal.changed.clear()
        for name in [name for name, task in self.under_way.items() if task.done()]:
            self.under_way.pop(name).result()
        return decide(self.journal.state, self.procedure)

    def _begin(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            name = _name(effect)
            if name not in self.under_way:
                task = asyncio.create_task(self._perform(effect), name=name)
                task.add_done_callback(lambda _: self.journal.changed.set())
                self.under_way[name] = task

    async def _calls_under_way(self, effects: tuple[Effect, ...]) -> bool:
        """Whether something is under way that was paid for; whatever else was begun is dropped."""
        paid = tuple(each for each in effects if _is_paid(each))
        await self._drop_unwanted(paid)
        return bool(self.under_way)

    async def _drop_unwanted(self, effects: tuple[Effect, ...]) -> None:
        """What the newest decision no longer asks for is cancelled: a turn that somebody else
        has filled, or everything after a stop."""
        wanted = {_name(effect) for effect in effects}
        dropped = [name for name in self.under_way if name not in wanted]
        await _cancelled([self.under_way.pop(name) for name in dropped])

    def _perform(self, effect: Effect) -> Coroutine[None, None, None]:
        match effect:
            case TakeTurn() if effect.plan.participant.speaker.model == OUTSIDE:
                return await_words(effect.plan, self.journal, self.tools)
            case TakeTurn():
                return take_turn(effect.plan, self.journal, self.tools)
            case LookUp():
                return self._look_up(effect)
            case AskPerson():
                return self._ask(effect)
            case Deliver():
                return deliver(self.journal, self.tools.delivery)
            case Wait():
                return _until_cancelled()
            case Record():
                raise AssertionError("records are appended, not performed")

    async def _look_up(self, effect: LookUp) -> None:
        outcome = await self.tools.lookups.outcome(self.tools.search, effect)
        await self.journal.record((outcome, f"search/{effect.query[:200]}"))

    async def _ask(self, effect: AskPerson) -> None:
        asker = self.tools.asker
        answer = None
        if effect.assumed and isinstance(asker, AssumingAsker):
            answer = await asker.ask_or_assume(effect.text, effect.assumed)
        elif asker is not None:
            answer = await asker.ask(effect.text, effect.options)
        if asker is None and effect.patience:  # whoever answers elsewhere ends this
            await self.tools.clock.sleep(effect.patience)
        chosen = answer is not None and (answer in effect.options if effect.options else answer)
        choice = ChoiceMade(
            question=effect.question,
            answer=answer if chosen and answer else effect.default,
            by="person" if chosen else "default",
        )
        await self.journal.record((choice, f"choice/{effect.question}"))


def decided_events(effects: Iterable[Effect]) -> list[Event]:
    """What was decided that needs nothing from the world, only to be stored."""
    return [event for each in effects if isinstance(each, Record) for event in each.events]


def _is_paid(effect: Effect) -> bool:
    if isinstance(effect, TakeTurn):
        return effect.plan.participant.speaker.model != OUTSIDE
    return isinstance(effect, LookUp | Deliver)


def _name(effect: Effect) -> str:
    match effect:
        case TakeTurn():
            return f"turn {effect.plan.turn_id}"
        case LookUp():
            return f"search {effect.query}"
        case AskPerson():
            return f"question {effect.question}"
        case Deliver():
            return "delivery"
        case Wait():
            return "pause"
        case Record():
            return "record"


async def _until_cancelled() -> None:
    await asyncio.Event().wait()


async def _cancelled(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait until each has said its last word to the ledger."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)
