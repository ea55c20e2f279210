"""A fleet of workers in processes of their own, killed, stopped, told to end, and counted.

What the provider saw is the measure: when the next call for a discussion came, and how often each
turn was asked for. It runs for about ten minutes on a machine of its own; FLEET_SCALE=0.1 makes a
tenth of it, FLEET_PARTS=kills,zombies some parts.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from tests.cluster.house import (
    WorkerProcess,
    env_of,
    member,
    opened,
    queue_of,
    request,
    until,
)
from tests.ledger.events import closed as closing
from tests.ledger.events import opened as opening
from tests.postgres import PostgresServer, postgres_server
from tests.servers import Received, provider_server
from tests.surfaces.desk import obedient
from tests.wire import Asked

from benchmarks.measured import Measured
from roundtable.bootstrap import App
from roundtable.cluster.fleet import look
from roundtable.cluster.queue import PostgresQueue
from roundtable.engine.system import SystemClock
from roundtable.ledger.postgres import PostgresLedger

SCALE = float(os.environ.get("FLEET_SCALE", "1"))
LATENCY = 0.5
YOUNG = 0.1
"""Seconds: an answer may be lost with its worker that is no older."""
GRACE = 2.0


class Seen:
    """The calls that came in, by discussion and by turn, each with its time."""

    def __init__(self) -> None:
        self.by_discussion: dict[str, list[float]] = defaultdict(list)
        self.by_turn: dict[str, list[float]] = defaultdict(list)

    def answer(self, asked: Asked) -> str:
        turn = asked.headers.get("idempotency-key", "").rpartition("/")[0]
        now = time.monotonic()
        self.by_discussion[turn.partition("/")[0]].append(now)
        self.by_turn[turn].append(now)
        return obedient(asked)

    def next_call(self, discussion_id: str, after: float) -> float | None:
        calls = [at for at in self.by_discussion[discussion_id] if at > after]
        return min(calls) - after if calls else None

    def repeated(self, deaths: Sequence[float], log: Sequence[Received]) -> tuple[int, int]:
        """Turns that were asked for again although their answer was there when a worker died: all
        of them, and those whose answer was older than it may be."""
        every = old = 0
        numbers: Counter[str] = Counter()
        for received in log:
            turn = (received.idempotency_key or "").rpartition("/")[0]
            arrived = self.by_turn[turn]
            number = numbers[turn]
            numbers[turn] += 1
            if received.state != "finished" or number + 1 == len(arrived):
                continue
            answered = arrived[number] + received.seconds
            # The last of them, if there were several: an answer is rather called too old.
            died = max(
                (at for at in deaths if arrived[number] < at <= arrived[number + 1]), default=0.0
            )
            if answered < died:
                every += 1
                old += answered < died - YOUNG
        return every, old


class Crew:
    """So many workers; whoever ends is replaced."""

    def __init__(self, env: dict[str, str], folder: Path, *args: str) -> None:
        self._env, self._folder, self._args = env, folder, args
        folder.mkdir(exist_ok=True, parents=True)
        self.all: list[WorkerProcess] = []

    def start(self, count: int) -> None:
        more = [WorkerProcess(self._env, self._folder, *self._args) for _ in range(count)]
        self.all += more
        for each in more:
            each.says("Working")

    def of(self, pid: int) -> WorkerProcess:
        return next(each for each in self.all if each.process.pid == pid)

    def end(self) -> None:
        for each in self.all:
            if each.process.poll() is None:
                each.gets(signal.SIGCONT)
                each.process.kill()
            each.process.wait(60)


@contextmanager
def crew(env: dict[str, str], folder: Path, count: int, *args: str) -> Iterator[Crew]:
    made = Crew(env, folder, *args)
    try:
        made.start(count)
        yield made
    finally:
        made.end()


def run() -> list[Measured]:
    parts = {
        "cpu": _cpu,
        "idle": _idle,
        "throughput": _throughput,
        "leaving": _leaving,
        "kills": _kills,
        "zombies": _zombies,
    }
    rows: list[Measured] = []
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder:
        for name in os.environ.get("FLEET_PARTS", ",".join(parts)).split(","):
            found = asyncio.run(parts[name](server, Path(folder) / name))
            for row in found:
                print(f"   {row.name}: {row.shown} {row.detail}", file=sys.stderr, flush=True)
            rows += found
    return rows


def _scaled(number: int) -> int:
    return max(2, round(number * SCALE))


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[max(0, round(0.95 * len(values)) - 1)] if values else float("inf")


async def _cpu(server: PostgresServer, _place: Path) -> list[Measured]:
    """What the queue costs beside the events: the same discussions with it and without."""
    count = _scaled(300)

    async def with_queue(ledger: PostgresLedger) -> None:
        queue = PostgresQueue(ledger, SystemClock())
        worker = uuid4()
        for number in range(count):
            await queue.open(f"rt_a{number:07x}", [opening()])
            (job,) = await queue.pick(worker, 1)
            await ledger.append(job.discussion_id, [closing()], lease=job.lease)
            await queue.end(job)

    async def without(ledger: PostgresLedger) -> None:
        for number in range(count):
            id_ = f"rt_b{number:07x}"
            await ledger.append(id_, [opening()], expected=0)
            lease = await ledger.take_lease(id_, "bench:1:1", ttl=30)
            await ledger.append(id_, [closing()], lease=lease)
            await ledger.release_lease(lease)

    ledger = await PostgresLedger.open(server.new_database())
    await PostgresQueue(ledger, SystemClock()).ready()
    spent: dict[str, list[float]] = {"with": [], "without": []}
    for _again in range(3):
        for name, work in (("without", without), ("with", with_queue)):
            async with ledger.transaction() as connection:
                await connection.execute("DELETE FROM discussions")
            began = time.process_time()
            await work(ledger)
            spent[name].append((time.process_time() - began) * 1000 / count)
    await ledger.close()
    more = statistics.median(spent["with"]) - statistics.median(spent["without"])
    return [Measured("fleet: queue, CPU per discussion of the worker", more, "ms", 1.0)]


async def _idle(server: PostgresServer, place: Path) -> list[Measured]:
    seen = Seen()
    with provider_server(seen.answer) as provider:
        url = server.new_database()
        async with member(url, place / "home", provider) as app:
            with crew(env_of(url, place / "home", provider), place / "w", 1):
                waits: list[float] = []
                for number in range(_scaled(30)):
                    state = await app.service.open(request(f"Question {number}?"))
                    began = time.monotonic()
                    await app.service.enqueue(state.discussion_id)
                    await _closed(app, [state.discussion_id])
                    waits.append(seen.next_call(state.discussion_id, began) or float("inf"))
    waits = [1000 * each for each in waits[1:]]  # the first imports what is called
    return [
        Measured("fleet: put to first call, idle, median", statistics.median(waits), "ms"),
        Measured("fleet: put to first call, idle, p95", _p95(waits), "ms", 100.0),
    ]


async def _throughput(server: PostgresServer, place: Path) -> list[Measured]:
    rates: dict[int, float] = {}
    for workers in (1, 2, 4):
        seen = Seen()
        with provider_server(seen.answer, latency=1.0) as provider:
            url = server.new_database()
            home = place / f"home-{workers}"
            async with member(url, home, provider) as app:
                env = env_of(url, home, provider)
                with crew(env, place / f"w{workers}", workers, "--at-once", "5"):
                    warm = [await opened(app, f"Warm {number}?") for number in range(workers)]
                    await _closed(app, warm)
                    ids = [await opened(app, f"Q {n}?") for n in range(_scaled(10) * workers)]
                    began = time.monotonic()
                    await _closed(app, ids)
                    rates[workers] = 60 * len(ids) / (time.monotonic() - began)
    return [
        Measured(
            f"fleet: discussions a minute, {workers} worker(s), calls of 1 s, 5 at once each",
            rate,
            "",
            detail=f"{rate / rates[1]:.2f} × one worker",
        )
        for workers, rate in rates.items()
    ]


async def _leaving(server: PostgresServer, place: Path) -> list[Measured]:
    gone: list[float] = []
    resumed: list[float] = []
    seen = Seen()
    with provider_server(seen.answer, latency=1.0) as provider:
        url = server.new_database()
        async with member(url, place / "home", provider) as app:
            env = env_of(url, place / "home", provider)
            with crew(env, place / "w", 2, "--grace", str(GRACE)) as workers:
                for number in range(_scaled(10)):
                    id_ = await opened(app, f"Question {number}?")
                    await _called(seen, id_)
                    victim = workers.of((await _busy(app))[0][0])
                    began = time.monotonic()
                    victim.gets(signal.SIGTERM)
                    await asyncio.to_thread(victim.ends)
                    left = time.monotonic()
                    gone.append(left - began)
                    starting = asyncio.create_task(asyncio.to_thread(workers.start, 1))
                    await _closed(app, [id_])
                    # It may have been taken up before the process was gone.
                    calls = seen.by_discussion[id_]
                    later = [at for at in calls if at > began + 0.02]
                    handed = min((at for at in later), default=float("inf"))
                    resumed.append(max(0.0, handed - left))
                    await starting
    return [
        Measured("fleet: SIGTERM to gone, most", max(gone), "s", GRACE + 1),
        Measured("fleet: gone to next call elsewhere, most", max(resumed), "s", 2.0),
    ]


async def _kills(server: PostgresServer, place: Path) -> list[Measured]:
    seen, deaths, waits = Seen(), list[float](), list[float]()
    with provider_server(seen.answer, latency=LATENCY) as provider:
        url = server.new_database()
        async with member(url, place / "home", provider) as app:
            with crew(env_of(url, place / "home", provider), place / "w", 3) as workers:
                ids: list[str] = []
                for number in range(_scaled(50)):
                    mine = [await opened(app, f"Question {number}, {each}?") for each in "ab"]
                    ids += mine
                    await _called(seen, mine[0])
                    await asyncio.sleep(random.uniform(0, 3 * LATENCY))
                    found = [each for each in await _busy(app) if each[1]]
                    if not found:
                        continue
                    pid, driven = random.choice(found)
                    victim = workers.of(pid)
                    victim.gets(signal.SIGKILL)
                    died = time.monotonic()
                    deaths.append(died)
                    await asyncio.to_thread(victim.ends)
                    starting = asyncio.create_task(asyncio.to_thread(workers.start, 1))
                    waits += await _taken_over(app, seen, driven, died)
                    await starting
                await _closed(app, ids)
                lost, doubled = await _counted(app, ids)
    every, old = seen.repeated(deaths, provider.requests)
    detail = f"{len(deaths)} kills, {len(waits)} discussions"
    return [
        Measured("fleet: kill -9 to next call elsewhere, median", statistics.median(waits), "s"),
        Measured("fleet: kill -9 to next call elsewhere, p95", _p95(waits), "s", 6.0, detail),
        Measured("fleet: finished calls repeated after a kill", every, detail=detail),
        Measured("fleet: of these, answers older than 100 ms", old, "", 0),
        Measured("fleet: discussions lost or speeches doubled by kills", lost + doubled, "", 0),
    ]


async def _zombies(server: PostgresServer, place: Path) -> list[Measured]:
    seen, stopped = Seen(), 0
    with provider_server(seen.answer, latency=LATENCY) as provider:
        url = server.new_database()
        async with member(url, place / "home", provider) as app:
            env = env_of(url, place / "home", provider)
            with crew(env, place / "w", 5, "--at-once", "2") as workers:
                ids: list[str] = []
                while stopped < _scaled(100):
                    mine = [await opened(app, f"Question {stopped}, {n}?") for n in range(6)]
                    ids += mine
                    await _called(seen, mine[0])
                    await asyncio.sleep(random.uniform(0, 3 * LATENCY))
                    found = [each for each in await _busy(app) if each[1]][:3]
                    at = time.monotonic()
                    for pid, _ in found:
                        workers.of(pid).gets(signal.SIGSTOP)
                    for _, driven in found:
                        await _taken_over(app, seen, driven, at)
                    for pid, _ in found:
                        workers.of(pid).gets(signal.SIGCONT)
                    stopped += len(found)
                await _closed(app, ids)
                lost, doubled = await _counted(app, ids)
                left = (await look(await queue_of(app))).waiting_in_all
    return [
        Measured("fleet: zombies, discussions lost", lost + left, "", 0, f"{stopped} stopped"),
        Measured("fleet: zombies, speeches doubled", doubled, "", 0),
    ]


async def _busy(app: App) -> list[tuple[int, tuple[str, ...]]]:
    """The processes that drive something, and what."""
    queue = await queue_of(app)
    found: list[tuple[int, tuple[str, ...]]] = []

    async def somebody() -> bool:
        workers = (await look(queue)).workers
        found[:] = [(each.pid, each.drives) for each in workers if each.drives and each.alive]
        return bool(found)

    await until(somebody)
    return found


async def _called(seen: Seen, discussion_id: str) -> None:
    async def called() -> bool:
        return bool(seen.by_discussion[discussion_id])

    await until(called)


async def _taken_over(app: App, seen: Seen, ids: Sequence[str], since: float) -> list[float]:
    """How long each waited for its next call; those that needed none are left out."""
    waits: list[float] = []
    for id_ in ids:

        async def goes_on(id_: str = id_) -> bool:
            over = (await app.service.read(id_)).closed is not None
            return over or seen.next_call(id_, since) is not None

        await until(goes_on)
        if (wait := seen.next_call(id_, since)) is not None:
            waits.append(wait)
    return waits


async def _closed(app: App, ids: Sequence[str]) -> None:
    async def all_closed() -> bool:
        await asyncio.sleep(0.1)
        rows = {row.discussion_id: row.status for row in await app.service.summaries()}
        return all(rows[each] != "running" for each in ids)

    await until(all_closed, seconds=300)


async def _counted(app: App, ids: Sequence[str]) -> tuple[int, int]:
    """Discussions without a verdict, and speeches beyond one for each turn."""
    lost = doubled = 0
    for id_ in ids:
        state = await app.service.read(id_)
        lost += state.verdict is None
        turns = [speech.turn_id for speech in state.speeches]
        doubled += len(turns) - len(set(turns))
    return lost, doubled


if __name__ == "__main__":
    from benchmarks.measured import print_table

    print_table(run())
