"""The gate: how many discussions share one event loop, so that it never stands still for long.

Whoever is about to compute (to seat a table, to decide what follows) asks for a pass of the loop,
and has it alone: all else that is due, a page asked for or words that arrive, comes between two
of them. Discussions that have begun go first, in the order in which they asked. A new one begins
when none of them waits and the loop is not late, and at the latest when nobody has begun for a
second. So as many are under way as the machine can carry, whatever they cost, and the others wait
outside and cost nothing.

What has arrived never waits here: it is stored first.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from weakref import WeakKeyDictionary

LATE = 0.025
"""Seconds. While the loop is later than that, nobody begins."""
PAUSE = 0.005
"""Seconds between two looks at how late it is."""
LONGEST_REFUSAL = 1.0
"""Seconds for which nobody begins at most, however late it is: somebody may always be."""
TOLD_AFTER = 0.5
"""Seconds of waiting outside of which nobody is told."""

BEGINS = "It begins."


def waits(before: int) -> str:
    """How whoever watches a discussion is told that it waits."""
    others = f"; {before:,} begin before it" if before else ""
    return f"Waiting for its turn: as many are under way as this machine can carry{others}."


Waiter = asyncio.Future[None]
OnWait = Callable[[int], None]
"""Told how many discussions begin before the one that waits."""


class LoopGate:
    """One for a process. Each event loop has a line of its own."""

    def __init__(self) -> None:
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()

    @property
    def outside(self) -> frozenset[str]:
        """The discussions that wait here to begin."""
        return frozenset(each for line in self._lines.values() for each, _ in line.outside)

    async def begin(self, discussion_id: str, on_wait: OnWait = lambda _: None) -> None:
        """Return when this discussion may begin. `on_wait` is told once, if that takes a while."""
        await self._line().begin(discussion_id, on_wait)

    async def step(self) -> None:
        """Return when it is the caller's turn to compute, until it next awaits anything: at once,
        unless others want the same pass of the loop."""
        await self._line().step()

    def _line(self) -> _Line:
        loop = asyncio.get_running_loop()
        if (line := self._lines.get(loop)) is None:
            line = self._lines[loop] = _Line()
        return line


class _Line:
    def __init__(self) -> None:
        self.outside: deque[tuple[str, Waiter]] = deque()
        """The discussions that have not begun, in the order in which they will."""
        self._steps: deque[Waiter] = deque()
        self._free = True
        """Whether this pass of the loop is nobody's, and nobody waits for the next one."""
        self._due = self._begun_at = asyncio.get_running_loop().time()

    async def begin(self, discussion_id: str, on_wait: OnWait) -> None:
        loop = asyncio.get_running_loop()
        mine = discussion_id, loop.create_future()
        self.outside.append(mine)
        telling = loop.call_later(TOLD_AFTER, self._tell, mine, on_wait)
        if self._free:
            self._look_again()
        try:
            await mine[1]
        finally:
            telling.cancel()
            if mine in self.outside:  # cancelled before it was let in
                self.outside.remove(mine)

    def _tell(self, waiting: tuple[str, Waiter], on_wait: OnWait) -> None:
        if waiting in self.outside:  # else it was let in a moment ago
            on_wait(self.outside.index(waiting))

    async def step(self) -> None:
        if self._free:
            self._look_again()
            return
        mine = asyncio.get_running_loop().create_future()
        self._steps.append(mine)
        await mine

    def _look_again(self, pause: float = 0.0) -> None:
        loop = asyncio.get_running_loop()
        self._free = False
        self._due = loop.time() + pause
        if pause:
            loop.call_later(pause, self._next)
        else:
            loop.call_soon(self._next)

    def _next(self) -> None:
        """A pass is over: the next one is somebody's, or nobody's."""
        now = asyncio.get_running_loop().time()
        while self._steps and self._steps[0].done():  # cancelled
            self._steps.popleft()
        while self.outside and self.outside[0][1].done():
            self.outside.popleft()
        calm = not self._steps and now - self._due <= LATE
        if self.outside and (calm or now - self._begun_at > LONGEST_REFUSAL):
            self._begun_at = now
            self.outside.popleft()[1].set_result(None)
        elif self._steps:
            self._steps.popleft().set_result(None)
        elif self.outside:
            self._look_again(PAUSE)
            return
        else:
            self._free = True
            return
        self._look_again()
