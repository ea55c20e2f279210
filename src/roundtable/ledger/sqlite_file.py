"""A SQLite file: open it, recognise it as ours, bring its schema up to date, wait while it is busy,
and say what its errors mean.

A file that is not ours, or newer than we are, is left exactly as it was.
"""

from __future__ import annotations

import errno
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from math import inf
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic, sleep
from typing import TypeVar
from urllib.parse import quote

from ..core.errors import (
    LedgerBroken,
    LedgerBusy,
    LedgerError,
    LedgerFull,
    LedgerMissing,
    LedgerReadOnly,
    LedgerUnreachable,
    RoundtableError,
)
from ..private import private_folder, touch_private
from .migrations import pending
from .rescue import SUFFIX as RESCUE

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ROOM = 64 * 1024
"""What SQLite lays beside a database before it reads the first row is half as long."""
_PRIMARY = 0xFF
"""SQLite's extended result codes keep the primary one in the lowest byte."""


def primary_code(error: sqlite3.Error) -> int:
    """The primary result code; 0 for errors that Python's module raises by itself."""
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY


def is_busy(error: sqlite3.Error) -> bool:
    return primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def translate(error: sqlite3.Error, path: Path) -> RoundtableError:
    """The error of our tree that says what happened at `path`."""
    match primary_code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LedgerBusy(
                f"Another process holds {path} locked.",
                "Try again when it has finished; a backup or an open transaction may hold it.",
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return read_only(path)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR if not has_room(path.parent):
            # Even to read, SQLite needs room: it lays a file beside the database.
            return full(path)
        case sqlite3.SQLITE_CANTOPEN:
            return LedgerReadOnly(
                f"{path} cannot be opened.",
                "Make the file and its folder readable and writable,"
                " or choose another database with ROUNDTABLE_DB.",
            )
        case sqlite3.SQLITE_FULL:
            return full(path)
        case sqlite3.SQLITE_NOTADB:
            return LedgerBroken(
                f"{path} is not a SQLite database.",
                "Choose another file with ROUNDTABLE_DB; this one was left as it is.",
            )
        case sqlite3.SQLITE_CORRUPT:
            return LedgerBroken(
                f"{path} is damaged.",
                "Restore it from a backup, or save what can be read with `sqlite3 … .recover`.",
            )
        case sqlite3.SQLITE_IOERR:
            return LedgerUnreachable(f"The disk under {path} failed: {error}.", "Check the disk.")
        case _:
            return LedgerError(f"{path}: {error}.")


def full(path: Path) -> LedgerFull:
    return LedgerFull(
        f"There is no room left for {path}.",
        "Free some space and try again; what was written before is safe.",
    )


def has_room(folder: Path) -> bool:
    """Whether a little more can be written there: by trying, for a disk, a quota and a limit of
    the process are full in different places."""
    try:
        with TemporaryFile(dir=folder, buffering=0) as probe:
            return probe.write(bytes(_ROOM)) == _ROOM
    except OSError as error:
        return error.errno not in _NO_ROOM


def read_only(path: Path) -> LedgerReadOnly:
    return LedgerReadOnly(
        f"{path} cannot be written.",
        "Make the file and its folder writable, or choose another database with ROUNDTABLE_DB.",
    )


# SQLite's own busy handler waits longer the longer it has waited, so that the newest writer wins
# and an old one may starve (seconds, among four). Here every try is made after the same short,
# random pause, however old the wish: the longest wait is then tens of milliseconds.
T = TypeVar("T")

_LONGEST_PAUSE = 0.003
_LAST = 0.5
"""Seconds for which a busy database is tried on after its ledger was closed."""


class BusyRetry:
    """Waits in the calling thread. After `seconds`, SQLITE_BUSY goes through to the caller."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._latest = inf
        self._random = random.Random()  # noqa: S311 - spreads the tries, guards nothing

    def deadline(self) -> float:
        """When a wish that is made now has waited long enough."""
        return monotonic() + self._seconds

    def end_soon(self) -> None:
        """Nobody is there any more who would wait: what is busy is tried for a moment longer."""
        self._latest = monotonic() + _LAST

    def retry(self, work: Callable[[], T], deadline: float) -> T:
        """Do `work`, again and again while the database is busy, until the deadline."""
        while True:
            try:
                return work()
            except sqlite3.OperationalError as error:
                if not is_busy(error) or monotonic() >= min(deadline, self._latest):
                    raise
            sleep(self._random.uniform(0, _LONGEST_PAUSE))


APPLICATION_ID = 0x526F756E
"""Stands in the header of every database of ours ("Roun"), for us and for file(1)."""

# One statement, so that a database that is being made just now is seen either empty or whole.
_IDENTITY = """
    SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)
    FROM pragma_application_id, pragma_user_version
"""


def version_in(connection: sqlite3.Connection, path: Path) -> int:
    """The schema's version; 0 for an empty file. LedgerBroken if it is somebody else's."""
    application, version, tables = connection.execute(_IDENTITY).fetchone()
    if application == APPLICATION_ID:
        return int(version)
    if application or version or tables:
        raise LedgerBroken(
            f"{path} is a database of another program.",
            "Choose another file with ROUNDTABLE_DB; this one was left as it is.",
        )
    return 0


_BUSY_TIMEOUT = 0.01
"""Seconds that SQLite itself waits; how often we try again is BusyRetry's concern."""


def refuse_what_was_left_alone(path: Path) -> None:
    """A log, or a rescue file, without its database belongs to one that was moved, and may be in
    use. SQLite would take the log for that of the new one; and an empty database beside answers
    that wait for theirs would look as if nothing had been lost."""
    if _identity(path) is not None:
        return
    left: dict[Path, str] = {}
    log = _log(path)
    if log.exists() and log.stat().st_size:
        left[log] = "its log is"
    rescue = path.with_name(path.name + RESCUE)
    if any(rescue.glob("*.jsonl")):
        left[rescue] = "answers that were to be stored in it are"
    if left:
        raise LedgerMissing(
            f"{path} is gone, but {' and '.join(left.values())} still there.",
            "Put the database back. Without it all its discussions are lost; to begin with an "
            f"empty one, remove {' and '.join(map(str, left))}.",
        )


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


class SqliteFile:
    """The database at `path`, which need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self._immutable = False
        self._log = _log(self.path)
        self._known: Identity | None = None
        self._known_log: Identity | None = None

    def open(self, busy_retry: BusyRetry) -> sqlite3.Connection:
        """A connection to a database of ours at the present version: made, migrated, or as it was.

        One that cannot be written is opened all the same, for reading.
        """
        self._make_folder()
        refuse_what_was_left_alone(self.path)
        touch_private(self.path)
        # All over again when somebody else is at it: no step has to care about locks.
        connection = busy_retry.retry(self._open, busy_retry.deadline())
        self._known, self._known_log = _identity(self.path), None
        return connection

    def in_place(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """The connection to go on with. SQLite writes on into a file that was taken away, where
        nobody will ever find it: LedgerUnreachable instead, until it is back.

        Where only the log was removed, everything is still in our hands: it is brought into the
        database, and another log is begun.
        """
        if self._immutable:
            return connection
        found = _identity(self.path)
        if found != self._known:
            raise _displaced(self.path, gone=found is None)
        log = _identity(self._log)
        if log == self._known_log:
            return connection
        if self._known_log is not None:
            connection = self._with_new_log(connection, log)
            log = _identity(self._log)
        self._known_log = log
        return connection

    def _with_new_log(
        self, connection: sqlite3.Connection, log: Identity | None
    ) -> sqlite3.Connection:
        if log is None:  # else another process has begun one already, and goes by that
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        fresh = self._open()
        # The new one holds the database: so the old one, as it ends, removes no log of others.
        connection.close()
        return fresh

    def _open(self) -> sqlite3.Connection:
        connection, version = self._recognise()
        try:
            lacking = pending("sqlite", version, str(self.path))
            _configure(connection)
            if lacking:
                self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def connect(self) -> sqlite3.Connection:
        """A bare connection, without implicit transactions. It neither reads nor writes yet."""
        path = quote(self.path.as_posix())
        # Never one that is made on the way: what was taken away must not come back empty.
        options = "mode=ro&immutable=1" if self._immutable else "mode=rw"
        return sqlite3.connect(
            f"file:{path if path.startswith('/') else '/' + path}?{options}",
            uri=True,
            timeout=_BUSY_TIMEOUT,
            isolation_level=None,
        )

    def _make_folder(self) -> None:
        try:
            is_folder = self.path.is_dir()
            private_folder(self.path.parent)
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise full(self.path) from error
            raise LedgerReadOnly(
                f"{self.path.parent} is no place for a database: {error.strerror}.",
                "Choose another one with ROUNDTABLE_DB.",
            ) from error
        if is_folder:
            raise LedgerBroken(
                f"{self.path} is a folder, not a database.", "Name a file with ROUNDTABLE_DB."
            )

    def _recognise(self) -> tuple[sqlite3.Connection, int]:
        """A connection that has read the file, and the version of the schema in there."""
        connection = self.connect()
        try:
            return connection, version_in(connection, self.path)
        except BaseException as error:
            connection.close()
            if not self._can_only_be_read_as_it_stands(error):
                raise
        self._immutable = True
        return self._recognise()

    def _can_only_be_read_as_it_stands(self, error: BaseException) -> bool:
        """Whether the folder is read-only, so that SQLite cannot share memory with writers there.

        Then nobody of our rights writes, and the file may be read as one that never changes;
        but not with a write-ahead log beside it, for what stands in there would be missed.
        """
        if not isinstance(error, sqlite3.Error) or self._immutable:
            return False
        if primary_code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return False
        try:
            log = self._log.stat().st_size if self._log.exists() else 0
            return self.path.stat().st_size > 0 and not log
        except OSError:
            return False

    def _migrate(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked again under the lock: another process may have migrated it meanwhile.
            version = version_in(connection, self.path)
            lacking = pending("sqlite", version, str(self.path))
            if lacking and version:
                self._back_up(version)
            for migration in lacking:
                for statement in _statements(migration.sql):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {migration.version}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.rollback()
            raise

    def _back_up(self, version: int) -> None:
        """Copy the database as it was, before the transaction that is open now."""
        target = _unused(self.path.with_name(f"{self.path.name}.v{version}.bak"))
        unfinished = target.with_name(target.name + ".tmp")
        try:
            unfinished.unlink(missing_ok=True)
            touch_private(unfinished)
            with closing(self.connect()) as source, closing(sqlite3.connect(unfinished)) as copy:
                source.backup(copy)
            unfinished.rename(target)
        except BaseException as error:
            with suppress(OSError):
                unfinished.unlink()
            if isinstance(error, OSError):
                raise LedgerReadOnly(
                    f"{self.path} cannot be backed up before its schema is upgraded:"
                    f" {error.strerror}.",
                    "Make its folder writable.",
                ) from error
            raise


Identity = tuple[int, int]


def _identity(path: Path) -> Identity | None:
    """What tells a file from another one of its name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _displaced(path: Path, *, gone: bool) -> LedgerMissing:
    if gone:
        return LedgerMissing(f"{path} is gone.", "Put it back where it was.")
    return LedgerMissing(
        f"{path} is another file than before.",
        "Put the former one back, or end Roundtable and start it again with this one.",
    )


def _configure(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if primary_code(error) != sqlite3.SQLITE_READONLY:
            raise


def _unused(path: Path) -> Path:
    """`path`, or the first of path.2, path.3 … that does not exist: a backup is never replaced."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}.{number}")
    return candidate


def _statements(script: str) -> Iterator[str]:
    """The statements one by one: sqlite3's executescript would commit before it begins."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
