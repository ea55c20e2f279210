"""Looking: whether discussions that somebody waits for have moved, asked for all of them at once.

It is how a process finds what nobody told it of: seldom where it is told, often where it cannot be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from ..core.errors import LedgerError
from .tail import ChangeSignal

SELDOM = 15.0
"""Seconds between looks where every append is told."""
OFTEN = 0.4
"""Seconds between looks where nothing can be heard."""
_AWAY = 2.0
"""Seconds between looks at a database that does not answer."""
_PATIENCE = 30.0
"""Seconds without an answer after which those who wait find out for themselves, and raise."""

Standing = Callable[[Sequence[str]], Awaitable[Mapping[str, int]]]
"""The number of the last event of each of these discussions; those that are gone are missing."""


class Watch:
    """Announces what has moved, from `start` to `close`."""

    def __init__(
        self, standing: Standing, signal: ChangeSignal, listens: Callable[[], bool]
    ) -> None:
        """`listens` says whether appends of others are heard of."""
        self._standing = standing
        self._signal = signal
        self._listens = listens
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    def soon(self) -> None:
        """Something may have been missed: look now."""
        self._wanted.set()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        away_since: float | None = None
        while True:
            pace = _AWAY if away_since is not None else SELDOM if self._listens() else OFTEN
            try:
                async with asyncio.timeout(pace):
                    await self._wanted.wait()
            except TimeoutError:
                pass
            self._wanted.clear()
            try:
                await self._look()
                away_since = None
            except LedgerError:
                away_since = away_since or loop.time()
                if loop.time() - away_since > _PATIENCE:
                    self._signal.announce_all()

    async def _look(self) -> None:
        if waited_for := self._signal.tailed():
            found = await self._standing(waited_for)
            for discussion_id in waited_for:
                self._signal.announce(discussion_id, found.get(discussion_id))
