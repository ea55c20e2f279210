"""The watcher of a SQLite file: notices what other processes commit, while anybody tails.

SQLite tells nobody of another process's commit. `PRAGMA data_version` costs microseconds, so a
thread asks for it, and wakes an event loop only when a tailed discussion has really grown.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

from .tail import ChangeSignal

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
