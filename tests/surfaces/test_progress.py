"""Progress while it runs: live in a terminal, plain lines without one, control codes never."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.forked import Program
from tests.servers import provider_server
from tests.wire import Asked

from .desk import ECHO, QUICK, Desk, environment, obedient
from .pane import Page

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Screen:
    """A terminal with a command line in it."""

    def __init__(self, keyboard: int, other_side: ExitStack, process: Program) -> None:
        self.process = process
        self.seen = ""
        self._keyboard = keyboard
        self._other_side = other_side

    def wait_for(self, words: str) -> None:
        deadline = time.monotonic() + 60
        while words not in self.seen:
            assert time.monotonic() < deadline, self.seen
            assert self._read(), self.seen

    def type(self, text: str) -> None:
        os.write(self._keyboard, text.encode())

    def end(self) -> int:
        while self._read():
            pass
        return self.process.wait(60)

    def _read(self) -> bool:
        select.select([self._keyboard, self.process.sentinel], [], [], 60)
        if self.process.poll() is not None:
            self._other_side.close()  # nobody writes there any more: what was written has an end
        try:
            data = os.read(self._keyboard, 65_536)
        except OSError:  # how Linux says that the other side has closed
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)


@contextmanager
def terminal(desk: Desk, *args: str, **env: str) -> Iterator[Screen]:
    ours, theirs = pty.openpty()
    with ExitStack() as stack:
        stack.callback(os.close, ours)
        # Until the program has opened it, somebody must: else it would be over at once.
        other_side = stack.enter_context(ExitStack())
        other_side.callback(os.close, theirs)
        process = Program(
            args,
            stdin=(device := os.ttyname(theirs)),
            stdout=device,
            stderr=device,
            cwd=desk.workspace,
            env=environment({"TERM": "xterm", "COLUMNS": "100", "LINES": "40", **env}),
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield Screen(ours, other_side, process)


@pytest.mark.requirement("I-06")
def test_a_terminal_shows_who_speaks_their_words_time_tokens_and_cost(desk: Desk) -> None:
    seats = ("--all=scripted/slow", "--model=scripted/slow", "--quick", "--no-log")
    with terminal(desk, "Tea or coffee?", *seats) as screen:
        screen.wait_for("● thinking")
        assert screen.end() == 0

    watched, _, left = screen.seen.rpartition("✓ 3 experts, 1 round, 0:0")
    assert re.search(r"Scholar +.*slow", watched)
    assert "● answers" in watched
    assert re.search(r"0:0\d of about 0:0\d    \$0\.00", watched)
    assert re.search(r"rt_[0-9a-f]{8} 5 calls, [\d,]+ tokens, free", left)
    assert not re.search(r"\x1b\[\d*[A-HJK]", left), "what is left is text, and stays"


@pytest.mark.requirement("I-06")
def test_one_question_leaves_less_than_a_screen_or_two(desk: Desk) -> None:
    with terminal(desk, "Tea or coffee?", *ECHO, "--no-log") as screen:
        assert screen.end() == 0

    page = Page(100, 40)
    page.feed(screen.seen)
    assert len([line for line in page.lines if line.strip()]) <= 60
    assert not any("thinking" in line or "●" in line for line in page.lines), "the view is gone"


@pytest.mark.requirement("I-06")
def test_plain_progress_can_be_had_in_a_terminal(desk: Desk) -> None:
    with terminal(desk, "Tea or coffee?", *QUICK, "--plain") as screen:
        assert screen.end() == 0

    assert "Scholar: Try it on a small scale and see. (139 words)" in screen.seen
    assert "\x1b" not in screen.seen


@pytest.mark.requirement("C-11")
@pytest.mark.parametrize(("typed", "held"), [("yes\n", "performed"), ("N\n", "skipped on request")])
def test_a_person_is_asked_about_round_2_while_the_display_stands_still(
    desk: Desk, typed: str, held: str
) -> None:
    desk.config('{"round2": "ask"}')
    with terminal(desk, "Tea or coffee?", *ECHO, "--no-log") as screen:
        screen.wait_for("[yes/no]")
        screen.type("perhaps\n")
        screen.wait_for("Please answer with yes or no.")
        screen.type(typed)
        assert screen.end() == 0

    assert "Hold round 2, the cross-examination? It costs about twice as much." in screen.seen
    assert held in desk("show", "last", "--full").out


@pytest.mark.requirement("I-07")
def test_an_interruption_at_a_question_ends_the_program_at_once(desk: Desk) -> None:
    desk.config('{"round2": "ask"}')
    with terminal(desk, "Tea or coffee?", *ECHO, "--no-log") as screen:
        screen.wait_for("[yes/no]")
        screen.process.send_signal(signal.SIGINT)
        assert screen.end() == 130

    assert "Go on with: roundtable resume" in screen.seen
    assert desk("list", "--json").document[0]["status"] == "interrupted"


@pytest.mark.requirement("C-32", "I-07")
def test_an_interruption_at_the_confirmation_spends_nothing(desk: Desk) -> None:
    with terminal(desk, "Tea or coffee?", *QUICK, "--confirm") as screen:
        screen.wait_for("Go ahead? [y/N]")
        screen.process.send_signal(signal.SIGINT)
        assert screen.end() == 130

    assert desk("show", desk.last_id(), "--json").document["usage"]["calls"] == 0


@pytest.mark.requirement("C-32")
def test_a_person_confirms_in_a_terminal(desk: Desk) -> None:
    with terminal(desk, "Tea or coffee?", *QUICK, "--confirm", "--plain") as screen:
        screen.wait_for("Go ahead? [y/N]")
        screen.type("y\n")
        assert screen.end() == 0

    assert "The table chose no answer." in screen.seen


@pytest.mark.requirement("I-06")
def test_without_a_terminal_there_are_no_control_codes(desk: Desk) -> None:
    outcome = desk.beside("Tea or coffee?", *ECHO, "--no-log", FORCE_COLOR="1")

    assert not CONTROL.search(outcome.out + outcome.err)
    assert "Scholar: Try it on a small scale and see." in outcome.err


@pytest.mark.requirement("I-06")
def test_a_models_words_cannot_command_the_terminal(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hostile(asked: Asked) -> str:
        return obedient(asked).replace(" by ", " \x1b]0;owned\x07\x1b[2J\x9b31m by ")

    seats = ("--all=openai/any", "--model=openai/any", "--quick", "--no-log")
    with provider_server(hostile) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        plain = desk("Tea or coffee?", *seats)
        with terminal(desk, "Tea or coffee?", *seats) as screen:
            assert screen.end() == 0
    shown = desk("show", desk.last_id(), "--full")
    exported = desk("export", desk.last_id())

    assert "owned" in shown.out
    for text in (plain.out, plain.err, shown.out):
        assert not CONTROL.search(text)
    assert "\x1b]0;" not in screen.seen
    assert "\x1b[2J" not in screen.seen
    assert "\x9b" not in screen.seen
    assert exported.code == 0


@pytest.mark.requirement("I-06")
@pytest.mark.parametrize("columns", [20, 40, 80])
@pytest.mark.parametrize(
    "line", [("list",), ("models",), ("procedures",), ("help", "council")], ids=" ".join
)
def test_lists_fit_the_terminal(desk: Desk, line: tuple[str, ...], columns: int) -> None:
    assert desk.ask().code == 0
    with terminal(desk, *line, COLUMNS=str(columns)) as screen:
        assert screen.end() == 0
    shown = screen.seen.replace("\r", "").split("\n")
    wide = [each for each in shown if len(each) > columns]
    assert [each for each in wide if not each.startswith("roundtable ")] == [], "commands are whole"
    assert len(shown) > 1
