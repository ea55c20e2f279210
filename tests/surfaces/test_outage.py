"""The database goes away under a command: it says so in a line, waits, and loses nothing."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.postgres import RestartingServer, postgres_that_restarts
from tests.servers import Answer, ProviderServer, hang, provider_server
from tests.wire import Asked

from .desk import QUICK, Desk, environment, obedient
from .test_interruption import SEATS

AWAY = "The database does not answer; what was said is kept. Trying again"
GONE = "roundtable.db is gone. Put it back where it was. What is said meanwhile is kept. Trying"
FIRST = "Put the database back first, then"
ONCE = ["captain", "captain", "engineer", "muse", "scholar"]
"""The calls of a discussion in which nothing was asked twice."""


class Mover:
    """Takes the database away while the Captain thinks about its first answer, and nobody else
    speaks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.away = path.with_name("somewhere.db")
        self.moved = False

    def __call__(self, asked: Asked) -> Answer:
        if not self.moved:
            self.path.rename(self.away)
            self.moved = True
        return obedient(asked)

    def put_back(self) -> None:
        self.away.rename(self.path)


@pytest.fixture
def mover(desk: Desk) -> Mover:
    return Mover(desk.home / "roundtable.db")


@pytest.fixture
def server(mover: Mover, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with provider_server(mover) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        yield server


def called(server: ProviderServer) -> list[str]:
    return sorted(each.body["model"] for each in server.requests if each.method == "POST")


@pytest.mark.requirement("Z-01")
def test_a_run_whose_database_comes_back_goes_on_to_its_end(
    desk: Desk, mover: Mover, server: ProviderServer
) -> None:
    with desk.start("Tea or coffee?", *SEATS) as running:
        running.wait_until_it_says(GONE)
        listed = desk.command("list")
        mover.put_back()
        outcome = running.end()
    assert outcome.code == 0, outcome.err
    assert outcome.err.count(GONE) == outcome.err.count("It is back.") == 1
    assert called(server) == ONCE
    assert "Traceback" not in outcome.err + listed.err
    assert listed.code == 2
    assert "roundtable.db is gone, but its log is and answers" in listed.err


class Stopper:
    """Stops the server of the database at the call of that number."""

    def __init__(self, database: RestartingServer, number: int) -> None:
        self._database = database
        self._number = number
        self._calls = count(1)

    def __call__(self, asked: Asked) -> Answer:
        if next(self._calls) == self._number:
            self._database.stop()
        return obedient(asked)


@pytest.mark.requirement("Z-01")
@pytest.mark.parametrize("call", [1, 3, 5])
def test_a_run_whose_server_is_restarted_goes_on_to_its_end_and_asks_nobody_twice(
    desk: Desk, call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        postgres_that_restarts() as database,
        provider_server(Stopper(database, call)) as server,
    ):
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        with desk.start("Tea or coffee?", *SEATS, ROUNDTABLE_DB=database.url) as running:
            running.wait_until_it_says(AWAY)
            database.start()
            outcome = running.end()
        assert outcome.code == 0, outcome.err
        assert outcome.err.count(AWAY) == outcome.err.count("It is back.") == 1
        assert called(server) == ONCE


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ending_a_run_by_hand_while_its_server_is_away_says_when_it_can_go_on(
    desk: Desk, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        postgres_that_restarts() as database,
        provider_server(Stopper(database, 3)) as server,
    ):
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        with desk.start("Tea or coffee?", *SEATS, ROUNDTABLE_DB=database.url) as running:
            running.wait_until_it_says(AWAY)
            running.process.send_signal(how)
            outcome = running.end()
        assert outcome.code == 130
        last = outcome.err.splitlines()[-1]
        first = "Once the database can be used again, go on with: roundtable resume rt_"
        assert last.startswith(first)
        database.start()
        resumed = desk.command("resume", "--no-log", ROUNDTABLE_DB=database.url)
        assert resumed.code == 0, resumed.err


def test_a_run_that_is_killed_while_the_database_is_away_goes_on_with_what_was_said(
    desk: Desk, mover: Mover, server: ProviderServer
) -> None:
    with desk.start("Tea or coffee?", *SEATS) as running:
        running.wait_until_it_says(GONE)
        kept = next(desk.home.glob("roundtable.db.rescue/*.jsonl"))
        running.process.kill()
        running.end()
    mover.put_back()
    resumed = desk("resume", "--no-log")
    assert resumed.code == 0, resumed.err
    assert called(server) == ONCE
    assert not kept.exists()


def test_a_run_whose_database_does_not_come_back_says_what_is_kept_where_and_how_to_go_on(
    desk: Desk, mover: Mover, server: ProviderServer
) -> None:
    with desk.start("Tea or coffee?", *SEATS, ROUNDTABLE_DB_PATIENCE="0.1") as running:
        outcome = running.end()
    assert outcome.code == 1
    assert outcome.out == ""
    assert "Error: The database has not come back:" in outcome.err
    assert f"{FIRST} go on with: roundtable resume rt_" in outcome.err
    assert "Nothing finished is lost" not in outcome.err
    (kept,) = desk.home.glob("roundtable.db.rescue/*.jsonl")
    assert f"is kept in {kept}. All that was said before is in that database" in outcome.err
    assert "Traceback" not in outcome.err

    mover.put_back()
    shown = desk("show", "last")  # any command that looks at it takes it in
    assert shown.code == 0
    assert not kept.exists()
    assert desk("resume", "--no-log").code == 0
    assert called(server) == ONCE


def test_ending_a_run_by_hand_while_the_database_is_away_says_what_is_kept(
    desk: Desk, mover: Mover, server: ProviderServer
) -> None:
    with desk.start("Tea or coffee?", *SEATS) as running:
        running.wait_until_it_says(GONE)
        running.process.send_signal(signal.SIGINT)
        outcome = running.end()
    assert outcome.code == 130
    assert "What was said meanwhile is kept in" in outcome.err
    last = outcome.err.splitlines()[-1]
    assert last.startswith(f"{FIRST} go on with: roundtable resume rt_")
    assert "Nothing finished is lost" not in outcome.err
    refused = desk("resume", "--no-log")
    assert refused.code == 2
    assert "Put the database back" in refused.err
    mover.put_back()
    assert desk("resume", "--no-log").code == 0
    assert called(server) == ONCE


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--json",)])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_before_it_missed_its_database_says_that_it_is_gone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], how: signal.Signals
) -> None:
    with provider_server(lambda _: hang("I was about to")) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        with desk.start("Tea or coffee?", *SEATS, *more) as running:
            server.wait(lambda log: any(each.method == "POST" for each in log))
            (desk.home / "roundtable.db").rename(desk.home / "somewhere.db")
            running.process.send_signal(how)
            outcome = running.end()
    assert outcome.code == 130
    assert outcome.out == ""
    assert "roundtable.db is gone. " in outcome.err
    assert "All that was said before is in that database, and nowhere else." in outcome.err
    last = outcome.err.splitlines()[-1]
    assert last.startswith(f"{FIRST} go on with: roundtable resume rt_")
    assert "Nothing finished is lost" not in outcome.err


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("more", [(), ("--quiet",), ("--json",), ("--at-once=2",)])
@pytest.mark.parametrize("by_hand", [True, False])
def test_many_questions_whose_database_is_gone_say_what_has_to_come_first(
    desk: Desk, mover: Mover, more: tuple[str, ...], by_hand: bool
) -> None:
    (desk.workspace / "q.txt").write_text("Tea or coffee?\nCats or dogs?\n", "utf-8")
    patience = "300" if by_hand else "0.1"
    asked = ("ask", "--questions", "q.txt", *SEATS, *more)
    with desk.start(*asked, ROUNDTABLE_DB_PATIENCE=patience) as running:
        running.wait_until_it_says(GONE)
        if by_hand:
            running.process.send_signal(signal.SIGINT)
        outcome = running.end()
    assert outcome.code == (130 if by_hand else 1)
    assert outcome.err.splitlines()[-1].startswith(f"{FIRST} give the same command again")
    assert "What was answered is kept" not in outcome.err
    assert "and nowhere else." in outcome.err
    mover.put_back()
    begun = desk("list", "--json").document
    if not by_hand and "--json" in more:
        first, second = outcome.document["questions"]
        assert first["discussion_id"] in {each["discussion_id"] for each in begun}
        assert (first["ended"], first["known_cost_usd"]) == ("interrupted", None)
        assert (second["discussion_id"], second["ended"]) == (None, "failed")
        assert "which goes on with what was interrupted and tries what failed." in outcome.err
    if not by_hand and not more:
        assert f"1  {begun[0]['discussion_id']}  interrupted" in outcome.out
    assert desk("ask", "--questions", "q.txt", *SEATS, "--quiet").code == 0


def no_file_larger_than(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def in_a_tight_place(size: int, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "roundtable", *args],
        capture_output=True,
        text=True,
        env=environment(env),
        timeout=60,
        preexec_fn=no_file_larger_than(size),
    )


@pytest.mark.parametrize("size", [0, 4096, 20_000])
def test_a_home_without_room_is_said_before_anything_is_spent(
    server: ProviderServer, size: int
) -> None:
    done = in_a_tight_place(size, "Tea or coffee?", *SEATS)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("Error: ")
    assert "roundtable.db" in done.stderr
    assert "Traceback" not in done.stderr
    assert called(server) == []


@pytest.mark.requirement("I-04", "Z-36")
@pytest.mark.parametrize(
    "command", [("Tea or coffee?", *SEATS), ("list",), ("show", "last"), ("doctor",)]
)
def test_a_disk_that_is_full_from_the_start_is_called_that_and_the_database_is_left_alone(
    desk: Desk, server: ProviderServer, command: tuple[str, ...]
) -> None:
    assert desk.ask().code == 0
    before = (desk.home / "roundtable.db").read_bytes()

    done = in_a_tight_place(4096, *command)

    told = " ".join((done.stdout + done.stderr).split())
    assert f"There is no room left for {desk.home / 'roundtable.db'}." in told
    assert "Free some space and try again; what was written before is safe." in told
    assert "disk failed" not in told
    assert "Move" not in told
    assert done.returncode == (1 if command == ("doctor",) else 2)
    assert called(server) == []
    assert (desk.home / "roundtable.db").read_bytes() == before
    assert desk("list").code == 0


@pytest.mark.requirement("I-04", "Z-36")
def test_the_doctor_calls_a_full_disk_that_before_and_after_a_command_has_met_it(
    desk: Desk,
) -> None:
    database = desk.home / "roundtable.db"
    first, listed, second = (in_a_tight_place(0, each) for each in ("doctor", "list", "doctor"))

    assert listed.returncode == 2, listed.stderr
    assert listed.stderr.startswith(f"Error: There is no room left for {database}.")
    assert database.read_bytes() == b"", "it was begun"

    for examined in (first, second):
        assert examined.returncode == 1
        assert f"✗ home: There is no room left in {desk.home}." in examined.stdout
        assert f"✗ database: There is no room left for {database}." in examined.stdout
        assert "another program" not in examined.stdout
    roomy = desk("doctor")
    assert roomy.code == 0, roomy.out
    assert f"{database} is created with the first discussion." in roomy.out


@pytest.mark.skipif(not Path("/sys/kernel").exists(), reason="only where there is such a place")
@pytest.mark.parametrize("command", [("Tea or coffee?", *QUICK), ("list",), ("show", "last")])
def test_a_home_that_cannot_be_written_is_said_in_a_line(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ROUNDTABLE_HOME", "/sys/kernel/roundtable")  # not even by root
    outcome = desk(*command)
    assert outcome.code == 2
    assert outcome.err.startswith("Error: /sys/kernel/roundtable is no place for a database")
    assert "ROUNDTABLE_DB" in outcome.err


def test_files_that_cannot_be_written_take_no_verdict_away(desk: Desk) -> None:
    full = Path("/dev/full")
    outcome = desk("Tea or coffee?", *QUICK[:-1], "--output-dir", str(full / "x"))
    assert outcome.code == 0
    assert "Note: not everything could be written" in outcome.err
    assert outcome.out.strip()
