"""What the tools share: the service, the states, who drives, the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from ...bootstrap import App
from ...core.errors import RoundtableError
from ...core.state import State
from ...core.values import HOST_WIRE_NAME, NewsPlan, Participant
from ...procedures.opening import OpenRequest
from ...views.driving import runs_by_itself
from ..tokens.opening import open_as
from ..web.running import Running
from .access import Access
from .driving import Detached, Drives, NobodyDrives
from .operations import OnProgress

REPLY_LIMIT = 8_000
"""Characters of an answer as JSON; a page of speeches may have twice as many."""
LONGEST_WAIT = 300.0
"""Seconds. Some clients give up on a call after a minute, unless they are told that it goes on."""
ALIVE = 20.0
"""Seconds between two such words."""
STARTED = (
    "A server was started for the page, and serves it until `roundtable serve --stop`. Without a "
    "page: web=false."
)
"""Nobody expects a process to stay who only called a tool."""
Id = str
"""A discussion's id, which every answer names; the beginning of one, or `last`."""
Key = Annotated[str | None, Field(max_length=200, description="Same key, same result.")]
Web = Annotated[bool | None, Field(description="A live page?")]
Port = Annotated[int | None, Field(ge=0, le=65_535)]
Wait = Annotated[float, Field(ge=0, le=LONGEST_WAIT, description="Seconds to wait, at most.")]
News = Annotated[
    NewsPlan | None,
    WithJsonSchema(
        {
            "type": ["object", "null"],
            "description": "Who is told: {channels: [{platform, chat_id}], events?: […]}.",
        }
    ),
]


async def _keep_alive(on_progress: OnProgress) -> None:
    """Tell a client that waits, as long as it does."""
    for far in count(1):
        await asyncio.sleep(ALIVE)
        with suppress(Exception):  # a client that is gone is noticed by its call
            await on_progress(float(far), "It is not your turn yet.")


class ToolsetBase:
    """The inner side of the toolset."""

    def __init__(
        self,
        app: App,
        running: Drives | None = None,
        *,
        access: Access | None = None,
        notifications: NewsPlan | None = None,
        web: bool = True,
        reply_limit: int = REPLY_LIMIT,
        created_by: str = "tools",
    ) -> None:
        """`running` drives what the program has a part in; without it this process does, until
        the toolset is closed. `notifications`, `web` and `created_by` hold where a call does not
        say: who is told, whether there is a page, who opened it."""
        self.app = app
        self.access = access or Access()
        self.limit = reply_limit
        self._own = Running(app.service) if running is None else None
        self._running: Drives = running or self._own or NobodyDrives()
        self._service = app.service
        self._notifications = notifications
        self._web = web
        self._created_by = created_by

    async def close(self) -> None:
        """Interrupt what this toolset drives; it can be taken up again."""
        if self._own is not None:
            await self._own.close()

    async def found(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call, with the whole id of the discussion that is meant."""
        called = values.get("discussion_id")
        if not isinstance(called, str):
            return values
        own = self.access.held.among(called)
        return {**values, "discussion_id": own or await self._service.find(called)}

    async def _state(self, discussion_id: str) -> State:
        """The discussion as it stands. A coordinator that was waited for too long is waited for no
        longer once anybody but a seat looks: the end, and its file, are not a seat's to bring."""
        state = await self._service.read(discussion_id)
        if self.access.profile in ("", HOST_WIRE_NAME) and await self._service.settle(state):
            state = await self._service.read(discussion_id)
        return state

    async def _until(
        self,
        discussion_id: str,
        seconds: float,
        there: Callable[[State], bool],
        on_progress: OnProgress | None = None,
    ) -> State:
        """The discussion once it is so, or as it stands after so many seconds. Whoever waits long
        is told now and then that it goes on, so that its client does not give up."""
        state = await self._state(discussion_id)
        if not seconds or there(state) or state.closed is not None:
            return state
        coming = self._service.events(discussion_id, after=state.seq)
        alive = asyncio.create_task(_keep_alive(on_progress)) if on_progress else None
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    async for _ in coming:
                        if there(state := await self._state(discussion_id)):
                            break
        finally:
            if alive is not None:
                alive.cancel()
            await coming.aclose()
        return await self._state(discussion_id)

    async def _open(self, request: OpenRequest, key: str | None) -> State:
        """A new discussion, within what the caller holds; it is the caller's own from then on."""
        state, held = await open_as(self.app, self.access.held, request, key=key)
        self.access = replace(self.access, held=held)
        return state

    async def _after(self, discussion_id: str) -> State:
        """The discussion after something was written to it, or somebody came for it. If the program
        has a part in it, it goes on from there."""
        state = await self._state(discussion_id)
        goes_on = state.closed is None and runs_by_itself(state)
        if goes_on and self.access.may_drive(discussion_id) and await self._wants_driver(state):
            self._running.drive(discussion_id)
        return state

    async def _wants_driver(self, state: State) -> bool:
        """A process of its own is only started for what nobody drives."""
        return not isinstance(self._running, Detached) or not await self._service.is_driven(
            state.discussion_id
        )

    def _seat_token(self, state: State, seated: Participant) -> str:
        """What opens this seat alone, for a page and for tools; it ends with what this caller
        holds."""
        from ..web.links import links_of

        links = links_of(self.app.settings)
        return links.token(state.discussion_id, "seat", seat=seated.id, by=self.access.held)

    async def _page(
        self, discussion_id: str, wanted: bool | None, port: int | None, *, seat: str = ""
    ) -> tuple[str | None, list[str]]:
        """The page's address, or why there is none, and that a server was started for it."""
        settings = self.app.settings
        usual = self._web and settings.choices.web is not False
        if not (usual if wanted is None else wanted):
            return None, []
        from ..web.found import ensure_server, page_url
        from ..web.links import links_of

        try:
            found = await ensure_server(settings, port=port or settings.choices.web_port)
            links = links_of(settings)
        except RoundtableError as error:
            return None, [f"There is no page to watch it on: {error}"]
        role: Literal["viewer", "seat"] = "seat" if seat else "viewer"
        started = [STARTED] if found.new else []
        return page_url(found, links, discussion_id, role, seat, by=self.access.held), started
