"""The exit codes are true for every command: what was done, what failed, what was asked wrongly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from .desk import QUICK, Desk, environment

SLOW = ("--models=scripted/slow", "--host=scripted/slow", "--no-log")


@pytest.mark.requirement("I-02")
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("list",), 0),
        (("help",), 0),
        (("show", "rt_00000000"), 2),
        (("show",), 2),
        (("resume",), 2),
        (("resume", "rt_00000000"), 2),
        (("stop", "rt_00000000"), 2),
        (("export", "rt_00000000"), 2),
        (("delete", "rt_00000000", "--yes"), 2),
        (("verify", "absent.bundle"), 2),
        (("compare", "rt_00000000", "last"), 2),
        (("follow-up", "last", "And now?"), 2),
        (("notify", "status", "rt_00000000"), 2),
        (("help", "nothing"), 2),
        (("Tea?", "--procedure", "nothing"), 2),
        (("Tea?", "--context", "absent.md"), 2),
        (("Tea?", "--models", "opsu"), 2),
        (("Tea?", "--host", "opsu"), 2),
        (("Tea?", "--models", "scripted/ech"), 2),
        (("Tea?", "--models", "scripted/echo", "--host", "scripted/nosuch"), 2),
        (("Tea?", "--notify", "nowhere"), 2),
        (("Tea?", "--task", "nowhere:1"), 2),
        (("Tea?", "--seats", "many"), 2),
        (("",), 2),
    ],
)
def test_a_command_that_cannot_be_carried_out_is_2_and_spends_nothing(
    desk: Desk, args: tuple[str, ...], code: int
) -> None:
    outcome = desk(*args)
    assert outcome.code == code, outcome.err
    assert "Traceback" not in outcome.err
    if code:
        assert outcome.err.strip()
        assert desk("list", "--json").document == []


def test_everything_that_cannot_be_told_is_told_at_once(desk: Desk) -> None:
    outcome = desk.ask("--notify", "nowhere", "--task", "elsewhere:1")
    assert outcome.code == 2
    assert "no channel 'nowhere' is set up" in outcome.err
    assert "[boards.elsewhere]" in outcome.err


def test_a_board_without_its_token_is_refused_before_anything_is_spent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    desk.home.mkdir()
    (desk.home / "config.toml").write_text('[boards.hub]\nkind = "github"\nrepo = "a/b"\n')
    outcome = desk.ask("--task", "hub:7")
    assert outcome.code == 2
    assert "Set GITHUB_TOKEN." in outcome.err
    assert desk("list", "--json").document == []


def test_no_verdict_is_1_and_a_limit_is_3_also_when_resumed(desk: Desk) -> None:
    failed = desk("Tea?", "--models=scripted/mute", "--host=scripted/echo", "--no-log", "--quick")
    assert failed.code == 1
    cut = desk("Tea or coffee?", *QUICK, "--max-calls", "3")
    assert cut.code == 3
    assert desk("resume", desk.last_id(), "--no-log").code == 3, "as it ended"


@pytest.mark.requirement("I-02", "X-13")
@pytest.mark.parametrize("form", [(), ("--json",), ("-q",)])
def test_a_table_at_which_nobody_voted_has_no_verdict(desk: Desk, form: tuple[str, ...]) -> None:
    models = ("--models=scripted/undeclared", "--host=scripted/echo", "--no-log", "--quick")
    outcome = desk("Tea or coffee?", "--choices", "tea,coffee", *models, *form)
    assert outcome.code == 1
    assert "nobody chose an answer. None of the 3 experts declared a vote" in outcome.err
    if form == ("--json",):
        assert outcome.document["answer"] == ""


@pytest.mark.parametrize("args", [("--help",), ("ask", "--help"), ("help",), ("examples",)])
def test_a_reader_that_leaves_early_sees_no_traceback(desk: Desk, args: tuple[str, ...]) -> None:
    unread, pipe = os.pipe()
    os.close(unread)
    with os.fdopen(pipe, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "roundtable", *args],
            stdout=closed,
            stderr=subprocess.PIPE,
            cwd=desk.workspace,
            env=environment({}),
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.requirement("I-08")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_batch_is_130_and_says_how_to_go_on(
    desk: Desk, number: signal.Signals
) -> None:
    path = desk.workspace / "questions.txt"
    path.write_text("Should we drink tea?\nShould we walk?\n")
    with desk.start("ask", "--questions", str(path), *SLOW) as running:
        running.wait_until_it_says("Question 1 of 2")
        running.process.send_signal(number)
        outcome = running.end()
    assert outcome.code == 130, outcome.err
    assert "Give the same command again" in outcome.err
    assert "Traceback" not in outcome.err
