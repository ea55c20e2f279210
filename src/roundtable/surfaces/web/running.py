"""The discussions that this process drives, in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ...core.errors import LeaseHeld, RoundtableError
from ...core.text import redact
from ...engine.outage import Notice, OnNotice, no_notices
from ...engine.service import Service
from ...ports import DiscussionSummary
from .draft_exchange import DraftExchange
from .drafts import DraftStore

if TYPE_CHECKING:
    from ...ledger.exchange import Exchange

log = logging.getLogger(__name__)
HERE = "this server"
JUST_OPENED = timedelta(seconds=5)
"""A discussion that is older is not the one that is being opened."""


class Running:
    """Drives discussions until they are closed, or this is; where workers are there to do it, they
    are left to them."""

    def __init__(
        self,
        service: Service,
        exchange: Exchange | None = None,
        *,
        on_notice: OnNotice = no_notices,
    ) -> None:
        """By an `exchange` other processes hear what is said here, and we what is said there.
        `on_notice` hears what the log is told of databases that go away."""
        self._on_notice = on_notice
        self.draft_store = DraftStore()
        """What is being said, here and in processes that post their drafts."""
        self._exchange = DraftExchange(exchange, self.draft_store) if exchange else None
        self._service = service
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closed = False
        self._opening = 0

    def drive(self, discussion_id: str) -> None:
        """Drive a discussion in the background, if this process does not drive it yet. What
        becomes of it stands in the ledger: nothing is raised here."""
        if self._closed or discussion_id in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._drive(discussion_id))
        self._tasks[discussion_id] = task
        self._service.coming.add(discussion_id)
        task.add_done_callback(lambda _: self._over(discussion_id))

    def _over(self, discussion_id: str) -> None:
        self._tasks.pop(discussion_id, None)
        self._service.coming.discard(discussion_id)

    @contextmanager
    def opening(self) -> Generator[None]:
        """Within it a discussion is opened here that is driven at once."""
        self._opening += 1
        try:
            yield
        finally:
            self._opening -= 1

    def with_those_opening(
        self, found: Sequence[DiscussionSummary], now: datetime
    ) -> list[DiscussionSummary]:
        """The list, in which nothing is interrupted that somebody is opening here just now."""
        since = now - JUST_OPENED
        return [
            replace(each, driver=HERE)
            if self._opening and each.interrupted and each.opened_at > since
            else each
            for each in found
        ]

    async def check_room(self, discussion_id: str) -> None:
        """TooBusy if this could not go on now, for too many wait for workers."""
        if await self._service.by_workers():
            await self._service.check_room(discussion_id)

    async def begin(self, discussion_id: str, *, let_in: bool = False) -> None:
        """The same for somebody who waits to hear whether it can be: TooBusy if workers drive, and
        too many wait for them already, unless it was `let_in`."""
        if await self._service.by_workers():
            await self._service.enqueue(discussion_id, let_in=let_in)
        else:
            self.drive(discussion_id)

    def drives(self, discussion_id: str) -> bool:
        return discussion_id in self._tasks

    async def over(self, discussion_id: str) -> None:
        """Wait until this process no longer drives it."""
        if task := self._tasks.get(discussion_id):
            await asyncio.wait([task])

    async def drafts(self, discussion_id: str) -> AsyncGenerator[tuple[str, str, str], None]:
        """Who speaks in which turn, and the words so far, each time there are more. It does not
        end by itself; whoever reads slowly gets fewer and longer ones."""
        changed: dict[str, None] = dict.fromkeys(
            speaking.turn_id for speaking in self.draft_store.of(discussion_id)
        )
        news = asyncio.Event()

        def tell(turn_id: str) -> None:
            changed[turn_id] = None
            news.set()

        with self.draft_store.listening(discussion_id, tell):
            while True:
                while changed:
                    turn_id = next(iter(changed))
                    del changed[turn_id]
                    if (speaking := self.draft_store.get(discussion_id, turn_id)) is not None:
                        yield speaking.participant, turn_id, speaking.shown
                news.clear()
                await news.wait()

    @asynccontextmanager
    async def exchanging(self) -> AsyncGenerator[None, None]:
        """Within it words go to other processes and come from them, where there are any."""
        if self._exchange is None:
            yield
            return
        async with self._exchange.running():
            yield

    async def close(self) -> None:
        """Interrupt what is being driven; it can be taken up again."""
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drive(self, discussion_id: str) -> None:
        try:
            if await self._service.by_workers():
                await self._service.enqueue(discussion_id, let_in=True)
                return
            await self._service.run(
                discussion_id,
                on_draft=(self._exchange or self.draft_store).add,
                on_event=self.draft_store.on_event,
                on_notice=self._note,
            )
        except LeaseHeld:
            pass  # somebody else drives it, so it goes on
        except RoundtableError as error:
            log.warning("%s was interrupted: %s", discussion_id, redact(str(error)))
        except Exception:
            log.exception("%s was interrupted by a defect", discussion_id)
        finally:
            self.draft_store.away.discard(discussion_id)
            self.draft_store.waiting.discard(discussion_id)
            self.draft_store.drop_all(discussion_id)

    def _note(self, notice: Notice) -> None:
        log.log(
            logging.WARNING if notice.away else logging.INFO,
            *("%s: %s", notice.discussion_id, notice.text),
        )
        self.draft_store.notice(notice)
        self._on_notice(notice)
