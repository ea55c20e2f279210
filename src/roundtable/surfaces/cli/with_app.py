"""One piece of work with the whole program joined, from a command that is not a discussion."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from ...bootstrap import App, start
from ...ledger import open_ledger
from ...ledger.late import LateLedger
from ..files import WorkspaceFiles
from .here import settings_here
from .terminal import echo_error

T = TypeVar("T")


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Leave the search for cycles of objects out while a document is made: a long discussion is
    hundreds of thousands of objects, all of which stay until the command ends."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def find_here(called: str) -> str:
    """The id of the discussion that is meant by what somebody wrote in its place."""
    from ...engine.find import find_discussion

    async def main() -> str:
        ledger = LateLedger(partial(open_ledger, settings_here(tell=False, reading=True).db))
        try:
            return await find_discussion(ledger, called)
        finally:
            await ledger.close()

    return asyncio.run(main())


def with_app(
    work: Callable[[App], Awaitable[T]], *, opens: bool = False, files: Path | None = None
) -> T:
    """`opens`: the work may open a discussion, so every file of settings has to be in order.
    `files`: where discussions leave theirs, in place of the workspace."""
    found: list[T] = []

    async def main() -> None:
        settings = settings_here(tell=False, reading=not opens)
        delivery = WorkspaceFiles(files or settings.workspace)
        # Whoever only looks at an example leaves nothing behind, and needs no ledger that opens.
        choices = settings.choices
        ledger = LateLedger(partial(open_ledger, settings.db, listen=choices.db_listen))
        try:
            async with start(
                settings, ledger=ledger, delivery=delivery, progress=echo_error
            ) as app:
                found.append(await work(app))
        finally:
            await ledger.close()

    # Not as the result of the task: `asyncio.run` writes that out in full when it puts the handler
    # of interrupts back, and a long discussion takes seconds to write.
    asyncio.run(main())
    return found[0]
