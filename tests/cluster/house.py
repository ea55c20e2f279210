"""A fleet for tests: members in this process or others, over one database and one provider."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from roundtable.bootstrap import App, start
from roundtable.cluster.job import Job
from roundtable.cluster.queue import PostgresQueue
from roundtable.cluster.worker import Worker
from roundtable.core.state import State
from roundtable.procedures.opening import OpenRequest
from roundtable.settings import read_settings
from tests.forked import COMMAND, Program
from tests.servers import ProviderServer
from tests.surfaces.desk import environment, wait_for

MODEL = "openai/gpt-5-mini"
_FAULTY = "tests.cluster.faulty"


def env_of(url: str, home: Path, provider: ProviderServer) -> dict[str, str]:
    return {
        **provider.env(),
        "ROUNDTABLE_DB": url,
        "ROUNDTABLE_HOME": str(home),
        "ROUNDTABLE_MODEL": MODEL,
        "ROUNDTABLE_LOCAL_SERVERS": "false",
        "ROUNDTABLE_COMMAND_AGENTS": "false",
        "ROUNDTABLE_MODEL_LISTS": "false",
        "ROUNDTABLE_SEARCH": "none",
    }


@asynccontextmanager
async def member(
    url: str, home: Path, provider: ProviderServer, **choices: str
) -> AsyncIterator[App]:
    env = {**env_of(url, home, provider), **choices}
    async with start(read_settings(env, home), env=env) as app:
        yield app


async def queue_of(app: App) -> PostgresQueue:
    assert app.queue is not None
    return await app.queue.opened()


def request(topic: str = "Tea or coffee?") -> OpenRequest:
    """A council of three, quick: five calls."""
    return OpenRequest(topic, procedure="council", options={"quick": True}, search=False)


async def opened(app: App, topic: str = "Tea or coffee?", key: str | None = None) -> str:
    state = await app.service.open(request(topic), key=key, queued=True)
    return state.discussion_id


@asynccontextmanager
async def working(
    app: App,
    drive: Callable[[Job, asyncio.Event], Awaitable[State]] | None = None,
    **how: Any,
) -> AsyncIterator[Worker]:
    """A worker in this process, which leaves at the end."""

    def usual(job: Job, leaving: asyncio.Event) -> Awaitable[State]:
        return app.service.run(job.discussion_id, lease=job.lease, leaving=leaving)

    worker = Worker(await queue_of(app), drive or usual, **how)
    work = asyncio.create_task(worker.work())
    try:
        yield worker
    finally:
        worker.leave()
        worker.leave()
        await work


async def until(reached: Callable[[], Awaitable[bool]], *, seconds: float = 60) -> None:
    """A bounded wait for something that others do."""
    deadline = time.monotonic() + seconds
    while not await reached():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)


async def concluded(app: App, *ids: str) -> list[State]:
    """All of them, once they are closed."""

    async def closed() -> bool:
        rows = {row.discussion_id: row.status for row in await app.service.summaries()}
        return all(rows[each] != "running" for each in ids)

    await until(closed)
    return [await app.service.read(each) for each in ids]


def calls_by_turn(provider: ProviderServer) -> Counter[str]:
    """How often each turn was asked for, whatever number its attempt had."""
    keys = [each.idempotency_key or "" for each in provider.requests]
    return Counter(key.rpartition("/")[0] for key in keys)


class WorkerProcess:
    """`roundtable worker` in a process of its own; with a `fault`, as `faulty` has it."""

    def __init__(self, env: dict[str, str], home: Path, *args: str, fault: str = "") -> None:
        if fault:
            env = {**env, "FAULT": fault}
        self._err = home / f"worker-{time.monotonic_ns()}.err"
        self._err.touch()
        self.process = Program(
            ["worker", *args],
            module=_FAULTY if fault else COMMAND,
            stderr=self._err,
            cwd=home,
            env=environment(env),
        )

    @property
    def err(self) -> str:
        return self._err.read_text("utf-8")

    def gets(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    def says(self, words: str) -> None:
        wait_for(lambda: words in self.err or self.process.poll() is not None)
        assert words in self.err, self.err

    def ends(self) -> int:
        return self.process.wait(60)


@contextmanager
def worker_processes(
    count: int, env: dict[str, str], home: Path, *args: str, fault: str = ""
) -> Iterator[list[WorkerProcess]]:
    home.mkdir(exist_ok=True, parents=True)
    started = [WorkerProcess(env, home, *args, fault=fault) for _ in range(count)]
    try:
        for each in started:
            each.says("Working")
        yield started
    finally:
        for each in started:
            with suppress(ProcessLookupError):
                each.gets(signal.SIGCONT)
            if each.process.poll() is None:
                each.process.kill()
            each.process.wait(60)
