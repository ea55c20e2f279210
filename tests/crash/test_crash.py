"""kill -9 at every append point, resume, and no finished call is paid again."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest

from tests.forked import PATIENCE, first_to_end, started
from tests.rehearsal import dutiful
from tests.servers import Answer, ProviderServer, Received, Reply, hang, provider_server
from tests.wire import Asked

from .acts import ARRIVED, MODEL, NOT_DRIVING, QUESTION, Death, Place, ask, command_line, resume
from .story import STAGES, TURNS, Story, check_concluded, check_resumed, read_story

AT_ONCE = 3


def place(folder: Path, server: ProviderServer, db: str | None = None) -> Place:
    folder.mkdir(parents=True, exist_ok=True)
    return Place(folder, db or str(folder / "ledger.db"), server.env())


def held(here: Place) -> Story:
    story = read_story(here.db)
    assert story is not None
    return story


def speeches(here: Place) -> int:
    story = read_story(here.db)
    return len(story.state.speeches) if story else 0


def reply(asked: Asked) -> str:
    return dutiful(asked)


def die_and_resume(folder: Path, death: Death, db: str | None = None) -> int:
    """A process dies, another goes on, a third finds nothing to do. The number of lost calls."""
    with provider_server(reply) as server:
        here = place(folder, server, db)
        code = started(ask, here, death).ends()
        before = read_story(here.db)
        if before is None:
            assert code == -signal.SIGKILL
            assert not server.requests
            return 0
        assert code == -signal.SIGKILL or before.state.closed
        assert started(resume, here).ends() == 0
        after = held(here)
        check_concluded(after, server)
        check_resumed(before, after)
        calls = len(server.requests)
        assert started(resume, here).ends() == 0
        assert len(server.requests) == calls
        assert held(here).records == after.records
        return len(after.failed("lost"))


@pytest.mark.requirement("Z-01", "I-08")
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_council_killed_at_any_append_goes_on_without_paying_twice(
    tmp_path: Path, when: Literal["before", "after"]
) -> None:
    with provider_server(reply) as server:
        whole = place(tmp_path / "whole", server)
        assert started(ask, whole).ends() == 0
        check_concluded(held(whole), server)
    appends = int((whole.home / "appends").read_text("ascii"))
    points = range(1, appends + 1)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lost = list(
            pool.map(lambda at: die_and_resume(tmp_path / str(at), Death(at, when)), points)
        )
    # Some deaths lose calls, up to the three of a round, and some lose none.
    assert set(lost) >= {0, 1}
    assert max(lost) <= 3


@pytest.mark.requirement("Z-01")
def test_an_answer_that_has_arrived_is_stored_before_anything_else_happens(tmp_path: Path) -> None:
    """The process dies at each of its answers in turn, and never pays for one of them again."""

    def die(at: int) -> None:
        folder = tmp_path / str(at)
        die_and_resume(folder, Death(at, "answered"))
        arrived = (folder / ARRIVED).read_text("utf-8").split()
        story = read_story(str(folder / "ledger.db"))
        assert story is not None
        assert len(arrived) >= at  # others may have come in the same moment
        assert set(arrived) <= story.answered

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(die, range(1, len(TURNS) + 1)))


@pytest.mark.requirement("Z-01")
def test_a_council_killed_while_the_ledger_is_writing_goes_on(tmp_path: Path) -> None:
    points = [Death(at, "during") for at in range(2, 12)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda death: die_and_resume(tmp_path / str(death.at), death), points))


@pytest.mark.requirement("Z-01", "I-08")
@pytest.mark.parametrize(
    "death",
    [
        Death(2, "after"),
        Death(4, "before"),
        Death(4, "during"),
        Death(7, "after"),
        Death(9, "after"),
    ],
    ids=str,
)
def test_a_council_on_postgresql_goes_on_likewise(
    tmp_path: Path, postgres_url: str, death: Death
) -> None:
    die_and_resume(tmp_path / "here", death, postgres_url)


def hanging(turn: str, words: str = "") -> Reply:
    """Every question is answered, except that the first attempt at one turn never ends."""

    def answer(asked: Asked) -> Answer:
        hangs = asked.headers["idempotency-key"].endswith(f"/{turn}/1")
        return hang(words) if hangs else reply(asked)

    return answer


def under_way(turn: str) -> Callable[[list[Received]], bool]:
    return lambda log: any((call.idempotency_key or "").endswith(f"/{turn}/1") for call in log)


@pytest.mark.requirement("Z-01")
@pytest.mark.parametrize("words", ["", "## Find"])
@pytest.mark.parametrize("turn", ["0/briefing/captain", "1/answer/muse", "0/synthesis/captain"])
def test_a_call_in_flight_at_the_kill_is_made_again_and_counted(
    tmp_path: Path, turn: str, words: str
) -> None:
    with provider_server(hanging(turn, words)) as server:
        here = place(tmp_path / "here", server)
        first = started(ask, here)
        server.wait(under_way(turn), timeout=PATIENCE)
        first.gets(signal.SIGKILL)
        assert first.ends() == -signal.SIGKILL
        before = held(here)
        lost = f"{before.state.discussion_id}/{turn}/1"
        assert lost in before.in_flight
        assert started(resume, here).ends() == 0
        after = held(here)
        check_concluded(after, server)
        check_resumed(before, after)
        assert lost in after.failed("lost")
        assert after.state.usage.calls == len(TURNS) + len(after.failed("lost"))


@pytest.mark.requirement("I-08")
def test_a_council_killed_after_round_1_resumes_with_what_follows_it(tmp_path: Path) -> None:
    (summary,) = STAGES["summary"]
    with provider_server(hanging(summary)) as server:
        here = place(tmp_path / "here", server)
        first = started(ask, here)
        server.wait(under_way(summary), timeout=PATIENCE)
        first.gets(signal.SIGKILL)
        first.ends()
        made = len(server.requests)
        assert started(resume, here).ends() == 0
        again = {(call.idempotency_key or "").split("/")[2] for call in server.requests[made:]}
        assert again == {"summary", "cross-examination", "synthesis"}
        assert len(server.requests) == made + 5


@pytest.mark.requirement("I-14", "Z-01")
def test_of_two_processes_that_resume_at_once_one_drives(tmp_path: Path) -> None:
    open_again = threading.Event()
    killed = threading.Event()

    def answer(asked: Asked) -> str:
        if killed.is_set():
            open_again.wait(PATIENCE)
        return reply(asked)

    with provider_server(answer) as server:
        here = place(tmp_path / "here", server)
        assert started(ask, here, Death(7, "after")).ends() == -signal.SIGKILL
        before = held(here)
        killed.set()  # from here on nobody gets an answer, so the one that drives cannot finish
        both = [started(resume, here), started(resume, here)]
        loser = first_to_end(both)
        assert loser.ends() == NOT_DRIVING
        open_again.set()
        (winner,) = [each for each in both if each is not loser]
        assert winner.ends() == 0
        after = held(here)
        check_concluded(after, server)
        check_resumed(before, after)


@pytest.mark.requirement("I-07", "I-08")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_keeps_what_was_said_and_says_how_to_go_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    with provider_server(hanging("1/answer/muse", "## Per")) as server:
        here = place(tmp_path / "here", server)
        first = started(command_line, here, ["ask", QUESTION, "--all", MODEL, "--json"])
        while speeches(here) < 3:
            assert first.running
        first.gets(number)
        assert first.ends() == 130
        before = held(here)
        discussion_id = before.state.discussion_id
        assert before.state.status == "running"
        assert before.driver is None
        assert not before.in_flight
        assert before.failed("cancelled") == {f"{discussion_id}/1/answer/muse/1"}
        assert len(before.answered) == 3
        said = (here.home / "stderr").read_text("utf-8")
        assert f"roundtable resume {discussion_id}" in said
        assert "Traceback" not in said
        server.wait(lambda log: all(call.state != "open" for call in log))  # it hung up

        assert started(command_line, here, ["resume", "--json"]).ends() == 0
        result = json.loads((here.home / "stdout").read_text("utf-8"))
        assert result["discussion_id"] == discussion_id
        assert result["verdict"]["answer"]
        after = held(here)
        check_concluded(after, server)
        check_resumed(before, after)
