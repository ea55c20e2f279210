"""A turnstile: lets the calls of this process through one gate, in their order.

Whatever is to be said at the gate (calls that ended, calls that wait) is said together: one visit
at a time, however many calls there are.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from ..core.call_gate import LONGEST_PAUSE, RENEWS, Asking, CallLimits, Granted
from ..core.errors import RoundtableError, SpeakerError
from ..core.throttle import seconds_of, too_much
from ..ports import Gates

Waiting = asyncio.Future[Granted]


@dataclass(slots=True)
class _Said:
    answered: int = 0
    refused: tuple[tuple[float, float | None], ...] = ()


class Turnstile:
    """Belongs to one event loop. `who` is this process; `name` is the gate's."""

    def __init__(self, gates: Gates, name: str, limits: CallLimits, who: str) -> None:
        self._gates = gates
        self._name = name
        self._limits = limits
        self._who = who
        self._waiting: deque[Waiting] = deque()
        self._held = 0
        self._said = _Said()
        self._known = False
        """Whether the gate may still think that we have calls under way."""
        self._news = asyncio.Event()
        self._clerk: asyncio.Task[None] | None = None

    async def enter(self) -> float:
        """Wait for room, and return when that was, by the gate's time. SpeakerError where the
        provider wants to be left alone for longer than a call should wait."""
        place: Waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        if len(self._waiting) == 1:  # else it is known that somebody waits
            self._tell()
        try:
            granted = await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self.leave()  # it was let in at the same moment
            raise
        return granted.at

    def leave(self) -> None:
        """A call that was let in has ended."""
        self._held -= 1
        self._tell()

    def answered(self) -> None:
        self._said.answered += 1

    def failed(self, error: SpeakerError, begun: float) -> None:
        """A call that was let in at `begun` failed; what that says of the provider is passed on."""
        if too_much(error):
            self._said.refused = (*self._said.refused, (begun, seconds_of(error)))

    async def close(self) -> None:
        """Say goodbye at the gate. Nobody may be waiting any more."""
        if self._clerk is not None:
            self._clerk.cancel()
            with suppress(asyncio.CancelledError):
                await self._clerk
            self._clerk = None
        self._held = 0
        if self._known or self._said != _Said():
            with suppress(RoundtableError):  # what it thinks that we have runs out by itself
                await self._visit()

    def _tell(self) -> None:
        self._news.set()
        if self._clerk is None or self._clerk.done():
            self._clerk = asyncio.get_running_loop().create_task(self._keep())

    async def _keep(self) -> None:
        """Goes to the gate as often as there is something to say, and while something is held."""
        while True:
            self._news.clear()
            try:
                granted = await self._visit()
            except Exception as error:
                self._refuse_all(error)
                granted = Granted(0, RENEWS, 0.0)
            if not (self._held or self._waiting or self._news.is_set()):
                return
            await self._until(granted)

    async def _visit(self) -> Granted:
        while self._waiting and self._waiting[0].done():  # cancelled
            self._waiting.popleft()
        wants = sum(1 for each in self._waiting if not each.done())
        said, self._said = self._said, _Said()
        asking = Asking(self._who, self._held, wants, said.answered, said.refused)
        self._known = True
        granted = await self._gates.change(
            self._name, lambda gate, now: gate.ask(asking, self._limits, now)
        )
        self._known = bool(asking.held or asking.wants)
        if granted.paused > LONGEST_PAUSE:
            self._refuse_all(_left_alone(self._name, granted.paused))
        left = granted.calls
        while left and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                self._held += 1
                left -= 1
                place.set_result(granted)
        if left:  # whoever they were for has gone meanwhile
            self._news.set()
        return granted

    def _refuse_all(self, error: Exception) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_exception(error)

    async def _until(self, granted: Granted) -> None:
        """Until there is something new to say, something may be new there, or it is time for a
        sign of life."""
        wait = min(RENEWS, granted.wait) if self._waiting and granted.wait else RENEWS
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._news.wait()


def _left_alone(name: str, seconds: float) -> SpeakerError:
    return SpeakerError(
        "rate_limited",
        # For how long may have been more than anybody would wait: told is what happens here.
        f"{name} asked to be left alone; it is not called for another {round(seconds)} s.",
        "Wait that long, or give the seat another model.",
        retry_after=seconds,
    )
