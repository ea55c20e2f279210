"""Holding a discussion for a client that may go away and come back, and telling it in short lines
what goes on: what chat clients show as a model's thoughts."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from ...bootstrap import App
from ...core.errors import NotAllowed, RoundtableError, UnknownDiscussion
from ...core.events import (
    BallotCast,
    BudgetExhausted,
    DiscussionClosed,
    DiscussionOpened,
    DiscussionPaused,
    DiscussionResumed,
    LimitsRaised,
    MaterialAdded,
    NoteAdded,
    ParticipantsSeated,
    ParticipantSubstituted,
    RoundAdvanced,
    RoundsExtended,
    SearchFailed,
    SearchFinished,
    SpeechGiven,
    StageOpened,
    StopRequested,
    StoredEvent,
    TurnFailed,
    WorkflowChosen,
)
from ...core.limits import all_told
from ...core.state import State
from ...core.text import clip, counted, first_sentences
from ...core.values import Participant
from ...procedures.spec import PREFIX as OWN
from ...views.outgoing import outgoing
from ..opening import open_request
from ..tokens.capability import Capability
from ..tokens.opening import open_as
from .model_list import OfferedModel
from .prompt import Prompt, RoundtableOptions
from .wire import WireError

_LONGEST = 320
_HEADING = re.compile(r"(?m)^#{1,6}\s.*$")


def progress_line(record: StoredEvent, state: State) -> str:
    """What to tell of an event; empty if nothing. `state` is what the event led to."""
    return outgoing(_told(record, state))


def _told(record: StoredEvent, state: State) -> str:
    event = record.event
    match event:
        case DiscussionOpened():
            return f"{event.procedure}: {_seats(event.participants)}; host: {event.host.name}"
        case ParticipantsSeated():
            return f"At the table: {_seats(event.participants)}"
        case WorkflowChosen():
            return (
                f"The table chose its workflow: {event.workflow}, {counted(event.rounds, 'round')}"
            )
        case StageOpened():
            who = ", ".join(state.name_of(turn.rpartition("/")[2]) for turn in event.turns)
            place = f"Round {event.round}, " if event.round else ""
            return f"**{place}{event.stage}**: {who}" if who else f"**{place}{event.stage}**"
        case SpeechGiven():
            said = " ".join(first_sentences(_HEADING.sub("", event.text), 2, _LONGEST).split())
            return f"{state.name_of(event.participant)}: {said}"
        case TurnFailed():
            return f"{state.name_of(event.participant)} gave no answer: {_line(event.message)}"
        case ParticipantSubstituted():
            name = state.name_of(event.participant)
            return f"{event.to_model} speaks for {name} in place of {event.from_model}"
        case BallotCast():
            sure = f" ({event.confidence} confidence)" if event.confidence else ""
            void = "" if event.meaningful else " (not counted)"
            return f"{state.name_of(event.participant)} votes: {_line(event.position)}{sure}{void}"
        case SearchFinished():
            return f"Searched the web for {_line(event.query)!r}: {len(event.hits)} results"
        case SearchFailed():
            return f"The web search failed: {_line(event.message)}"
        case NoteAdded():
            return f"Note: {_line(event.text)}"
        case RoundAdvanced():
            return f"Round {event.round} was ended by {event.by or 'hand'}"
        case RoundsExtended():
            return f"{event.by} gave the table {counted(event.rounds, 'more round')}"
        case MaterialAdded():
            return f"{event.by} added material: {_line(event.material.source)}"
        case DiscussionPaused():
            return f"Paused by {event.by}"
        case DiscussionResumed():
            return f"Resumed by {event.by}"
        case BudgetExhausted():
            return f"The budget is used up: {_line(event.detail)}"
        case LimitsRaised():
            return f"The limits are now {all_told(event.budget)}, by {_line(event.by)}"
        case StopRequested():
            return f"Stopped by {event.by}"
        case _:
            return ""


def _seats(participants: tuple[Participant, ...]) -> str:
    return ", ".join(f"{each.name} ({each.speaker.model})" for each in participants) or "nobody yet"


def _line(text: str) -> str:
    return clip(" ".join(text.split()), _LONGEST)


LOOK_EVERY = 1.0
"""Seconds without news after which somebody looks whether the discussion is still driven."""
ALIVE_EVERY = 10.0
REMEMBERED = 1_000
_CREATED_BY = "OpenAI client, request "


class Driver(Protocol):
    """Drives discussions in the background of this process."""

    def drive(self, discussion_id: str) -> None: ...

    def drives(self, discussion_id: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Step:
    """The next event and the state that it led to; without one, nothing happened for a while."""

    record: StoredEvent | None
    state: State


class Runs:
    """Opens discussions for requests, drives them, and follows them to their end."""

    def __init__(self, app: App, driver: Driver) -> None:
        self._app = app
        self._driver = driver
        self._recent: OrderedDict[str, str] = OrderedDict()
        self._stopping: set[asyncio.Task[None]] = set()

    async def open(
        self,
        held: Capability,
        model: OfferedModel,
        asked: Prompt,
        wishes: RoundtableOptions,
        body: bytes,
        key: str,
        retry: bool,
    ) -> State:
        """The discussion of this request. The same `key` finds the same one again, in any process;
        a client that tries again by itself (`retry`) finds the one that its first try opened."""
        # Two clients that ask the same have two discussions.
        digest = hashlib.sha256(held.id.encode() + body).hexdigest()[:24]
        if retry and not key and (known := self._recent.get(digest)) is not None:
            with suppress(UnknownDiscussion):
                return self._driven(await self._app.service.read(known))
        created_by = _CREATED_BY + digest
        options = {**wishes.options, **model.options}
        # The same model asked again in one conversation is the same table.
        same = bool(asked.follows) and not options and await self._held_as(asked.follows, model)
        state, _ = await open_as(
            self._app,
            held,
            open_request(
                self._app.settings,
                asked.topic,
                surface="openai",
                procedure=None if same else model.procedure,
                options=options,
                follows=asked.follows,
                context=asked.context,
                language=wishes.language,
                budget=wishes.budget.given if wishes.budget else None,
                search=wishes.search,
                secrets=wishes.secrets,
                created_by=created_by,
            ),
            key=f"openai/{hashlib.sha256(key.encode()).hexdigest()}" if key else None,
        )
        if state.start.created_by != created_by:
            raise WireError(
                409,
                "This Idempotency-Key was used for another request. Choose a new one.",
                code="idempotency_key_reused",
            )
        self._recent[digest] = state.discussion_id
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)
        return self._driven(state)

    async def verdict_of(self, discussion_id: str) -> State | None:
        """An earlier discussion that came to a verdict, if it is here."""
        with suppress(UnknownDiscussion):
            state = await self._app.service.read(discussion_id)
            return state if state.verdict is not None else None
        return None

    async def _held_as(self, discussion_id: str, model: OfferedModel) -> bool:
        held = (await self._app.service.read(discussion_id)).start.procedure
        return held.removeprefix(OWN) == model.procedure.removeprefix(OWN)

    async def read(self, discussion_id: str) -> State:
        return await self._app.service.read(discussion_id)

    async def stop(self, discussion_id: str) -> None:
        with suppress(NotAllowed):  # it came to its end by itself
            await self._app.service.stop(
                discussion_id, by="the client", reason="the client went away"
            )

    def stop_soon(self, discussion_id: str) -> None:
        """For whoever is being cancelled and cannot wait."""
        task = asyncio.get_running_loop().create_task(self.stop(discussion_id))
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    async def follow(self, discussion_id: str) -> AsyncGenerator[Step, None]:
        """Every event from the first one on until it is closed. WireError if nobody drives it any
        more, as when this server is being stopped."""
        state = State()
        events = self._app.service.events(discussion_id)
        coming: asyncio.Task[StoredEvent | None] | None = None
        quiet = 0.0
        try:
            while True:
                coming = coming or asyncio.create_task(_next(events))
                await asyncio.wait([coming], timeout=LOOK_EVERY)
                if not coming.done():
                    quiet += LOOK_EVERY
                    if not await self._is_driven(state):
                        raise WireError(
                            503,
                            f"The discussion was interrupted. Nothing that was said is lost: go on "
                            f"with `roundtable resume {discussion_id}`, or ask for it again later.",
                            kind="server_error",
                            code="interrupted",
                        )
                    if quiet >= ALIVE_EVERY:
                        quiet = 0.0
                        yield Step(None, state)
                    continue
                record, coming, quiet = coming.result(), None, 0.0
                if record is None:
                    return
                state.apply(record)
                yield Step(record, state)
                if isinstance(record.event, DiscussionClosed):
                    return
        finally:
            if coming is not None:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
            await events.aclose()

    def _driven(self, state: State) -> State:
        if state.closed is None:
            self._driver.drive(state.discussion_id)
        return state

    async def _is_driven(self, state: State) -> bool:
        """By this process, or by another one that holds its lease."""
        if self._driver.drives(state.discussion_id) or not state.seq:
            return True
        found = await self._app.service.summaries(search=state.start.topic[:80])
        row = next((each for each in found if each.discussion_id == state.discussion_id), None)
        return row is not None and not row.interrupted


async def _next(events: AsyncGenerator[StoredEvent, None]) -> StoredEvent | None:
    return await anext(events, None)


def failure(state: State) -> WireError | None:
    """Why a closed discussion has no verdict to deliver."""
    if state.verdict is not None or state.closed is None:
        return None
    closed = state.closed
    told = RoundtableError(
        closed.detail or "The discussion ended without a verdict.", closed.remedy
    )
    return WireError(502, str(told), kind="server_error", code=closed.stop_reason)
