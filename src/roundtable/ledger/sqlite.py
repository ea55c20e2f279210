"""The ledger in a SQLite file: for one machine, any number of processes."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TypeVar

from ..core.errors import LeaseHeld, UnknownDiscussion
from ..core.events import NewEvent, StoredEvent, dump
from ..ports import DiscussionSummary, Lease
from .append import Plan, damaged, folded, index_change, keys_of, plan_append, stored_event
from .leases import holder, lost
from .packed import pack, unpack
from .sqlite_file import BusyRetry, SqliteFile, translate
from .tail import PAGE, ChangeSignal, Page, Waiter, follow
from .words import ROWS_AT_ONCE as SPEECHES_AT_ONCE
from .words import SAYING, Words
from .worker import Worker

_HEAD = "SELECT last_seq, status FROM discussions WHERE id = ?"
_FENCED_HEAD = """
    SELECT last_seq, EXISTS (
        SELECT 1 FROM leases
        WHERE discussion_id = id AND owner = ? AND epoch = ? AND expires_at IS NOT NULL
    ) FROM discussions WHERE id = ?
"""
_EVENT = "SELECT seq, at, key, data FROM events WHERE discussion_id = ?"
_AFTER = f"{_EVENT} AND seq > ? ORDER BY seq LIMIT ?"
_INSERT_EVENTS = "INSERT INTO events (discussion_id, seq, at, type, v, key, data) VALUES "
_ROW = "(?, ?, ?, ?, ?, ?, ?)"
_INSERT_DISCUSSION = """
    INSERT INTO discussions
        (id, topic, search_text, procedure, status, opened_at, updated_at, last_seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE_DISCUSSION = """
    UPDATE discussions SET status = coalesce(?, status), updated_at = ?, last_seq = ? WHERE id = ?
"""
_SET_OUTCOME = "UPDATE discussions SET outcome = ? WHERE id = ?"
_HEADLINES = """
    SELECT id, topic, procedure, status, opened_at, updated_at, last_seq, outcome,
        owner, coalesce(expires_at > ?, 0)
    FROM discussions LEFT JOIN leases ON discussion_id = id
    WHERE instr(search_text, ?)
    ORDER BY updated_at DESC, opened_at DESC, id LIMIT ?
"""
_SAID = "SELECT discussion_id, data FROM events WHERE type IN (?, ?)"
_LEASE = "SELECT owner, epoch, coalesce(expires_at > ?, 0) FROM leases WHERE discussion_id = ?"
_GRANT = """
    INSERT INTO leases (discussion_id, owner, epoch, expires_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (discussion_id) DO UPDATE
    SET owner = excluded.owner, epoch = excluded.epoch, expires_at = excluded.expires_at
"""
_SET_EXPIRY = """
    UPDATE leases SET expires_at = ?
    WHERE discussion_id = ? AND owner = ? AND epoch = ? AND expires_at IS NOT NULL
"""

T = TypeVar("T")
_ALL = -1
ROWS_AT_ONCE = 50
"""Events written by one statement: SQLite bounds how many values a statement may have."""


class SqliteLedger:
    """See `roundtable.ports.Ledger`. May be used from any event loop; open it with `open`."""

    def __init__(self, file: SqliteFile, patience: float) -> None:
        busy_retry = BusyRetry(patience)
        self._file = file
        self._signal = ChangeSignal()
        self._worker = Worker(
            lambda: file.open(busy_retry),
            lambda error: translate(error, file.path),
            busy_retry,
            file.in_place,
        )
        self._watcher = Watcher(file.connect, self._signal)

    @classmethod
    async def open(cls, path: str | Path, *, patience: float = 10.0) -> SqliteLedger:
        """Open or create the database at `path`; `~` is the user's home.

        `patience` is how many seconds a call waits for other processes before LedgerBusy. A
        database that cannot be written is opened for reading: writing raises LedgerReadOnly.
        """
        ledger = cls(SqliteFile(Path(path)), patience)
        await ledger._worker.start()
        return ledger

    async def append(
        self,
        discussion_id: str,
        events: Sequence[NewEvent],
        *,
        expected: int | None = None,
        lease: Lease | None = None,
    ) -> list[StoredEvent]:
        batch = tuple(events)
        plan = await self._worker.write(
            lambda connection: _append(connection, discussion_id, batch, expected, lease)
        )
        if plan.new:
            self._signal.announce(discussion_id, plan.new[-1].seq)
        return list(plan.outcome)

    async def read(
        self, discussion_id: str, *, after: int = 0, limit: int | None = None
    ) -> list[StoredEvent]:
        count = _ALL if limit is None else limit
        page = await self._worker.read(lambda c: _page(c, discussion_id, after, count))
        return page.events

    def tail(self, discussion_id: str, *, after: int = 0) -> AsyncGenerator[StoredEvent, None]:
        async def page(start: int) -> Page:
            return await self._worker.read(lambda c: _page(c, discussion_id, start, PAGE))

        return follow(self.listening(discussion_id), page, after)

    @asynccontextmanager
    async def listening(self, discussion_id: str) -> AsyncGenerator[Waiter, None]:
        with self._signal.listening(discussion_id) as waiter, self._watcher.watching():
            yield waiter

    async def summaries(
        self, *, limit: int | None = None, search: str | None = None, said: bool = False
    ) -> list[DiscussionSummary]:
        count = _ALL if limit is None else limit
        search = (search or "").strip() if said else search
        if said and search:
            # Not by the worker: whoever appends would have to wait for it.
            words = await asyncio.to_thread(self._looked_through, Words(search))
            rows = await self._worker.read(lambda c: _summaries(c, "", _ALL))
            found = [row for row in rows if words.in_discussion(row.discussion_id, row.topic)]
            return found if limit is None else found[:limit]
        return await self._worker.read(lambda c: _summaries(c, folded(search or ""), count))

    def _looked_through(self, words: Words) -> Words:
        try:
            with closing(self._file.connect()) as connection:
                rows = connection.execute(_SAID, SAYING)
                while some := rows.fetchmany(SPEECHES_AT_ONCE):
                    words.look(_said(some))
        except sqlite3.Error as error:
            raise translate(error, self._file.path) from error
        return words

    async def delete(self, discussion_id: str) -> None:
        await self._worker.write(lambda c: _delete(c, discussion_id))
        self._signal.announce(discussion_id, None)

    async def driver(self, discussion_id: str) -> str | None:
        return await self._worker.read(lambda c: _driver(c, discussion_id))

    async def take_lease(self, discussion_id: str, owner: str, *, ttl: float) -> Lease:
        return await self._worker.write(lambda c: _take_lease(c, discussion_id, owner, ttl))

    async def renew_lease(self, lease: Lease, *, ttl: float) -> None:
        if not await self._worker.write(lambda c: _set_expiry(c, lease, time.time() + ttl)):
            raise lost(lease)

    async def release_lease(self, lease: Lease) -> None:
        await self._worker.write(lambda c: _set_expiry(c, lease, None))

    async def beside(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something with what lies beside the events, in a transaction of its own."""
        return await self._worker.write(work)

    async def close(self) -> None:
        self._watcher.close()
        await self._worker.close()
        self._signal.announce_all()


def _append(
    connection: sqlite3.Connection,
    discussion_id: str,
    events: tuple[NewEvent, ...],
    expected: int | None,
    lease: Lease | None,
) -> Plan:
    if lease is None:
        head = connection.execute(_HEAD, (discussion_id,)).fetchone()
    else:
        fence = (lease.owner, lease.epoch, discussion_id)
        head = connection.execute(_FENCED_HEAD, fence).fetchone()
        if head and not head[1]:
            raise lost(lease)
    known: dict[str, StoredEvent] = {}
    if head and (keys := keys_of(events)):
        by_keys = f"{_EVENT} AND key IN ({', '.join('?' * len(keys))})"
        for row in connection.execute(by_keys, (discussion_id, *keys)):
            found = _stored_event(discussion_id, row)
            known[found.key or ""] = found
    plan = plan_append(discussion_id, head[0] if head else None, events, known, expected)
    if plan.new:
        _write(connection, discussion_id, plan.new)
    return plan


def _write(
    connection: sqlite3.Connection, discussion_id: str, new: tuple[StoredEvent, ...]
) -> None:
    change = index_change(new)
    updated_at = _stamp(change.updated_at)
    rows = [
        (discussion_id, r.seq, _stamp(r.at), r.event.type, r.event.v, r.key, pack(dump(r.event)))
        for r in new
    ]
    if opening := change.opening:
        connection.execute(
            _INSERT_DISCUSSION,
            (
                discussion_id,
                opening.topic,
                opening.search_text,
                opening.procedure,
                change.status,
                _stamp(opening.opened_at),
                updated_at,
                change.last_seq,
            ),
        )
    else:
        connection.execute(
            _UPDATE_DISCUSSION, (change.status, updated_at, change.last_seq, discussion_id)
        )
    if change.outcome is not None:
        connection.execute(_SET_OUTCOME, (change.outcome, discussion_id))
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        statement = _INSERT_EVENTS + ", ".join([_ROW] * len(some))
        connection.execute(statement, [value for row in some for value in row])


def _page(connection: sqlite3.Connection, discussion_id: str, after: int, limit: int) -> Page:
    # The head first: events that come between the two are then news, and not overlooked.
    head = connection.execute(_HEAD, (discussion_id,)).fetchone()
    if head is None:
        raise UnknownDiscussion(discussion_id)
    last_seq, status = head
    rows = connection.execute(_AFTER, (discussion_id, after, limit)).fetchall()
    return Page([_stored_event(discussion_id, row) for row in rows], last_seq, status != "running")


def _summaries(connection: sqlite3.Connection, search: str, limit: int) -> list[DiscussionSummary]:
    rows = connection.execute(_HEADLINES, (time.time(), search, limit)).fetchall()
    return [
        DiscussionSummary(
            discussion_id=discussion_id,
            topic=topic,
            procedure=procedure,
            status=status,
            opened_at=datetime.fromisoformat(opened_at),
            updated_at=datetime.fromisoformat(updated_at),
            last_seq=last_seq,
            driver=holder(owner, unexpired=bool(unexpired)),
            outcome=outcome,
        )
        for (
            discussion_id,
            topic,
            procedure,
            status,
            opened_at,
            updated_at,
            last_seq,
            outcome,
            owner,
            unexpired,
        ) in rows
    ]


def _delete(connection: sqlite3.Connection, discussion_id: str) -> None:
    # Its events and its lease go with it: ON DELETE CASCADE.
    if not connection.execute("DELETE FROM discussions WHERE id = ?", (discussion_id,)).rowcount:
        raise UnknownDiscussion(discussion_id)


def _driver(connection: sqlite3.Connection, discussion_id: str) -> str | None:
    row = connection.execute(_LEASE, (time.time(), discussion_id)).fetchone()
    return holder(row[0], unexpired=bool(row[2])) if row else None


def _take_lease(
    connection: sqlite3.Connection, discussion_id: str, owner: str, ttl: float
) -> Lease:
    if connection.execute(_HEAD, (discussion_id,)).fetchone() is None:
        raise UnknownDiscussion(discussion_id)
    now = time.time()
    epoch = 0
    if row := connection.execute(_LEASE, (now, discussion_id)).fetchone():
        last_owner, epoch, unexpired = row
        if held_by := holder(last_owner, unexpired=bool(unexpired)):
            raise LeaseHeld(discussion_id, held_by)
    connection.execute(_GRANT, (discussion_id, owner, epoch + 1, now + ttl))
    return Lease(discussion_id, owner, epoch + 1)


def _set_expiry(connection: sqlite3.Connection, lease: Lease, expires_at: float | None) -> bool:
    """Whether the lease was still ours to set."""
    return bool(connection.execute(_SET_EXPIRY, (expires_at, *_identity(lease))).rowcount)


def _identity(lease: Lease) -> tuple[str, str, int]:
    return lease.discussion_id, lease.owner, lease.epoch


def _stored_event(discussion_id: str, row: tuple[int, str, str | None, str | bytes]) -> StoredEvent:
    seq, at, key, packed = row
    try:
        data = unpack(packed)
    except ValueError as error:
        raise damaged(discussion_id, seq) from error
    return stored_event(discussion_id, seq, datetime.fromisoformat(at), key, data)


def _said(rows: Iterable[tuple[str, str | bytes]]) -> Iterator[tuple[str, str]]:
    """What can be read of them: a search finds the rest beside a damaged row."""
    for discussion_id, packed in rows:
        with suppress(ValueError):
            yield discussion_id, unpack(packed)


def _stamp(at: datetime) -> str:
    """UTC text of one length, so that it sorts as time does."""
    return at.isoformat(timespec="microseconds")


# SQLite tells nobody of another process's commit. `PRAGMA data_version` costs microseconds, so a
# thread asks for it, and wakes an event loop only when a tailed discussion has really grown.
INTERVAL = 0.025
_IDS_AT_ONCE = 500


class Watcher:
    """Runs its thread from the first `watching` to the last."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], signal: ChangeSignal) -> None:
        self._connect = connect
        self._signal = signal
        self._lock = Lock()
        self._tails = 0
        self._stop = Event()
        self._threads: list[Thread] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        with self._lock:
            self._tails += 1
            if self._tails == 1:
                self._start()
        try:
            yield
        finally:
            with self._lock:
                self._tails -= 1
                if not self._tails:
                    self._stop.set()

    def close(self) -> None:
        """End the thread, even if there still are tails, and wait until it has gone."""
        with self._lock:
            self._stop.set()
            threads = self._threads
        for thread in threads:
            thread.join()

    def _start(self) -> None:
        # Each thread has a stop of its own: an old one may still be on its way out.
        self._stop = Event()
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = Thread(
            target=self._watch, args=(self._stop,), name="roundtable-watcher", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _watch(self, stop: Event) -> None:
        connection: sqlite3.Connection | None = None
        version: int | None = None
        told: dict[str, int] = {}
        try:
            while True:
                try:
                    connection = connection or self._connect()
                    (now,) = connection.execute("PRAGMA data_version").fetchone()
                    if now != version:
                        told = self._tell(connection, told)
                        version = now
                except sqlite3.Error:
                    # The tails find out what is wrong when they read, and raise it there.
                    self._signal.announce_all()
                if stop.wait(INTERVAL):
                    return
        finally:
            if connection is not None:
                connection.close()

    def _tell(self, connection: sqlite3.Connection, told: dict[str, int]) -> dict[str, int]:
        """Announce the tailed discussions that have grown since `told`, or are gone."""
        # Read before the numbers are: a tail that comes later reads later, too.
        tailed = self._signal.tailed()
        found: dict[str, int] = {}
        for start in range(0, len(tailed), _IDS_AT_ONCE):
            ids = tailed[start : start + _IDS_AT_ONCE]
            marks = ",".join("?" * len(ids))
            found.update(
                connection.execute(
                    f"SELECT id, last_seq FROM discussions WHERE id IN ({marks})",  # noqa: S608
                    ids,
                )
            )
        for discussion_id in tailed:
            seq = found.get(discussion_id)
            if seq is None or seq > told.get(discussion_id, 0):
                self._signal.announce(discussion_id, seq)
        return found
