"""`roundtable worker` and `roundtable fleet`: many processes drive what waits in one database."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...bootstrap import App, start
from ...core.visible import shown
from ...engine.outage import Notice
from ...engine.service import no_queue
from ..files import WorkspaceFiles
from ..fleet_figures import shown_figures
from ..schedules.runner import Runner
from ..web.draft_exchange import DraftExchange
from ..web.drafts import DraftStore
from .here import settings_here
from .terminal import echo, echo_error, on_one_line, print_json
from .with_app import with_app

if TYPE_CHECKING:
    from ...cluster.fleet import Fleet, WorkerRow
    from ...cluster.job import Job
    from ...cluster.queue import PostgresQueue
    from ...core.state import State


def worker_command(flags: Mapping[str, Any]) -> int:
    settings = settings_here()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")

    async def main() -> None:
        delivery = WorkspaceFiles(settings.workspace)
        async with start(settings, delivery=delivery, progress=echo_error) as app:
            await _work(app, await _queue(app), flags)

    asyncio.run(main())
    # All is handed on: going through every object once more would keep whoever waits for our end.
    gc.freeze()
    return 0


async def _work(app: App, queue: PostgresQueue, flags: Mapping[str, Any]) -> None:
    from ...cluster.worker import Worker

    def told(notice: Notice) -> None:
        echo_error(f"{notice.discussion_id}: {notice.text}")

    # Pages show the words of what workers drive, wherever those pages are served.
    words = DraftStore()
    drafts = DraftExchange(queue.ledger.exchange, words)

    async def drive(job: Job, leaving: asyncio.Event) -> State:
        try:
            return await app.service.run(
                job.discussion_id,
                lease=job.lease,
                leaving=leaving,
                on_notice=told,
                on_draft=drafts.add,
                on_event=words.on_event,
            )
        finally:
            words.drop_all(job.discussion_id)

    worker = Worker(
        queue,
        drive,
        name=flags["name"] or "",
        at_once=flags["at_once"],
        grace=flags["grace"],
        on_change=lambda line: echo_error(shown(line)),
    )
    await asyncio.to_thread(_warm)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, worker.leave)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(worker.leave))
    echo_error(f"Working, {flags['at_once']} discussions at once. Ctrl-C hands them on to others.")
    # What it opens is queued, so whoever is free drives it.
    beside = [asyncio.create_task(Runner(app, None, who=str(worker.id)).keep())]
    async with shown_figures(app):
        try:
            async with drafts.running():
                await worker.work()
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)


def _warm() -> None:
    """Everything is imported before the first job is taken, which may have waited long enough."""
    from ...procedures import PROCEDURES
    from ...speakers.api import warm

    warm()
    for spec in PROCEDURES.values():
        assert spec.procedure is not None


def fleet_command(flags: Mapping[str, Any]) -> int:
    async def read(app: App) -> Fleet:
        from ...cluster.fleet import look

        return await look(await _queue(app))

    fleet = with_app(read)
    if flags["as_json"]:
        print_json(_plain(fleet))
        return 0
    if not fleet.workers:
        echo("No worker is there. Start one, on any machine: roundtable worker")
    for worker in fleet.workers:
        echo(_line(worker))
        for discussion_id in worker.drives:
            echo(f"   {discussion_id}")
    if fleet.waiting_in_all:
        echo(f"Waiting for a worker: {fleet.waiting_in_all}")
    for each in fleet.waiting:
        why = f"  ({shown(each.why)})" if each.why else ""
        topic = on_one_line(each.topic, 50)
        echo(f"   {each.discussion_id}  for {_age(each.since)}  {topic}{why}")
    if fleet.set_aside:
        echo("Set aside, because workers ended while running it:")
    for aside in fleet.set_aside:
        why = f"  ({shown(aside.why)})" if aside.why else ""
        echo(f"   {aside.discussion_id}  {on_one_line(aside.topic, 50)}{why}")
        echo(f"      Go on by hand: roundtable resume {aside.discussion_id}")
    return 0


async def _queue(app: App) -> PostgresQueue:
    if app.queue is None:
        raise no_queue()
    return await app.queue.opened()


def _line(worker: WorkerRow) -> str:
    standing = "leaving" if worker.leaving else f"seen {worker.seen_ago:.0f} s ago"
    if not worker.alive:
        standing = f"gone: not seen for {worker.seen_ago:.0f} s"
    return shown(
        f"{worker.name}  {worker.host}, process {worker.pid}, version {worker.version}, "
        f"{len(worker.drives)} of {worker.at_once} at once, {standing}"
    )


def _age(since: datetime) -> str:
    seconds = (datetime.now(UTC) - since).total_seconds()
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _plain(fleet: Fleet) -> dict[str, Any]:
    document = asdict(fleet)
    for row, worker in zip(document["workers"], fleet.workers, strict=True):
        row.update(alive=worker.alive, started_at=worker.started_at.isoformat())
    for row, each in zip(document["waiting"], fleet.waiting, strict=True):
        row.update(since=each.since.isoformat())
    return document
