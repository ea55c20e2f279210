"""`roundtable show --follow`: a discussion is watched as long as somebody drives it."""

from __future__ import annotations

import asyncio

from ...bootstrap import App
from ...core.state import State
from ...views.driving import runs_by_itself
from .progress import make_progress

LOOK_EVERY = 1.0
"""Seconds between two looks at whether anybody drives it. Nobody twice is nobody: between opening
it and driving it there is a moment."""


async def watched(discussion_id: str, app: App, *, verbose: bool) -> State:
    """The discussion when it ended, or when nobody drove it any more: nothing would come then, and
    whoever watches would wait for ever."""
    progress = make_progress(quiet=False, plain=False, verbose=verbose)
    state = State()

    async def read() -> None:
        async for record in app.service.events(discussion_id):
            state.apply(record)
            progress.on_event(record, state)

    async def look() -> None:
        alone_at = -1
        while True:
            await asyncio.sleep(LOOK_EVERY)
            alone = bool(state.opened) and state.closed is None and runs_by_itself(state)
            alone = alone and not await app.service.is_driven(discussion_id)
            if alone and alone_at == state.seq:
                return
            alone_at = state.seq if alone else -1

    reading, looking = asyncio.create_task(read()), asyncio.create_task(look())
    try:
        done, _ = await asyncio.wait((reading, looking), return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in (reading, looking):
            task.cancel()
        await asyncio.gather(reading, looking, return_exceptions=True)
        progress.close()
    return state
