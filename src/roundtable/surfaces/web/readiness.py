"""Whether the database answers, asked on behalf of whoever asks this server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ...core.errors import LedgerError

ANSWERS_WITHIN = 2.0
"""Seconds that a balancer waits for an answer at most."""


class Readiness:
    """One question at a time, however many want to know. Who waits too long for its answer leaves
    it alone rather than ending it: a driver takes its time to end what nobody answers."""

    def __init__(self, ask: Callable[[], Awaitable[object]]) -> None:
        """`ask` returns if there is an answer, whatever it says; LedgerError if there is none."""
        self._ask = ask
        self._asking: asyncio.Task[bool] | None = None

    async def answers(self) -> bool:
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._answered())
        asking = self._asking
        done, _ = await asyncio.wait([asking], timeout=ANSWERS_WITHIN)
        return bool(done) and not asking.cancelled() and asking.result()

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _answered(self) -> bool:
        try:
            await self._ask()
        except LedgerError:
            return False
        return True
