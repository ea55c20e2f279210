"""The worker: one thread that owns one SQLite connection, and does one thing after the other.

Writes that wait together are committed together: one transaction, one sync to disk, and a
savepoint for each, so that one that fails leaves no trace among the others. Whatever is handed
in is carried out, even if whoever asked has been cancelled meanwhile.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Literal, TypeVar

from ..core.errors import LedgerError
from .sqlite_file import BusyRetry

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
Kind = Literal["read", "write", "stop"]

_GROUP = 128
"""So many writes at most share a transaction: other processes want the database, too."""


@dataclass(slots=True, eq=False)
class _Job:
    kind: Kind
    work: Work[Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    deadline: float
    result: Any = None
    error: Exception | None = field(default=None)

    def settle(self) -> None:
        if self.future.done():  # cancelled
            return
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


class Worker:
    """`connect` is called in the thread, and `in_place` before each piece of work: it gives the
    connection to do it with, or raises. `translate` turns SQLite's errors into ours."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        translate: Callable[[sqlite3.Error], Exception],
        busy_retry: BusyRetry,
        in_place: Callable[[sqlite3.Connection], sqlite3.Connection] = lambda connection: (
            connection
        ),
    ) -> None:
        self._connect = connect
        self._in_place = in_place
        self._translate = translate
        self._busy_retry = busy_retry
        self._queue: SimpleQueue[_Job] = SimpleQueue()
        self._waiting: deque[_Job] = deque()
        self._closed = False
        self._lock = Lock()
        self._thread = Thread(target=self._run, name="roundtable-ledger", daemon=True)

    async def start(self) -> None:
        """Connect. What `connect` raises is raised here, and no thread is left."""
        job = self._job("read", lambda _: None)
        self._queue.put(job)
        self._thread.start()
        try:
            await job.future
        except BaseException:
            await self.close()
            raise

    async def read(self, work: Work[T]) -> T:
        """Run `work` outside any transaction."""
        result: T = await self._submit("read", work)
        return result

    async def write(self, work: Work[T]) -> T:
        """Run `work` in a transaction; it is on disk when this returns, and undone if it raises.

        `work` may run twice (the first run undone) when a neighbour breaks the transaction.
        """
        result: T = await self._submit("write", work)
        return result

    async def close(self) -> None:
        """Finish what was handed in, close the connection and end the thread. A database that is
        busy all the time holds that up for a moment only: what it did not take is not written."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            job = self._job("stop", lambda _: None)
            self._queue.put(job)
            self._busy_retry.end_soon()
        await asyncio.shield(job.future)
        self._thread.join()

    def _submit(self, kind: Kind, work: Work[Any]) -> asyncio.Future[Any]:
        job = self._job(kind, work)
        with self._lock:
            if self._closed:
                raise LedgerError("This ledger has been closed.")
            self._queue.put(job)
        return job.future

    def _job(self, kind: Kind, work: Work[Any]) -> _Job:
        loop = asyncio.get_running_loop()
        return _Job(kind, work, loop, loop.create_future(), self._busy_retry.deadline())

    # Everything below runs in the thread.

    def _run(self) -> None:
        try:
            connection = self._connect()
        except Exception as error:
            self._refuse(error)
            return
        while True:
            job = self._next()
            if job.kind != "stop":
                try:
                    connection = self._in_place(connection)
                except Exception as error:
                    job.error = self._ours(error)
                    _deliver([job])
                    continue
            match job.kind:
                case "read":
                    self._read(connection, job)
                    _deliver([job])
                case "write":
                    _deliver(self._write(connection, job))
                case "stop":
                    connection.close()
                    _deliver([job])
                    return

    def _refuse(self, error: Exception) -> None:
        job = self._queue.get()
        job.error = self._ours(error)
        _deliver([job])
        while (job := self._queue.get()).kind != "stop":
            pass
        _deliver([job])

    def _next(self) -> _Job:
        return self._waiting.popleft() if self._waiting else self._queue.get()

    def _waiting_writes(self) -> list[_Job]:
        """The writes that stand at the head of the queue, without waiting for any."""
        try:
            while True:
                self._waiting.append(self._queue.get_nowait())
        except Empty:
            pass
        writes: list[_Job] = []
        while self._waiting and self._waiting[0].kind == "write" and len(writes) < _GROUP - 1:
            writes.append(self._waiting.popleft())
        return writes

    def _read(self, connection: sqlite3.Connection, job: _Job) -> None:
        try:
            job.result = self._busy_retry.retry(lambda: job.work(connection), job.deadline)
        except Exception as error:
            job.error = self._ours(error)

    def _write(self, connection: sqlite3.Connection, first: _Job) -> list[_Job]:
        """Carry out `first` and the writes that wait behind it; all of them are settled."""
        try:
            self._begin(connection, first)
        except sqlite3.Error as error:
            first.error = self._ours(error)
            return [first]
        # Only now: while we waited for the lock, more may have come.
        group = [first, *self._waiting_writes()]
        if len(group) == 1:
            self._finish_alone(connection, first)
        elif not self._finish_together(connection, group):
            for job in group:
                self._write_alone(connection, job)
        return group

    def _begin(self, connection: sqlite3.Connection, job: _Job) -> None:
        self._busy_retry.retry(lambda: connection.execute("BEGIN IMMEDIATE"), job.deadline)

    def _finish_together(self, connection: sqlite3.Connection, group: list[_Job]) -> bool:
        """Commit all that succeed; False, with nothing done, if the transaction itself failed."""
        try:
            for job in group:
                self._among_others(connection, job)
            connection.execute("COMMIT")
        except sqlite3.Error:
            _roll_back(connection)
            return False
        return True

    def _among_others(self, connection: sqlite3.Connection, job: _Job) -> None:
        """Jobs check before they write, so one that refuses has written nothing, and no savepoint
        is needed: each statement less is one less struggle for the interpreter's lock. One that
        breaks down after it began to write takes the whole group back."""
        before = connection.total_changes
        try:
            job.result = job.work(connection)
        except sqlite3.Error:
            raise
        except Exception as error:
            if connection.total_changes != before or not connection.in_transaction:
                raise sqlite3.OperationalError("a write was left half done") from error
            job.error = error

    def _write_alone(self, connection: sqlite3.Connection, job: _Job) -> None:
        job.result = job.error = None
        try:
            self._begin(connection, job)
        except sqlite3.Error as error:
            job.error = self._ours(error)
        else:
            self._finish_alone(connection, job)

    def _finish_alone(self, connection: sqlite3.Connection, job: _Job) -> None:
        try:
            job.result = job.work(connection)
            connection.execute("COMMIT")
        except Exception as error:
            _roll_back(connection)
            job.error = self._ours(error)

    def _ours(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error):
            return error
        ours = self._translate(error)
        ours.__cause__ = error
        return ours


def _roll_back(connection: sqlite3.Connection) -> None:
    # SQLite may have rolled back already; and this thread must outlive whatever happens.
    with suppress(sqlite3.Error):
        connection.execute("ROLLBACK")


def _deliver(jobs: Iterable[_Job]) -> None:
    """Settle the futures, with one wake-up for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in jobs:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, settled in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, settled)
        except RuntimeError:  # that loop is closed: nobody waits any more
            continue


def _settle(jobs: Iterable[_Job]) -> None:
    for job in jobs:
        job.settle()
