"""What every test shares: one event loop backend, and a home that is not the user's."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .requirement_report import RequirementReport

if TYPE_CHECKING:
    from .postgres import PostgresServer


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--requirements", action="store_true", help="list every requirement and its tests"
    )
    parser.addoption("--requirements-table", type=Path, help="write that list to a Markdown file")


def pytest_configure(config: pytest.Config) -> None:
    # Started in the background, a shell makes us ignore Ctrl-C, and our children inherit that:
    # the tests that interrupt them would then wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    report = RequirementReport(
        full=bool(config.getoption("--requirements")),
        document=config.getoption("--requirements-table"),
    )
    config.pluginmanager.register(report, "requirement-report")
    if "PYTEST_XDIST_WORKER" in os.environ:
        _take_time()


def _take_time() -> None:
    """Other workers make an example slow, which says nothing of what is tested."""
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "workers", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("workers")


def pytest_collection_finish() -> None:
    """Thousands of tests and all modules are there to the end: nobody need look through them again
    and again for what can be forgotten, nor after every seven hundred objects for the rest."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _experts_read_once() -> Iterator[None]:
    from .experts.once import read_experts_once

    with pytest.MonkeyPatch.context() as patch:
        read_experts_once(patch)
        yield


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _own_umask() -> Iterator[None]:
    """What a test puts into a home is closed to others, as it is where we have written it: only
    the tests of that mean to be told of it."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Places for homes, none of which is there before somebody writes into it."""
    base = tmp_path_factory.mktemp("homes")
    return (base / f"{number}" / "home" for number in count())


@pytest.fixture(autouse=True)
def _own_home(
    request: pytest.FixtureRequest, _homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test reads or writes the real user's home, keys or settings. Most use none: only those
    that have a folder of their own find it there."""
    home = next(_homes)
    if "tmp_path" in request.fixturenames:
        home = request.getfixturevalue("tmp_path") / "home"
    for name in list(os.environ):
        if name.startswith("ROUNDTABLE_") or name.endswith(("_API_KEY", "_BASE_URL", "_HOST")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ROUNDTABLE_HOME", str(home))
    # Also where ddgs happens to be installed, no test searches the web.
    monkeypatch.delenv("SEARXNG_URL", raising=False)
    monkeypatch.setenv("ROUNDTABLE_SEARCH", "none")
    # Nobody is asked for a list of models but by the tests of that: vendors are not on loopback.
    monkeypatch.setenv("ROUNDTABLE_MODEL_LISTS", "false")
    # The calls of ordinary tests are those of the procedure; tests of casting ask for it.
    monkeypatch.setenv("ROUNDTABLE_CASTING", "library")


@pytest.fixture
def within_reach(tmp_path: Path) -> None:
    """Another user may come to the test's folder. A worker has one more folder above it."""
    above = 4 if "PYTEST_XDIST_WORKER" in os.environ else 3
    for folder in (tmp_path, *tmp_path.parents)[:above]:
        folder.chmod(0o755)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server that all tests share."""
    from .postgres import NoPostgres, postgres_server

    with ExitStack() as stack:
        try:
            server = stack.enter_context(postgres_server())
        except NoPostgres as error:
            if os.environ.get("CI"):
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield server


@pytest.fixture(scope="session")
def pgbouncer_port(postgres: PostgresServer) -> Iterator[int]:
    """Where a PgBouncer in transaction mode stands before that server."""
    from .debian import Missing
    from .pgbouncer import pgbouncer

    with ExitStack() as stack:
        try:
            port = stack.enter_context(pgbouncer(postgres.port))
        except Missing as error:
            if os.environ.get("CI"):
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield port


@pytest.fixture
def pgbouncer_url(postgres_url: str, pgbouncer_port: int) -> str:
    """The same database as `postgres_url`, through PgBouncer."""
    database = postgres_url.rpartition("/")[2]
    return f"postgresql://roundtable@127.0.0.1:{pgbouncer_port}/{database}"


@pytest.fixture(scope="session")
def _postgres_database(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
def postgres_url(postgres: PostgresServer, _postgres_database: str) -> str:
    """The address of an empty database, the test's own while it runs."""
    postgres.clean(_postgres_database)
    return _postgres_database
