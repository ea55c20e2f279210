"""1,000 connections that begin and do not go on: how long others wait for an answer meanwhile.

The server is `roundtable serve`; those who stall hold the owner's key or a link where that lets
them hold more.
"""

from __future__ import annotations

import asyncio

from benchmarks.hostile_server import Target, answer_time, connected, target
from benchmarks.measured import Measured

STALLED = 1_000
GOAL = 1.0


def run(count: int = STALLED) -> list[Measured]:
    with target() as served:
        kinds = {
            "head not finished": [b"GET / HTTP/1.1\r\nhost: localhost\r\nx: y"],
            "body not finished": [
                served.head("POST", f"{served.link('host')}/stop", content_length="100") + b"{",
                served.head("POST", "/api/discussions", content_length="100") + b"{",
                b"POST /api/discussions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n",
            ],
            "feed not read": [served.head("GET", f"{served.link()}/feed")],
        }
        everything = [each for them in kinds.values() for each in them]
        kinds["of every kind"] = everything
        return [row for name, them in kinds.items() for row in _stalled(served, name, them, count)]


def _stalled(served: Target, name: str, requests: list[bytes], count: int) -> list[Measured]:
    async def main() -> tuple[float, float]:
        chosen = [requests[number % len(requests)] for number in range(count)]
        async with connected(served.port, chosen):
            # The first stands in line behind all that have just come; after it they only stall.
            return await answer_time(served, 1), await answer_time(served)

    first, longest = asyncio.run(main())
    return [
        Measured(f"others answered, {count:,} {name}", longest, "s", goal=GOAL),
        Measured("  the first, behind all of them", first, "s"),
    ]
