"""What all channels share: their limits, and work that may hang in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from ..core.errors import ChannelError
from ..core.values import NewsChannel
from ..ports import Ability

T = TypeVar("T")
TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class ChannelLimits:
    """How a platform wants to be talked to."""

    limit: int = 4000
    """Characters of one post."""
    interval: float = 0.0
    """Seconds from one post to the next."""
    timeout: float = TIMEOUT


class PlainChannel:
    """A channel that can post and nothing else; others build on it."""

    abilities: frozenset[Ability] = frozenset()

    def __init__(self, limits: ChannelLimits) -> None:
        self.limit = limits.limit
        self.interval = limits.interval
        self.timeout = limits.timeout

    def problem(self, place: NewsChannel) -> tuple[str, str] | None:  # noqa: ARG002 - others look at it
        return None

    async def close(self) -> None:
        """Nothing to give back."""


class Aside:
    """Runs blocking calls in threads that hold up neither the loop nor the end of the program.

    A call that hangs keeps its thread, so their number is bounded: a channel that never answers
    must not fill the process.
    """

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._busy = 0

    async def run(self, call: Callable[[], T]) -> T:
        if self._busy >= self._most:
            raise ChannelError(
                f"It still holds {self._busy} earlier messages without an answer.",
                "It is tried again later.",
            )
        self._busy += 1
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def settle(value: T | None, error: BaseException | None) -> None:
            self._busy -= 1
            if done.done():
                return
            if error is None:
                done.set_result(value)  # type: ignore[arg-type]  # None only if T allows it
            else:
                done.set_exception(error)

        def work() -> None:
            value: T | None = None
            error: BaseException | None = None
            try:
                value = call()
            except StopIteration as stop:  # a future takes it for something else
                error = RuntimeError(f"StopIteration: {stop}")
            except BaseException as failure:
                error = failure
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(settle, value, error)

        threading.Thread(target=work, daemon=True, name="news").start()
        return await done
