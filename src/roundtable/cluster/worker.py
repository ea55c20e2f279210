"""A worker: takes discussions from the queue and drives them, until it is told to leave.

One lock holds what it has in hand and what the queue has as its own together: whatever the queue
gives out is in hand before the next sign of life is given for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from ..core.errors import (
    CannotGoOn,
    HeldElsewhere,
    LeaseLost,
    LedgerError,
    LedgerGone,
    LedgerTooNew,
    LedgerUnreachable,
    RoundtableError,
    UnknownDiscussion,
)
from ..core.state import State
from ..core.text import redact
from ..ledger.postgres_leases import ALIVE_FOR
from ..version import __version__
from .job import Job
from .kinds import beyond
from .queue import PostgresQueue
from .sweeper import sweep
from .tables import CHANNEL

log = logging.getLogger(__name__)

BEAT_EVERY = 1.0
"""Seconds between two signs of life."""
LOOK_EVERY = 0.5
"""Seconds between two looks at the queue when nobody rings: whose worker is gone is found so."""
SWEEP_EVERY = 30.0
AT_ONCE = 20
"""Discussions that a worker drives side by side, where nobody says otherwise."""
GRACE = 10.0
"""Seconds for which a worker that leaves waits for the answers of calls that are under way."""
_BATCH = 4
"""Jobs taken at a time: others are at the queue, too."""
_TRY_AGAIN = 5.0
"""Seconds until a discussion is tried again whose driver came upon a defect."""
_NOT_HERE = 30.0
"""Seconds until a discussion is tried again whose models this worker cannot call, or not where it
was held."""
_LAST_WORDS = 1.0
_TAKEN_OVER = "another worker drives it now"


Drive = Callable[[Job, asyncio.Event], Awaitable[State]]
"""Drives a discussion under the lease of its job, and begins no call once the event is set;
`Service.run` does."""


@dataclass(slots=True)
class _Driven:
    """A job in hand."""

    job: Job
    task: asyncio.Task[None] | None = None
    over: bool = False
    """Whether only the queue is still to be told: that is not interrupted any more."""

    def cancel(self) -> None:
        if self.task is not None and not self.over:
            self.task.cancel()


class Worker:
    """Works from `work` on, in one event loop."""

    def __init__(
        self,
        queue: PostgresQueue,
        drive: Drive,
        *,
        name: str = "",
        at_once: int = AT_ONCE,
        grace: float = GRACE,
        version: str = __version__,
        on_change: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`on_change` is told in a line what it takes and hands on, and how the database is."""
        self.id = uuid4()
        self.leaving = asyncio.Event()
        self._queue = queue
        self._drive = drive
        self._name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._at_once = at_once
        self._grace = grace
        self._version = version
        self._tell = on_change
        self._driving: dict[int, _Driven] = {}
        self._bell = asyncio.Event()
        self._impatient = asyncio.Event()
        self._hanging_up: asyncio.TimerHandle | None = None
        self._with_the_queue = asyncio.Lock()
        self._in_touch_since: float | None = None
        """When the database began to answer; None while it does not."""
        self._beaten_at = 0.0

    def leave(self) -> None:
        """Hand on what is being driven: at once after the calls that are under way, or after the
        grace. Asked again, it waits for nothing any more."""
        if self.leaving.is_set():
            self._impatient.set()
            if self._hanging_up is None:
                self._hang_up_if_silent()
        self.leaving.set()
        self._bell.set()

    def _hang_up_if_silent(self) -> None:
        """A database that does not answer would keep whoever wants to end for a minute or more."""
        if self._in_touch_since is None:
            self._queue.ledger.hang_up()
        else:
            loop = asyncio.get_running_loop()
            self._hanging_up = loop.call_later(BEAT_EVERY, self._hang_up_if_silent)

    async def work(self) -> None:
        """Drive what waits, until told to leave. A database that goes away is waited for."""
        await self._beaten()
        await self._queue.ledger.warm()
        sides = [
            asyncio.create_task(each) for each in (self._keep_beating(), self._keep_sweeping())
        ]
        try:
            async with self._queue.ledger.exchange.hearing(CHANNEL, lambda _: self._bell.set()):
                while not self.leaving.is_set():
                    self._bell.clear()
                    if not await self._take_some():
                        with suppress(TimeoutError):
                            async with asyncio.timeout(LOOK_EVERY):
                                await self._bell.wait()
                await self._hand_on()
        finally:
            for side in sides:
                side.cancel()
            await asyncio.gather(*sides, return_exceptions=True)
            await self._gone()
            if self._hanging_up is not None:
                self._hanging_up.cancel()

    # Signs of life

    async def _keep_beating(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due = max(due + BEAT_EVERY, loop.time())
            await asyncio.sleep(due - loop.time())
            beat = asyncio.create_task(self._beaten())
            try:
                if not (await asyncio.wait([beat], timeout=ALIVE_FOR))[0]:
                    # It may not be known for long yet, but by now others take what we drive.
                    silent = f"It has been silent for {ALIVE_FOR:g} s."
                    self._out_of_touch(LedgerUnreachable(silent))
                await beat
            finally:
                beat.cancel()

    async def _beaten(self) -> None:
        """Give a sign of life. What was taken over by another meanwhile is let go of; what nobody
        drives here, though it counts as ours, is given back."""
        async with self._with_the_queue:
            signs = {
                "name": self._name,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "version": self._version,
                "at_once": self._at_once,
                "leaving": self.leaving.is_set(),
            }
            try:
                if self._in_touch_since is None:
                    await self._queue.prepare()
                ours = await self._queue.beat(self.id, signs)
                if ours - self._driving.keys():
                    await self._queue.forsake(self.id, list(self._driving))
            except LedgerError as error:
                self._out_of_touch(error)
                return
            now = asyncio.get_running_loop().time()
            if self._in_touch_since is None or now - self._beaten_at > ALIVE_FOR:
                self._in_touch_since = now
            self._beaten_at = now
            for id_ in self._driving.keys() - ours:
                self._driving[id_].cancel()

    def _out_of_touch(self, error: LedgerError) -> None:
        if not error.temporary:
            raise error
        if self._in_touch_since is not None:
            self._tell(f"The database does not answer: {redact(error.message)} Trying again…")
        self._in_touch_since = None

    @property
    def _may_take_over(self) -> bool:
        """Others can only have failed to give a sign of life if it could be given: whoever has
        just come, was stopped, or has lost sight of the database itself, first waits for as long as
        they may be quiet."""
        now, since = asyncio.get_running_loop().time(), self._in_touch_since
        return since is not None and now - since > ALIVE_FOR > now - self._beaten_at

    # Taking

    async def _take_some(self) -> bool:
        """Whether there may be more at once."""
        room = min(self._at_once - len(self._driving), _BATCH)
        if room <= 0 or self._in_touch_since is None:
            return False
        async with self._with_the_queue:
            suspect = any(each.job.suspect for each in self._driving.values())
            try:
                jobs = await self._queue.pick(
                    self.id,
                    room,
                    version=self._version,
                    take_over=self._may_take_over,
                    beside_a_suspect=suspect,
                )
            except LedgerError as error:
                self._out_of_touch(error)
                return False
            for job in jobs:
                self._tell(f"{job.discussion_id}: taken")
                driven = self._driving[job.id] = _Driven(job)
                driven.task = asyncio.create_task(self._driven(driven))
        return len(jobs) == room

    async def _driven(self, driven: _Driven) -> None:
        """Drive it, and see that the queue knows what came of it."""
        job = driven.job
        try:
            await self._through(driven)
        except LedgerError as error:  # it counts as ours until the next sign of life
            log.warning("%s: %s", job.discussion_id, redact(str(error)))
        finally:
            if self._driving.get(job.id) is driven:
                del self._driving[job.id]
            self._bell.set()

    async def _through(self, driven: _Driven) -> None:
        queue, job = self._queue, driven.job
        try:
            try:
                await queue.ledger.warm()
                state = await self._drive(job, self.leaving)
            finally:
                driven.over = True
        except asyncio.CancelledError:
            await self._handed_on(job)
        except (LeaseLost, UnknownDiscussion):
            self._tell(f"{job.discussion_id}: {_TAKEN_OVER}")
        except LedgerTooNew as error:
            await queue.give_back(job, kind=beyond(self._version), why=redact(error.message))
        except LedgerGone as error:
            await queue.give_back(job, why=redact(error.message))
        except (CannotGoOn, HeldElsewhere) as error:
            # It is this worker that cannot: another one may have the key, or the address.
            await queue.give_back(job, after=_NOT_HERE, why=redact(error.message))
            self._tell(f"{job.discussion_id}: not from here: {redact(error.message)}")
        except Exception as error:  # a defect must not end the others that are driven here
            if not isinstance(error, RoundtableError):
                log.exception("%s was interrupted by a defect", job.discussion_id)
            why = redact(str(error) or type(error).__name__)
            await queue.give_back(job, after=_TRY_AGAIN, died=True, why=why)
            self._tell(f"{job.discussion_id}: interrupted: {why}")
        else:
            if state.closed is None:
                await self._handed_on(job)
            else:
                ended = await queue.end(job)
                self._tell(f"{job.discussion_id}: {state.closed.status if ended else _TAKEN_OVER}")

    async def _handed_on(self, job: Job) -> None:
        """Whoever has it by now is not disturbed: giving back is fenced."""
        given = await self._queue.give_back(job, why="its worker left")
        self._tell(f"{job.discussion_id}: {'handed on' if given else _TAKEN_OVER}")

    # Leaving

    async def _hand_on(self) -> None:
        await self._beaten()  # that it leaves is known at once
        driving = list(self._driving.values())
        tasks = [each.task for each in driving if each.task is not None]
        if tasks:
            self._tell(f"Leaving: {len(tasks)} discussion(s) are handed on to other workers.")
            with suppress(TimeoutError):
                async with asyncio.timeout(self._grace):
                    await self._all_over(tasks)
        for each in driving:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _all_over(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Until they are, or nothing is waited for any more."""
        impatience = asyncio.create_task(self._impatient.wait())
        try:
            while left := [task for task in tasks if not task.done()]:
                await asyncio.wait([*left, impatience], return_when=asyncio.FIRST_COMPLETED)
                if impatience.done():
                    return
        finally:
            impatience.cancel()

    async def _gone(self) -> None:
        with suppress(LedgerError, TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await self._queue.leave(self.id)

    # What others left

    async def _keep_sweeping(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            try:
                for discussion_id in await sweep(self._queue):
                    self._tell(f"{discussion_id}: nobody drove it; it waits for a worker")
            except LedgerError as error:
                log.warning("the sweep was left out: %s", redact(str(error)))
