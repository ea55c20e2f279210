"""Subscriptions: clients hear when a discussion that they watch has something new.

Two forms, because clients of two eras exist: since 2026 one request listens to a stream of
updates; before, each resource was subscribed to and updates came unasked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from ...core.errors import RoundtableError
from ...core.state import State, fold
from ...core.text import redact
from ...engine.service import Service
from ..toolset.status import progress_line
from ..toolset.toolset import Toolset
from .callers import Callers
from .resources import check_resource, discussion_of

log = logging.getLogger(__name__)
LOOK_EVERY = 1.0
"""Seconds between looks at the list of discussions, while somebody watches it."""
ROWS = 50
SESSION = "mcp-session-id"
Context = ServerRequestContext[Any, Any]


class Subscriptions:
    """Watches what clients have subscribed to."""

    def __init__(
        self, service: Service, callers: Callers, tools: Callable[[Context], Toolset]
    ) -> None:
        """`tools` are those of the client behind a request, with its rights."""
        self._service = service
        self._callers = callers
        self._tools = tools
        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus)
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        wanted = list(params.notifications.resource_subscriptions or ())

        async def follow(uri: str, changes: AsyncIterator[None]) -> None:
            async for _ in changes:
                await self._bus.publish(ResourceUpdated(uri=uri))

        # What the client may have read already is read here before it is told that we listen.
        watched = [(uri, await self._changes(ctx, uri)) for uri in wanted]
        async with _beside(*(follow(uri, changes) for uri, changes in watched)):
            return await self._while_held(ctx, self._handler(ctx, params))

    async def _while_held(
        self, ctx: Context, listening: Coroutine[Any, Any, types.SubscriptionsListenResult]
    ) -> types.SubscriptionsListenResult:
        """Listen, for as long as the client's token stands."""
        listens = asyncio.create_task(listening)
        ended = asyncio.create_task(self._callers.ended(ctx))
        try:
            await asyncio.wait([listens, ended], return_when=asyncio.FIRST_COMPLETED)
            if listens.done():
                return listens.result()
            raise MCPError(types.INVALID_REQUEST, "This token opens nothing any more.")
        finally:
            for task in (listens, ended):
                task.cancel()
            await asyncio.gather(listens, ended, return_exceptions=True)

    async def subscribe(
        self, ctx: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        uri = str(params.uri)
        key = (_session(ctx), uri)
        changes = await self._changes(ctx, uri)

        async def follow() -> None:
            try:
                async for _ in self._callers.lasting(ctx, changes):
                    await ctx.session.send_resource_updated(uri)
            except Exception as error:  # the client has gone: nobody is left to tell
                log.debug("subscription to %s ended: %r", uri, error)
            finally:
                self._tasks.pop(key, None)

        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(follow(), name=f"updates of {uri}")
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        if task := self._tasks.get((_session(ctx), str(params.uri))):
            task.cancel()
        return types.EmptyResult()

    async def _changes(self, ctx: Context, uri: str) -> AsyncIterator[None]:
        """Once each time that the resource says something that it does not say now."""
        try:
            check_resource(self._tools(ctx), uri)
            found = discussion_of(uri)
            if found is None:
                return self._new_rows(ctx, await self._rows(ctx))
            return self._new_events(fold(await self._service.records(found[0])))
        except RoundtableError as error:
            raise MCPError(types.INVALID_PARAMS, redact(str(error))) from None

    async def _new_events(self, state: State) -> AsyncIterator[None]:
        events = self._service.events(state.discussion_id, after=state.seq)
        try:
            async for record in events:
                state.apply(record)
                if progress_line(record, state):
                    yield
        except RoundtableError as error:
            log.info("%s cannot be watched any more: %s", state.discussion_id, error)
        finally:
            await events.aclose()

    async def _new_rows(self, ctx: Context, seen: list[tuple[str, str]]) -> AsyncIterator[None]:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            newest = await self._rows(ctx)
            if newest != seen:
                seen = newest
                yield

    async def _rows(self, ctx: Context) -> list[tuple[str, str]]:
        """What this client sees of the list now."""
        access = self._tools(ctx).access
        everything = access.held.discussions is None
        every = await self._service.summaries(limit=ROWS if everything else None)
        rows = [row for row in every if access.sees(row.discussion_id)]
        return [(row.discussion_id, row.status) for row in rows[:ROWS]]


def _session(ctx: Context) -> str:
    headers = getattr(ctx.request, "headers", None)
    return str(headers.get(SESSION, "")) if headers is not None else ""


@asynccontextmanager
async def _beside(*work: Any) -> AsyncIterator[None]:
    """Let work go on beside a block, and end it with the block."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
