"""Ctrl-C, a termination, a second process, a stop from elsewhere: nothing finished is lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import pytest

import roundtable_council
from tests.servers import Answer, hang, provider_server
from tests.wire import Asked

from .desk import Desk, obedient, wait_for

SEATS = (
    "--scholar=openai/scholar",
    "--engineer=openai/engineer",
    "--muse=openai/muse",
    "--model=openai/captain",
    "--quick",
    "--no-log",
)
HANGING = ("--all=scripted/echo", "--model=scripted/hang", "--quick", "--no-log")


def stuck_engineer(released: threading.Event) -> Callable[[Asked], Answer]:
    """Everybody answers, but the Engineer hangs until it is released."""

    def reply(asked: Asked) -> Answer:
        if asked.model == "engineer" and not released.is_set():
            return hang("I was about to")
        return obedient(asked)

    return reply


@pytest.mark.requirement("I-07", "I-08")
def test_an_interrupted_run_says_how_to_go_on_and_goes_on_without_repeating_a_call(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    with provider_server(stuck_engineer(released)) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        with desk.start("Tea or coffee?", *SEATS) as running:
            running.wait_until_it_says("Scholar: ")
            running.wait_until_it_says("Muse: ")
            server.wait(lambda log: any(r.body["model"] == "engineer" for r in log))
            running.process.send_signal(signal.SIGINT)
            outcome = running.end()
        found = desk.last_id()
        listed = desk("list")
        released.set()
        resumed = desk("resume", "--json")

    assert outcome.code == 130
    assert outcome.out == ""
    assert "Interrupted." in outcome.err
    assert f"Go on with: roundtable resume {found}\n" in outcome.err
    assert "Traceback" not in outcome.err
    assert "interrupted" in listed.out
    assert f"roundtable resume {found}" in listed.err
    assert resumed.code == 0
    assert f"Resuming {found}: 3 turns are done and are not repeated." in resumed.err
    assert resumed.document["status"] == "concluded"
    assert "Written:" not in resumed.err, "the question was asked with --no-log"
    assert [p["model"] for p in resumed.document["participants"]] == [
        "openai/scholar",
        "openai/engineer",
        "openai/muse",
    ]
    calls = [(r.body["model"], r.state) for r in server.requests]
    assert sorted(calls) == [
        ("captain", "finished"),  # the briefing
        ("captain", "finished"),  # the synthesis
        ("engineer", "broken"),
        ("engineer", "finished"),
        ("muse", "finished"),
        ("scholar", "finished"),
    ]


@pytest.mark.requirement("I-07")
def test_a_termination_ends_a_run_as_an_interruption_does(desk: Desk) -> None:
    with desk.start("Tea or coffee?", *HANGING, "-v") as running:
        running.wait_until_it_says("Captain is speaking")
        running.process.send_signal(signal.SIGTERM)
        outcome = running.end()

    assert outcome.code == 130
    assert f"Go on with: roundtable resume {desk.last_id()}" in outcome.err
    assert desk("list", "--json").document[0]["status"] == "interrupted"


@pytest.mark.requirement("I-14", "I-17")
def test_while_one_process_drives_others_may_watch_remark_and_stop_but_not_drive(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_server(stuck_engineer(threading.Event())) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        with desk.start("Tea or coffee?", *SEATS) as running:
            running.wait_until_it_says("Muse: ")
            running.wait_until_it_says("Scholar: ")
            found = desk.last_id()
            listed = desk("list")
            resumed = desk("resume", found)
            newest = desk("resume")
            deleted = desk("delete", found, "--yes")
            remark = desk("speak", found, "Mind the budget.", "--key", "k1")
            again = desk("speak", found, "Mind the budget.", "--key", "k1")
            with desk.start("show", found, "--follow", "-v") as following:
                following.wait_until_it_says("Captain, 3 words: Mind the budget.")
                stopped = desk("stop", found, "--reason", "enough heard")
                outcome = running.end()
                followed = following.end()

    assert "running" in listed.out
    assert (resumed.code, newest.code, deleted.code) == (2, 2, 2)
    assert "is being run by another process" in resumed.err
    assert f"roundtable show {found} --follow" in resumed.err
    assert "roundtable resume" not in resumed.err
    assert "No discussion was interrupted." in newest.err
    assert "is being run by another process" in deleted.err
    assert remark.code == again.code == 0
    assert "Asked it to stop" in stopped.err
    assert outcome.code == 0
    assert "It was ended early: this is the answer as far as it came." in outcome.out
    assert "enough heard" in outcome.err
    assert followed.code == 0
    assert "Mind the budget." in desk("show", found, "--full").out
    document = desk("show", found, "--json").document
    assert (document["status"], document["stop_reason"]) == ("stopped", "stopped_by_user")
    assert [s["text"] for s in document["speeches"]].count("Mind the budget.") == 1


@pytest.mark.requirement("I-07", "I-08")
def test_a_killed_run_is_listed_and_can_be_stopped_with_what_exists(desk: Desk) -> None:
    with desk.start("Tea or coffee?", *HANGING, "-v") as running:
        running.wait_until_it_says("Captain is speaking")
        running.process.kill()
        assert running.end().code == -signal.SIGKILL
    found = desk.last_id()

    assert "interrupted" in desk("list").out
    stopped = desk("stop", found)
    again = desk("stop", found)

    assert (stopped.code, again.code) == (0, 2)
    assert f"roundtable show {found}" in stopped.err
    assert "already closed" in again.err
    assert desk("list", "--json").document[0]["status"] == "stopped"


def test_an_interruption_while_the_command_is_being_loaded_is_one_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("roundtable.surfaces.cli.main", interrupted)
    with pytest.raises(SystemExit) as ended:
        roundtable_council.main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "Interrupted.\n")


def test_the_interruption_of_a_listing_command_is_one_word(desk: Desk) -> None:
    with desk.start("Tea or coffee?", *HANGING, "-v") as running:
        running.wait_until_it_says("Captain is speaking")
        with desk.start("show", desk.last_id(), "--follow", "-v") as following:
            following.wait_until_it_says("Captain is speaking")
            following.process.send_signal(signal.SIGINT)
            outcome = following.end()
        assert running.process.poll() is None
    wait_for(lambda: running.process.poll() is not None)

    assert outcome.code == 130
    assert outcome.err.endswith("Interrupted.\n")
    assert "Traceback" not in outcome.err
