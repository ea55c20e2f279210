"""What every side does the same: so many discussions, so many at once, after one to warm up."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version

TOPIC = "Should a small team put its services into one repository?"
EXPERTS = ("scholar", "engineer", "muse")

Discuss = Callable[[int], Awaitable[int]]
"""Holds one discussion, by its number; how many calls it made."""


def arguments() -> tuple[str, int, int]:
    url, discussions, at_once = sys.argv[1:]
    return url, int(discussions), int(at_once)


async def measure(discuss: Discuss, discussions: int, at_once: int, *packages: str) -> None:
    await discuss(0)
    slots = asyncio.Semaphore(at_once)

    async def one(number: int) -> int:
        async with slots:
            return await discuss(number)

    cpu, began = time.process_time(), time.monotonic()
    calls = sum(await asyncio.gather(*(one(number) for number in range(1, discussions + 1))))
    print(
        json.dumps(
            {
                "cpu": time.process_time() - cpu,
                "seconds": time.monotonic() - began,
                "calls": calls,
                "versions": ", ".join(f"{each} {version(each)}" for each in packages),
            }
        )
    )
