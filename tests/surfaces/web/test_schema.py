"""Every route of the service, with requests that its own description makes up: nothing breaks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from roundtable.core.state import State

from .house import PATIENCE, House, house

EXAMPLES = 12
"""Requests for each route and way of making them up."""
NEVER_ENDS = ("/feed",)
"""Routes that go on for as long as the discussion: they get one that is over."""


@dataclass
class Up:
    """A server on a thread of this process, with discussions to be meddled with."""

    house: House
    loop: asyncio.AbstractEventLoop
    closed: State
    stop: asyncio.Event
    _meetings: dict[str, State] = field(default_factory=dict)

    def meeting(self, route: str) -> State:
        """An open meeting for each route, so that what one does is not in another's way."""
        if route not in self._meetings:
            opening = asyncio.run_coroutine_threadsafe(self.house.meeting(), self.loop)
            self._meetings[route] = opening.result(PATIENCE)
        return self._meetings[route]

    def token(self, route: str, role: str) -> str:
        over = any(part in route for part in NEVER_ENDS)
        state = self.closed if over else self.meeting(route)
        return self.house.at(state, role, "tea" if role == "seat" else "").rpartition("/")[2]


async def _serve(home: Path, told: list[Up], ready: threading.Event) -> None:
    (home / "config.toml").write_text('default_model = "scripted/echo"\n')
    try:
        async with house(home) as at:
            stop = asyncio.Event()
            told.append(Up(at, asyncio.get_running_loop(), await at.council(), stop))
            ready.set()
            await stop.wait()
    finally:
        ready.set()


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    told: list[Up] = []
    ready = threading.Event()
    home = tmp_path_factory.mktemp("schema")
    thread = threading.Thread(target=lambda: asyncio.run(_serve(home, told, ready)))
    thread.start()
    assert ready.wait(PATIENCE)
    assert told, "the server did not start"
    yield told[0]
    told[0].loop.call_soon_threadsafe(told[0].stop.set)
    thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def operations(up: Up) -> list[schemathesis.APIOperation[Any, Any, Any]]:
    described = schemathesis.openapi.from_url(f"{up.house.url}/api/openapi.json")
    return [each.ok() for each in described.get_all_operations()]


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_no_request_breaks_the_server(
    operations: list[schemathesis.APIOperation[Any, Any, Any]],
    up: Up,
    mode: schemathesis.GenerationMode,
) -> None:
    asked: dict[str, list[int]] = {}
    for operation in operations:
        import time, collections; b=time.time()
        try:
            cases = operation.as_strategy(generation_mode=mode)
            asked[operation.label] = _asked(cases, up)
        except (Unsatisfiable, schemathesis.errors.InvalidSchema):
            continue  # there is no wrong way to ask for it
        finally:
            print(f"{time.time()-b:6.2f}", mode.value, operation.label, dict(collections.Counter(asked.get(operation.label,[]))), flush=True)
    answered = {status for statuses in asked.values() for status in statuses}
    assert len(asked) > 20
    assert 200 in answered


def _asked(cases: Any, up: Up) -> list[int]:
    statuses: list[int] = []

    @given(cases)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
        phases=[Phase.generate],
    )
    def ask(case: schemathesis.Case) -> None:
        _aim(case, up)
        answer = case.call(headers=dict(up.house.owner), timeout=PATIENCE)
        statuses.append(answer.status_code)
        assert answer.status_code < 500 or _is_told(answer), (
            f"{case.method} {case.formatted_path} {case.body!r}: {answer.status_code} {answer.text}"
        )

    ask()
    return statuses


def _aim(case: schemathesis.Case, up: Up) -> None:
    """Let most requests reach something: names that are made up would only ever be unknown."""
    route = f"{case.method} {case.path}"
    chance = crc32(repr((case.path_parameters, case.body)).encode("utf-8", "replace")) % 4
    if chance:
        given = case.path_parameters
        if "token" in given:
            given["token"] = up.token(case.path, ("host", "seat", "host")[chance - 1])
        if "discussion_id" in given:
            given["discussion_id"] = up.meeting(route).discussion_id
        for name, prefix in (("response_id", "resp_"), ("completion_id", "chatcmpl-")):
            if name in given:
                given[name] = prefix + up.closed.discussion_id
        if case.path.startswith("/v1/") and isinstance(case.body, dict):
            case.body["model"] = "roundtable/quick"


def _is_told(answer: Any) -> bool:
    """A table that came to no verdict is a failure of the discussion and not of the server."""
    return answer.status_code == 502 and "code" in answer.json()["error"]
