"""kill -9 at every append point, resume, and no finished call is paid again."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from tests.rehearsal import dutiful
from tests.servers import Answer, ProviderServer, hang, provider_server
from tests.wire import Asked

from .acts import NOT_DRIVING, QUESTION, Death, Place, ask, command_line, resume
from .processes import first_to_end, started
from .story import STAGES, Story, check_concluded, check_resumed, read_story

AT_ONCE = 3


def place(folder: Path, server: ProviderServer, db: str | None = None) -> Place:
    folder.mkdir(parents=True, exist_ok=True)
    return Place(folder, db or str(folder / "ledger.db"), server.env())


def held(here: Place) -> Story:
    story = read_story(here.db)
    assert story is not None
    return story


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
