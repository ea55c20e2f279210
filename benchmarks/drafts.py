"""Words that are being spoken, from the process that drives to those that show them: by notices, as
it is, and through an UNLOGGED table, in turn.

Both say what came within a tenth of a second together. The table needs a signal as well, which is a
notice without words, or else every process looks for itself all the time. What counts is CPU time
for each piece that a model said: of the server, of the process that says it, and of those that hear
it.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import asyncpg
from tests.postgres import NoPostgres, postgres_server

from benchmarks.measured import Measured
from roundtable.ledger.exchange import SAY_EVERY
from roundtable.ledger.postgres import PostgresLedger

SPEAKERS, PIECES, SECONDS = 20, 185, 4.0
"""How many speak at once, in how many pieces, and for how long."""
HEARERS = 3
"""Web processes."""
ROUNDS = 3
PIECE = "draft words "
WAYS = ("notices", "table")
CHANNEL = "bench_drafts"
_TABLE = """
    CREATE UNLOGGED TABLE bench_drafts (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at timestamptz NOT NULL DEFAULT clock_timestamp(),
        line text NOT NULL
    )
"""
_PUT = "INSERT INTO bench_drafts (line) SELECT unnest($1::text[])"
_NEW = "SELECT id, line FROM bench_drafts WHERE id > $1 ORDER BY id"
_OLD = "DELETE FROM bench_drafts WHERE at < clock_timestamp() - interval '10 s'"


@dataclass(frozen=True)
class Spent:
    """Microseconds of CPU for each piece."""

    server: float
    says: float
    hears: float
    """Of all who hear."""

    @property
    def all(self) -> float:
        return self.server + self.says + self.hears


def run() -> list[Measured]:
    try:
        with postgres_server() as server:
            url = server.new_database()
            spent: dict[str, list[Spent]] = {way: [] for way in WAYS}
            for _ in range(ROUNDS):
                for way in WAYS:
                    spent[way].append(asyncio.run(_measured(way, url)))
    except NoPostgres as error:
        print(error)
        return []
    ratios = [a.all / b.all for a, b in zip(*spent.values(), strict=True)]
    rows = [
        Measured(
            f"drafts by {way}, CPU for a piece, {HEARERS} that hear",
            statistics.median(each.all for each in all_spent),
            "µs",
            detail=", ".join(
                f"{name} {statistics.median(getattr(each, name) for each in all_spent):.0f}"
                for name in ("server", "says", "hears")
            ),
        )
        for way, all_spent in spent.items()
    ]
    told = f"{min(ratios):.2f} to {max(ratios):.2f}"
    name = "drafts by notices ÷ by a table"
    return [*rows, Measured(name, statistics.median(ratios), "x", detail=told)]


async def _measured(way: str, url: str) -> Spent:
    watcher = await asyncpg.connect(url)
    await watcher.execute(f"DROP TABLE IF EXISTS bench_drafts; {_TABLE}")
    postmaster = _parent(watcher.get_server_pid())
    hearers = [_hearer(way, url) for _ in range(HEARERS)]
    for each in hearers:
        assert each.stdout is not None
        await asyncio.to_thread(each.stdout.readline)  # it listens
    ledger = await PostgresLedger.open(url)
    await ledger.warm()
    server, says = _cpu_below(postmaster), time.process_time()
    await _speak(way, ledger)
    says = time.process_time() - says
    heard = [json.loads((await asyncio.to_thread(each.communicate, "\n"))[0]) for each in hearers]
    server = _cpu_below(postmaster) - server
    await ledger.close()
    await watcher.close()
    pieces = SPEAKERS * PIECES
    for each in heard:
        assert each["characters"] == pieces * len(PIECE), "everything is heard"
    hears = sum(each["cpu"] for each in heard)
    return Spent(*(1e6 * each / pieces for each in (server, says, hears)))


def _hearer(way: str, url: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.drafts", way, url]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def _speak(way: str, ledger: PostgresLedger) -> None:
    """Everybody speaks for so long; what came meanwhile is told together, of each in one line."""
    told, began = 0, time.monotonic()
    while told < PIECES:
        come = min(PIECES, int(PIECES * (time.monotonic() - began) / SECONDS))
        place, words = ("1/answer/x", "x", 1, told * len(PIECE)), PIECE * (come - told)
        speakers = range(SPEAKERS if words else 0)
        lines = [json.dumps(["bench", f"rt_{number}", *place, words]) for number in speakers]
        told = come
        if way == "notices":
            for line in lines:
                ledger.exchange.say(CHANNEL, line)
        elif lines:
            async with ledger.connection() as connection:
                await connection.execute(_PUT, lines)
                if come == PIECES:
                    await connection.execute(_OLD)
            ledger.exchange.say(CHANNEL, "*", name="more")
        await asyncio.sleep(SAY_EVERY)
    await ledger.exchange.close()


async def _hear(way: str, url: str) -> None:
    """A process that shows what is said."""
    ledger = await PostgresLedger.open(url)
    characters, seen = 0, 0
    news = asyncio.Event()
    lines: list[str] = []

    def heard(line: str) -> None:
        if way == "notices":
            lines.append(line)
        news.set()

    begun = time.process_time()
    async with ledger.exchange.hearing(CHANNEL, heard):
        await ledger.exchange.tried()
        print("listening", flush=True)
        over = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
        while characters < SPEAKERS * PIECES * len(PIECE):
            waits = asyncio.create_task(news.wait())
            await asyncio.wait([waits, over], return_when=asyncio.FIRST_COMPLETED, timeout=5)
            waits.cancel()
            news.clear()
            if way == "table":
                async with ledger.connection() as connection:
                    for row in await connection.fetch(_NEW, seen):
                        seen = row["id"]
                        lines.append(row["line"])
            characters += sum(len(json.loads(line)[-1]) for line in lines)
            lines.clear()
    print(json.dumps({"cpu": time.process_time() - begun, "characters": characters}), flush=True)
    os._exit(0)  # the thread that waits for our end is not waited for


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _cpu_below(postmaster: int) -> float:
    """Seconds of CPU of a server and all its processes, those that have ended included."""
    ticks = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(place.parent.name) == postmaster:
            ticks += sum(int(each) for each in fields[11:15])
        elif int(fields[1]) == postmaster:
            ticks += sum(int(each) for each in fields[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    asyncio.run(_hear(*sys.argv[1:]))
