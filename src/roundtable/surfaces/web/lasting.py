"""What goes on for longer than one answer lasts only as long as what it was asked with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from datetime import datetime
from typing import TypeVar

from ..tokens.capability import Capability
from .links import Links

T = TypeVar("T")
LOOK_EVERY = 1.0
"""Seconds between looks whether somebody has ended it, perhaps in another process."""


async def until_ended(links: Links, secret: str, now: Callable[[], datetime]) -> None:
    """Return when a link or a token opens nothing any more; what the owner asks for lasts."""
    while True:
        wait = LOOK_EVERY
        if secret:
            held = links.held(secret, now=now())
            if not isinstance(held, Capability):
                return
            if held.expires is not None:
                left = (held.expires - now()).total_seconds()
                if left <= wait:
                    await asyncio.sleep(left)
                    return
        await asyncio.sleep(wait)


async def while_held(
    source: AsyncIterator[T],
    links: Links,
    secret: str,
    now: Callable[[], datetime],
    *,
    last: tuple[T, ...] = (),
) -> AsyncGenerator[T, None]:
    """What comes, for as long as the link or token stands; `last` if it ended first. Whoever gives
    the source closes it."""
    if not secret:
        async for each in source:
            yield each
        return
    ended = asyncio.create_task(until_ended(links, secret, now))
    coming: asyncio.Future[T] | None = None
    try:
        while True:
            coming = asyncio.ensure_future(_next(source))
            await asyncio.wait([coming, ended], return_when=asyncio.FIRST_COMPLETED)
            if not coming.done() or links.read(secret, now=now()) is None:
                for each in last:
                    yield each
                return
            try:
                each = coming.result()
            except StopAsyncIteration:
                return
            yield each
    finally:
        for task in (ended, coming):
            if task is not None:
                task.cancel()
        await asyncio.gather(*(t for t in (ended, coming) if t is not None), return_exceptions=True)


async def _next(source: AsyncIterator[T]) -> T:
    return await anext(source)
