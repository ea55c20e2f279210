"""The limits of a fleet, against a real PostgreSQL: how many calls four processes really make at
once, what a visit to a gate costs beside a bare update of one row, and how soon a late user's turn
comes."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import AsyncExitStack
from statistics import median
from uuid import uuid4

import asyncpg
from tests.cluster.test_gates import ModelServer, fleet
from tests.ledger.events import opened
from tests.postgres import PostgresServer, postgres_server

from benchmarks.measured import Measured
from roundtable.cluster.gates import PostgresGates
from roundtable.cluster.queue import PostgresQueue
from roundtable.core.call_gate import Asking, CallLimits
from roundtable.engine.system import SystemClock
from roundtable.ledger.postgres import PostgresLedger

AT_ONCE = 8
PROCESSES = 4
CALLS = 24
TAKES = 0.5
"""Seconds of a call."""
VISITS = 1_500
SIDE_BY_SIDE = 4
BEHIND = 1_000
LATE = 5


def run() -> list[Measured]:
    with postgres_server() as server:
        return asyncio.run(_measured(server))


async def _measured(server: PostgresServer) -> list[Measured]:
    most, seconds = await _cap(server.new_database())
    bare, gate = await _visits(server.new_database())
    picks, put_ms = await _turns(server.new_database())
    least = PROCESSES * CALLS * TAKES / AT_ONCE
    return [
        Measured(
            "calls at once at the model server",
            most,
            goal=AT_ONCE,
            detail=f"{PROCESSES} processes, {PROCESSES * CALLS} calls, a limit of {AT_ONCE}",
        ),
        Measured(
            "time of these calls ÷ the least possible",
            seconds / least,
            detail=f"{seconds:.1f} s with the start of the processes; a call takes {TAKES} s",
        ),
        Measured(
            "bare updates of one row ÷ visits to one gate",
            bare / gate,
            goal=8,
            detail=f"{bare:,.0f}/s and {gate:,.0f}/s, {SIDE_BY_SIDE} side by side",
        ),
        Measured(
            "picks until a late user's are taken",
            picks,
            goal=10,
            detail=f"{LATE} behind another's {BEHIND:,}",
        ),
        Measured("an opening with its place in line", put_ms, "ms", detail=f"behind {BEHIND:,}"),
    ]


async def _cap(url: str) -> tuple[int, float]:
    class Slow(ModelServer):
        async def heard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            del reader
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(TAKES)
            self.now -= 1
            self.served += 1
            writer.close()

    model = Slow()
    await (await PostgresLedger.open(url)).close()
    begun = time.perf_counter()
    async with fleet(url, model) as start:
        children = [await start(f"p{n}", at_once=AT_ONCE, calls=CALLS) for n in range(PROCESSES)]
        if any([await each.wait() for each in children]):
            sys.exit("a process failed")
    return model.most, time.perf_counter() - begun


async def _visits(url: str) -> tuple[float, float]:
    """Changes of one and the same row a second: a bare UPDATE, and a visit to a gate."""
    limits = CallLimits(at_once=64, per_minute=1_000_000)
    async with AsyncExitStack() as stack:
        ledgers = [await PostgresLedger.open(url) for _ in range(SIDE_BY_SIDE)]
        for each in ledgers:
            stack.push_async_callback(each.close)
        bare = [await asyncpg.connect(url) for _ in range(SIDE_BY_SIDE)]
        for connection in bare:
            stack.push_async_callback(connection.close)
        await bare[0].execute("CREATE UNLOGGED TABLE bare (id int PRIMARY KEY, n bigint)")
        await bare[0].execute("INSERT INTO bare VALUES (1, 0)")

        async def update(connection: asyncpg.Connection) -> None:
            for _ in range(VISITS // SIDE_BY_SIDE):
                await connection.execute("UPDATE bare SET n = n + 1 WHERE id = 1")

        async def visit(number: int) -> None:
            gates = PostgresGates(ledgers[number], f"p{number}")
            for _ in range(VISITS // SIDE_BY_SIDE):
                asking = Asking(f"p{number}", 1, 1, 1)
                await gates.change("x", lambda gate, now, a=asking: gate.ask(a, limits, now))  # type: ignore[misc]

        rates: tuple[list[float], list[float]] = ([], [])
        for _ in range(3):
            for found, works in (
                (rates[0], [update(each) for each in bare]),
                (rates[1], [visit(number) for number in range(SIDE_BY_SIDE)]),
            ):
                begun = time.perf_counter()
                await asyncio.gather(*works)
                found.append(VISITS / (time.perf_counter() - begun))
        return median(rates[0]), median(rates[1])


async def _turns(url: str) -> tuple[int, float]:
    ledger = await PostgresLedger.open(url)
    queue, worker = PostgresQueue(ledger, SystemClock()), uuid4()
    for number in range(BEHIND):
        await queue.open(f"rt_{number:08x}", [opened()], by="first")
    begun = time.perf_counter()
    late = [f"rt_{BEHIND + number:08x}" for number in range(LATE)]
    for each in late:
        await queue.open(each, [opened()], by="late")
    put_ms = (time.perf_counter() - begun) / LATE * 1_000
    signs = {"name": "w", "host": "h", "pid": 1, "version": "9.9.9", "at_once": 4, "leaving": False}
    await queue.beat(worker, signs)
    picks, waiting = 0, set(late)
    while waiting and picks < BEHIND:
        for job in await queue.pick(worker, 1):
            picks += 1
            waiting.discard(job.discussion_id)
    await ledger.close()
    return picks, put_ms
