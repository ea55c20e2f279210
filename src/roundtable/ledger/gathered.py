"""What comes one by one, and costs the same for many as for one: handed on together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class Gathered(Generic[T]):
    """Hands to `work` what was added, at once when it was quiet, and then at most `every` so many
    seconds. Belongs to the event loop in which the first is added."""

    def __init__(self, work: Callable[[list[T]], Awaitable[None]], *, every: float) -> None:
        """`work` must not raise: nobody waits for it."""
        self._work = work
        self._every = every
        self._waiting: list[T] = []
        self._task: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    def add(self, item: T) -> None:
        self._waiting.append(item)
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    async def close(self, *, within: float) -> None:
        """Hand on what is left, for which so many seconds are waited, and end."""
        with suppress(TimeoutError):  # what is being handed on need not be handed on twice
            async with asyncio.timeout(within):
                await self._idle.wait()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            await asyncio.wait([asyncio.ensure_future(self._work(waiting))], timeout=within)

    async def _run(self) -> None:
        try:
            while self._waiting:
                waiting, self._waiting = self._waiting, []
                self._idle.clear()
                try:
                    await self._work(waiting)
                except asyncio.CancelledError:
                    self._waiting[:0] = waiting  # perhaps it was done: twice is harmless
                    raise
                finally:
                    self._idle.set()
                await asyncio.sleep(self._every)
        finally:
            self._task = None
