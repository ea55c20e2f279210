"""Holding a discussion for a client that may go away and come back."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from ...bootstrap import App
from ...core.errors import NotAllowed, RoundtableError, UnknownDiscussion
from ...core.events import DiscussionClosed, StoredEvent
from ...core.state import State
from ...procedures.opening import OpenRequest
from .errors import WireError
from .model_list import OfferedModel
from .prompt import Prompt
from .requests import RoundtableOptions

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
        model: OfferedModel,
        asked: Prompt,
        wishes: RoundtableOptions,
        body: bytes,
        key: str,
        retry: bool,
    ) -> State:
        """The discussion of this request. The same `key` finds the same one again, in any process;
        a client that tries again by itself (`retry`) finds the one that its first try opened."""
        digest = hashlib.sha256(body).hexdigest()[:24]
        if retry and not key and (known := self._recent.get(digest)) is not None:
            with suppress(UnknownDiscussion):
                return self._driven(await self._app.service.read(known))
        choices = self._app.settings.choices
        created_by = _CREATED_BY + digest
        state = await self._app.service.open(
            OpenRequest(
                topic=asked.topic,
                procedure=model.procedure,
                context=asked.context,
                options={**wishes.options, **model.options},
                language=wishes.language or choices.language,
                budget=wishes.budget or choices.budget,
                created_by=created_by,
                search=wishes.search,
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
