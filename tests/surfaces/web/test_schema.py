"""Every route of the service, with requests that its own description makes up: nothing breaks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core import NotSet
from schemathesis.core.result import Ok

from roundtable.core.state import State

from .house import PATIENCE, House, house

Operation = schemathesis.APIOperation[Any, Any, Any, Any]
Case = schemathesis.Case[Any]
EXAMPLES = 5
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
    tools: list[str]
    count: int = 0
    answered: set[int] = field(default_factory=set)
    """The statuses of all answers."""
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
            got = await at.client.get("/api/tools", headers=dict(at.owner))
            tools = [each["name"] for each in got.json()]
            told.append(Up(at, asyncio.get_running_loop(), await at.council(), stop, tools))
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
def operations(up: Up) -> list[Operation]:
    described = schemathesis.openapi.from_url(f"{up.house.url}/api/openapi.json")
    found = list(described.get_all_operations())
    assert all(isinstance(each, Ok) for each in found)
    return [each.ok() for each in found if isinstance(each, Ok)]


def test_no_proper_request_breaks_the_server(operations: list[Operation], up: Up) -> None:
    for operation in operations:
        _ask(operation.as_strategy(), up)
    assert up.answered > {200, 201, 401, 404, 409, 422}


def test_no_improper_request_breaks_the_server(operations: list[Operation], up: Up) -> None:
    up.answered.clear()
    for operation in operations:
        if operation.body or operation.query:  # without either there is no wrong way to ask
            _ask(operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE), up)
    assert up.answered > {400, 404, 422}


HOSTILE = [
    b"",
    b"null",
    b"\xff\xfe",
    b'{"topic":"\\ud800","text":"\\ud800","reason":"\\ud800","participant":"\\ud800"}',
    b'{"topic":"x","options":{"experts":"\\ud800"},"procedure":"\\ud800"}',
    b'{"topic":"x","options":{"experts":"\\u0000"},"language":"\\u0000"}',
    b'{"topic":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"topic":"x","options":{"seats":' + b"9" * 5_000 + b"}}",
    b'{"topic":"x","options":{"seats":1e999,"quick":NaN}}',
]


def test_no_hostile_body_breaks_the_server(operations: list[Operation], up: Up) -> None:
    headers = {**up.house.owner, "content-type": "application/json"}
    with httpx2.Client(base_url=up.house.url, headers=headers, timeout=PATIENCE) as client:
        for operation in operations:
            if operation.method.upper() != "POST":
                continue
            path = operation.path.replace("{token}", up.token(operation.path, "host"))
            path = path.replace("{discussion_id}", up.closed.discussion_id)
            path = path.replace("{response_id}", f"resp_{up.closed.discussion_id}")
            for name in up.tools if "{name}" in path else [""]:
                for body in HOSTILE:
                    answer = client.post(path.replace("{name}", name), content=body)
                    assert answer.status_code < 500, f"{path} {name} {body[:80]!r}: {answer.text}"


def _ask(cases: Any, up: Up) -> None:
    @given(cases)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
        phases=[Phase.generate],
    )
    def ask(case: Case) -> None:
        chance = _aim(case, up)
        headers = dict(up.house.owner) if chance != 1 else {}
        if isinstance(case.body, NotSet) and case.method != "GET":
            headers["content-type"] = "application/json"
        answer = case.call(headers=headers, timeout=PATIENCE)
        up.answered.add(answer.status_code)
        assert answer.status_code < 500 or _is_told(answer), (
            f"{case.method} {case.formatted_path} {case.body!r}: {answer.status_code} {answer.text}"
        )

    ask()


def _aim(case: Case, up: Up) -> int:
    """Let most requests reach something: names that are made up would only ever be unknown."""
    up.count += 1
    chance = up.count % 8
    if not chance:
        return chance
    given_ = case.path_parameters
    route = f"{case.method} {case.path}"
    if "token" in given_:
        given_["token"] = up.token(case.path, "seat" if chance % 3 == 0 else "host")
    if "discussion_id" in given_:
        given_["discussion_id"] = up.meeting(route).discussion_id
    for name, prefix in (("response_id", "resp_"), ("completion_id", "chatcmpl-")):
        if name in given_:
            given_[name] = prefix + up.closed.discussion_id
    if "tools" in case.path and "name" in given_:
        given_["name"] = up.tools[chance % len(up.tools)]
    if isinstance(case.body, dict) and "topic" in case.body and chance > 4:
        case.body["topic"] = "Tea or coffee?"
        for name in ("procedure", "options", "language"):
            case.body.pop(name, None)
    if case.path.startswith("/v1/") and isinstance(case.body, dict):
        case.body["model"] = "roundtable/quick"
        if chance > 4:
            _let_it_be_answered(case.body)
    return chance


def _let_it_be_answered(body: dict[str, Any]) -> None:
    for refused in ("tool_choice", "n", "stop", "logprobs", "response_format", "modalities"):
        body.pop(refused, None)
    for refused in ("roundtable", "conversation", "previous_response_id", "text", "metadata"):
        body.pop(refused, None)
    question = {"role": "user", "content": "Tea or coffee?"}
    if isinstance(body.get("messages"), list):
        body["messages"] = [question]
    if isinstance(body.get("input"), str | list):
        body["input"] = [question]


def _is_told(answer: Any) -> bool:
    """A table that came to no verdict is a failure of the discussion and not of the server."""
    return answer.status_code == 502 and "code" in answer.json()["error"]
