"""One discussion that is told of: following it, and sending to each of its channels in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..core.errors import RoundtableError, UnknownDiscussion
from ..core.events import Event, NewEvent, NewsThreadOpened, NewsTried, NoteAdded, StoredEvent
from ..core.notifications import NEWS, Entry, Outbox
from ..core.values import NewsChannel
from ..ports import Ledger
from .notifier_send import Sender

if TYPE_CHECKING:
    from .notifier import Notifier

LOOK_AGAIN = 2.0
"""Seconds between looks at a message that somebody else is sending."""
TROUBLE = 5.0
"""Seconds to wait when the ledger cannot be read or written."""

log = logging.getLogger("roundtable.news")


class Route:
    """One discussion that is told of: a task that follows it, and one for each channel."""

    def __init__(self, notifier: Notifier, ledger: Ledger, discussion_id: str) -> None:
        self.id = discussion_id
        self.outbox = Outbox()
        self.begun = False
        """Whether all that was in the ledger at first has been read."""
        self.gone = False
        """Whether the discussion was deleted."""
        self._over = False
        self._notifier = notifier
        self._ledger = ledger
        self._changed = asyncio.Condition()
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._follower = asyncio.create_task(self._follow(), name=f"news of {discussion_id}")
        self._follower.add_done_callback(self._one_ended)

    async def close(self) -> None:
        for task in (self._follower, *self._workers.values()):
            await ended(task)

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until something is so. Time alone can make it so too, hence the looks between."""
        while not reached():
            await self._change(self.outbox.state.seq, 0.1)

    async def until_quiet(self, end: float | None) -> None:
        """Wait until nothing will be tried any more before `end`, or, without one, now."""
        try:
            await self.catch_up()
        except UnknownDiscussion:
            self.gone = True
        except RoundtableError as error:
            log.info("%s cannot be read: %s", self.id, error)
        clock = self._notifier.clock
        await self.until(
            lambda: self.gone or self.quiet(0.0 if end is None else end - clock.monotonic())
        )

    def quiet(self, within: float) -> bool:
        """Whether nothing will be tried within so many seconds."""
        return all(
            self._notifier.channels.find(channel.platform) is None
            or (entry := self.outbox.pending(channel.name)) is None
            or (self._notifier.wait(entry) > within and not self._being_sent(entry))
            for channel in self.outbox.channels
        )

    def _being_sent(self, entry: Entry) -> bool:
        return entry.where == "under_way" and self._notifier.is_ours(entry)

    def waits_for_thread(self) -> bool:
        return any(
            entry.message.kind == "thread"
            and self._notifier.channels.find(entry.message.channel.platform) is not None
            for entry in self.outbox.left()
        )

    async def catch_up(self) -> None:
        for record in await self._ledger.read(self.id, after=self.outbox.state.seq):
            self._apply(record)
        await self._tell()

    async def _follow(self) -> None:
        """Take in what happens until the discussion is closed; after that, only news happen."""
        await self._followed()
        self._over = True
        await self._tell()

    async def _followed(self) -> None:
        while True:
            try:
                await self.catch_up()
                self.begun = True
                async for record in self._ledger.tail(self.id, after=self.outbox.state.seq):
                    self._apply(record)
                    await self._tell()
                return
            except UnknownDiscussion:
                self.gone = True
                return
            except RoundtableError as error:
                log.info("%s cannot be followed: %s", self.id, error)
                await self._notifier.clock.sleep(TROUBLE)

    def _apply(self, record: StoredEvent) -> None:
        if record.seq <= self.outbox.state.seq:
            return
        self.outbox.apply(record)
        for channel in self.outbox.channels:
            worker = self._workers.get(channel.name)
            if worker is not None and not worker.done():
                continue
            if self._notifier.channels.find(channel.platform) is not None:
                worker = asyncio.create_task(self._work(channel), name=f"to {channel.name}")
                worker.add_done_callback(self._one_ended)
                self._workers[channel.name] = worker

    def _one_ended(self, _: asyncio.Task[None]) -> None:
        over = self._follower.done() and all(each.done() for each in self._workers.values())
        if over and (self.gone or not self.outbox.left()):
            self._notifier.forget(self.id)

    async def _work(self, channel: NewsChannel) -> None:
        """Send a channel's messages, one after another."""
        while True:
            try:
                seen = self.outbox.state.seq
                entry = self.outbox.pending(channel.name)
                if entry is None and self._over:
                    return
                if entry is None:
                    await self._change(seen, None)
                elif (wait := self._notifier.wait(entry)) > 0:
                    elsewhere = entry.where == "under_way"
                    await self._change(seen, min(wait, LOOK_AGAIN) if elsewhere else wait)
                    if elsewhere:
                        await self.catch_up()
                else:
                    await self._try(entry)
            except UnknownDiscussion:
                self.gone = True
                return
            except RoundtableError as error:
                log.info("news of %s cannot be recorded: %s", self.id, error)
                await self._notifier.clock.sleep(TROUBLE)

    async def _try(self, entry: Entry) -> None:
        notifier, message = self._notifier, entry.message
        channel = notifier.channels.find(message.channel.platform)
        assert channel is not None, "only channels that exist have a worker"
        pace = notifier.pace(message.channel.platform)
        async with pace.room:
            await pace.wait()  # before the claim: nobody else waits for our turn
            await self.catch_up()
            if self.outbox.pending(message.channel.name) is not entry or notifier.wait(entry) > 0:
                return
            doubtful, last = entry.where == "under_way", entry.last_attempt
            attempt = entry.attempts + 1
            claim = NewsTried(
                message_id=message.id,
                kind=message.kind,
                channel=message.channel.name,
                attempt=attempt,
                text=message.text,
                by=notifier.by,
            )
            if not await self._claimed(claim):
                return
            sender = Sender(channel, notifier.clock, pace)
            thread = self.outbox.threads.get(message.channel.name, "")
            settled = await sender.send(
                self.id, entry, attempt, thread, doubtful=doubtful, last=last
            )
        events: list[tuple[Event, str]] = [(settled, f"news/{message.id}/{attempt}/settled")]
        if message.kind == "thread":
            key = f"news/thread/{message.channel.name}"
            if settled.outcome == "delivered":
                thread_opened = NewsThreadOpened(
                    channel=message.channel.name, thread_id=settled.receipt, name=message.text
                )
                events.insert(0, (thread_opened, key))
            elif settled.outcome == "given_up":
                text = f"No thread could be made on {message.channel.platform}: {settled.detail}"
                note = NoteAdded(
                    code=NEWS, text=f"{text} News goes straight into it.", remedy=settled.remedy
                )
                events.append((note, f"{key}/note"))
        await self._keep(events)

    async def _keep(self, events: Sequence[tuple[Event, str]]) -> None:
        """Record an outcome whatever it takes: what was sent must not be sent again."""
        while True:
            try:
                await self._append(events)
                return
            except UnknownDiscussion:
                raise
            except RoundtableError as error:
                log.info("the outcome of a message of %s waits: %s", self.id, error)
                await self._notifier.clock.sleep(TROUBLE)

    async def _claimed(self, claim: NewsTried) -> bool:
        """Whoever's claim is stored for an attempt sends it; in a tie the ledger decides."""
        stored = await self._append([(claim, f"news/{claim.message_id}/{claim.attempt}")])
        held = stored[0].event
        return isinstance(held, NewsTried) and held.by == self._notifier.by

    async def _append(self, events: Sequence[tuple[Event, str]]) -> list[StoredEvent]:
        now = self._notifier.clock.now()
        stored = await self._ledger.append(
            self.id, [NewEvent(event, now, key) for event, key in events]
        )
        await self.catch_up()
        return stored

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _change(self, seen: int, seconds: float | None) -> None:
        """Wait until something came in after event `seen`, but only so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), self._changed:
                over = self._over
                await self._changed.wait_for(
                    lambda: self.outbox.state.seq != seen or self._over != over
                )


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
