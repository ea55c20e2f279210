"""A queue that is opened when it is first needed, and what it needs imported then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from ..core.events import NewEvent, StoredEvent
from ..core.extras import needs
from ..ports import Clock, Ledger

if TYPE_CHECKING:
    from ..ledger.postgres import PostgresLedger
    from .queue import PostgresQueue


class LateQueue:
    """Implements the Queue port over the PostgreSQL that `ledger` opens."""

    def __init__(
        self,
        ledger: Callable[[], Awaitable[Ledger]],
        clock: Clock,
        *,
        each: int | None = None,
        everybodys: int | None = None,
    ) -> None:
        """`each` and `everybodys` are how many discussions of one user, and of all, may wait."""
        self._ledger = ledger
        self._clock = clock
        self._depth = (each, everybodys)
        self._opened: PostgresQueue | None = None

    async def opened(self) -> PostgresQueue:
        """UsageError where the extra is not installed."""
        if self._opened is None:
            if not installed():
                raise needs("A fleet of workers", "cluster")
            from .fairness import Depth
            from .queue import PostgresQueue

            ledger = cast("PostgresLedger", await self._ledger())
            self._opened = PostgresQueue(ledger, self._clock, Depth(*self._depth))
        return self._opened

    async def open(
        self, discussion_id: str, events: Sequence[NewEvent], *, by: str = "", priority: int = 0
    ) -> list[StoredEvent]:
        queue = await self.opened()
        return await queue.open(discussion_id, events, by=by, priority=priority)

    async def put(
        self, discussion_id: str, *, by: str = "", priority: int = 0, let_in: bool = False
    ) -> bool:
        queue = await self.opened()
        return await queue.put(discussion_id, by=by, priority=priority, let_in=let_in)

    async def check_room(self, by: str = "") -> None:
        await (await self.opened()).check_room(by)

    async def has_workers(self) -> bool:
        """Nobody can queue anything for them where the extra is missing."""
        return installed() and await (await self.opened()).has_workers()


def installed() -> bool:
    return find_spec("pgqueuer") is not None
