"""The figures of the whole fleet, from every process that shows figures: so somebody tells that
discussions wait also where no worker is there any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from ..bootstrap import App
from ..cluster.late import installed
from ..core.errors import LedgerError

if TYPE_CHECKING:
    from ..cluster.queue import PostgresQueue
    from ..telemetry.watch import Watching

FIGURES_EVERY = 15.0


@asynccontextmanager
async def shown_figures(app: App) -> AsyncIterator[None]:
    """Within it the figures of this process are shown where the settings say, and those of the
    fleet among them, if this installation can have one."""
    if app.watching is None:
        yield
        return
    with app.watching.served() as place:
        if not place or app.queue is None or not installed():
            yield
            return
        telling = asyncio.create_task(_tell(app.watching, await app.queue.opened()))
        try:
            yield
        finally:
            telling.cancel()
            with suppress(asyncio.CancelledError):
                await telling


async def _tell(watching: Watching, queue: PostgresQueue) -> None:
    """Tell of the whole fleet, now and then: every process tells the same."""
    from ..cluster.fleet import look

    while True:
        try:
            await queue.ready()
            fleet = await look(queue)
        except LedgerError as error:
            watching.fleet_unknown()  # what stood there before would be a guess
            if not error.temporary:
                raise
        else:
            working = sum(each.alive and not each.leaving for each in fleet.workers)
            watching.fleet(working, fleet.waiting_in_all, len(fleet.set_aside))
        await asyncio.sleep(FIGURES_EVERY)
