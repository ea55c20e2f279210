"""One core behind every door: the same scripts through Python, MCP, HTTP and the command line."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from benchmarks import crowd
from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient
from mcp import Client

from roundtable.core.errors import RoundtableError
from roundtable.surfaces.mcp.server import ERROR_META
from roundtable.surfaces.tokens.capability import OWNER
from roundtable.surfaces.toolset import Toolset
from roundtable.surfaces.toolset.toolset import find_operation
from roundtable.surfaces.web.access import held
from roundtable.surfaces.web.tools_api import router
from tests.forked import Program

from .desk import Desk, environment
from .mcp.clients import in_memory, over_stdio
from .toolset.tables import NAMES, SEATS, TOPIC, declares, tools

Json = dict[str, Any]
ID = "{id}"
"""Stands in a script for the id that its first call got."""
DOORS = ("python", "mcp", "mcp over stdio", "http", "command line")
Call = tuple[str, Json]


class Door(Protocol):
    """A way to the tools."""

    async def __call__(self, name: str, arguments: Json) -> Json:
        """The answer, or {"error": …, "remedy": …}."""
        ...


class PythonDoor:
    """Each tool by its method, as a program calls it."""

    def __init__(self, toolset: Toolset) -> None:
        self.toolset = toolset

    async def __call__(self, name: str, arguments: Json) -> Json:
        method = getattr(self.toolset, find_operation(name).method)
        try:
            result = await method(**arguments)
        except RoundtableError as error:
            return {"error": error.message, "remedy": error.remedy}
        answer: Json = result.wire()
        return answer


class McpDoor:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, name: str, arguments: Json) -> Json:
        result = await self.client.call_tool(f"roundtable_{name}", arguments)
        if result.is_error:
            body = dict(result.meta or {})[ERROR_META]
            return {"error": body["message"], "remedy": body["remedy"]}
        assert result.structured_content is not None
        return dict(result.structured_content)


class HttpDoor:
    def __init__(self, http: AsyncClient) -> None:
        self.http = http

    async def __call__(self, name: str, arguments: Json) -> Json:
        answer = await self.http.post(f"/api/tools/{name}", json=arguments)
        body: Json = answer.json()
        if answer.is_success:
            return body
        assert 400 <= answer.status_code < 500
        return {"error": body["error"], "remedy": body["remedy"]}


class CommandDoor:
    """A new start of the program for each call; the arguments come by standard input."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def __call__(self, name: str, arguments: Json) -> Json:
        typed = json.dumps(arguments).encode()
        outcome = await asyncio.to_thread(self.desk, "tool", name, "-", stdin=typed)
        if outcome.code == 0:
            answer: Json = outcome.document
            return answer
        message, _, remedy = outcome.err.removeprefix("Error: ").strip().partition("\n")
        return {"error": message, "remedy": remedy}


def http_door(toolset: Toolset) -> FastAPI:
    """The tools for the owner, whom the guard has let in."""
    app = FastAPI()
    app.include_router(router(toolset))
    app.dependency_overrides[held] = lambda: OWNER
    return app


@asynccontextmanager
async def opened(name: str, place: Path, desk: Desk) -> AsyncIterator[Door]:
    """A door to a home of its own."""
    async with AsyncExitStack() as stack:
        match name:
            case "python":
                yield PythonDoor(await stack.enter_async_context(tools(place)))
            case "mcp":
                toolset = await stack.enter_async_context(tools(place))
                yield McpDoor(await stack.enter_async_context(in_memory(toolset)))
            case "mcp over stdio":
                (place / "work").mkdir(parents=True)
                client = over_stdio(place / "home", place / "work")
                yield McpDoor(await stack.enter_async_context(client))
            case "http":
                toolset = await stack.enter_async_context(tools(place))
                app = http_door(toolset)
                http = AsyncClient(transport=ASGITransport(app=app), base_url="http://localhost")
                yield HttpDoor(await stack.enter_async_context(http))
            case _:
                yield CommandDoor(desk)


async def played(door: Door, script: Sequence[Call]) -> list[Json]:
    """The answers to a script, without what differs from run to run."""
    answers: list[Json] = []
    id_ = ""
    for name, arguments in script:
        given = {key: id_ if value == ID else value for key, value in arguments.items()}
        answer = await door(name, given)
        id_ = id_ or answer.get("discussion_id", "")
        answers.append(normal(answer))
    return answers


def normal(value: Any) -> Any:
    match value:
        case str():
            text = re.sub(r"--token \S+", "--token TOKEN", value)
            text = re.sub(r"rt_[0-9a-f]{8}", "rt_ID", text)
            return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", "TIME", text)
        case dict():
            changing = {"path": "PATH", "sha256": "HASH"} if value.get("path") else {}
            if value.get("token"):
                changing = {"token": "TOKEN"}
            elif changing:
                changing["characters"] = "COUNT"
            return {key: normal(changing.get(key, each)) for key, each in value.items()}
        case list():
            return [normal(each) for each in value]
        case _:
            return value


POSITIONS = {
    "arch": declares("NEW: one database is enough", "NEW: move now", "VOTE o1"),
    "back": declares("AGREE p1: cheaper", "DISAGREE p2: too early", "VOTE o1"),
    "prod": declares("DISAGREE p1: risky", "AGREE p2: why wait", "VOTE o2"),
}
START: Call = (
    "init",
    {
        "topic": f"{TOPIC} 数据库?",
        "context": "Two exist.",
        "participants": SEATS,
        "created_by": "the lead",
        "max_rounds": 6,
        "web": False,
    },
)
LOOKS: list[Call] = [
    ("status", {"discussion_id": ID}),
    ("read", {"discussion_id": ID}),
    ("summarize", {"discussion_id": ID}),
    ("summarize", {"discussion_id": ID, "compact": True}),
]


def speech(who: str, content: str, **more: Any) -> Call:
    return "speak", {"discussion_id": ID, "participant": who, "content": content, **more}


def walk() -> list[Call]:
    script = [START, speech("coordinator", "Welcome."), *LOOKS]
    for round_ in (1, 2, 3):
        for who in NAMES:
            words = {"content": f"{who} in round {round_}: „好“ 🙂"}
            said = POSITIONS[who] if round_ == 1 else words
            script.append(speech(who, **said, key=f"{who}/{round_}"))
            script.extend(LOOKS if who == "prod" else LOOKS[:1])
    script.append(speech("prod", "Repeated.", key="prod/3"))
    script.append(("advance", {"discussion_id": ID}))
    script.extend(("vote", {"discussion_id": ID, "participant": who}) for who in NAMES[:2])
    script.append(("invite", {"discussion_id": ID, "participant": "prod", "web": False}))
    script.append(("read", {"discussion_id": ID, "round": 2, "limit": 2}))
    script.append(("poll", {"discussion_id": ID, "wait": 0}))
    script.append(("end", {"discussion_id": ID, "conclusion": "We move, later."}))
    script.append(("collect", {"discussion_id": ID}))
    script.append(("list", {}))
    return [*script, *LOOKS]


def mistakes() -> list[Call]:
    return [
        START,
        ("status", {"discussion_id": "rt_00000000"}),
        ("end", {"discussion_id": "rt_00000000", "conclusion": "x"}),
        speech("Arch", "Wrong case."),
        speech("nobody", "Who?"),
        speech("back", "Out of turn."),
        speech("arch", " \n "),
        speech("arch", "x" * 5_000_000),
        speech("arch", "Well.", declaration={"position": ""}),
        ("end", {"discussion_id": ID}),
        ("end", {"discussion_id": ID, "conclusion": "x" * 5_000_000}),
        ("end", {"discussion_id": ID, "conclusion": "x", "cancel": True}),
        ("vote", {"discussion_id": ID, "participant": "coordinator"}),
        ("join", {"discussion_id": ID, "profile": "arch", "role": "Again"}),
        ("notify", {"discussion_id": ID, "event": "started"}),
        ("notify", {"discussion_id": ID, "event": "applause"}),
        ("read", {"discussion_id": ID, "since": "yesterday"}),
        ("init", {"topic": "Q?", "participants": SEATS[:1], "web": False}),
        ("init", {"topic": "Q?", "participants": [{"role": "x"}, *SEATS], "web": False}),
        ("init", {"topic": "Q?", "participants": SEATS, "speech_order": "x", "web": False}),
        ("status", {"discussion_id": ID}),
        ("end", {"discussion_id": ID, "cancel": True, "reason": "enough"}),
        ("end", {"discussion_id": ID, "conclusion": "x"}),
        ("end", {"discussion_id": ID, "cancel": True}),
        speech("arch", "After the end."),
        ("advance", {"discussion_id": ID}),
        ("list", {}),
    ]


@pytest.mark.requirement("D-20", "D-21", "D-91", "D-66", "D-67", "D-94", "X-48")
@pytest.mark.parametrize("door", DOORS[1:])
async def test_a_whole_discussion_is_answered_alike_by_every_door(
    tmp_path: Path, desk: Desk, door: str
) -> None:
    async with opened("python", tmp_path / "first", desk) as python:
        expected = await played(python, walk())
    assert not any("error" in answer for answer in expected)
    spoken = [answer["round"] for answer in expected if "turn_id" in answer]
    assert spoken == [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    async with opened(door, tmp_path / "second", desk) as other:
        assert await played(other, walk()) == expected


@pytest.mark.requirement("D-20", "D-91", "D-95", "I-16")
@pytest.mark.parametrize("door", DOORS[1:])
async def test_every_mistake_is_refused_alike_by_every_door(
    tmp_path: Path, desk: Desk, door: str
) -> None:
    async with opened("python", tmp_path / "first", desk) as python:
        expected = await played(python, mistakes())
    allowed = [number for number, answer in enumerate(expected) if "error" not in answer]
    assert allowed == [0, 20, 21, 26]
    assert all(answer["remedy"] for answer in expected if "error" in answer)
    assert expected[20]["speeches"] == 0
    async with opened(door, tmp_path / "second", desk) as other:
        assert await played(other, mistakes()) == expected


@pytest.mark.requirement("I-16")
@pytest.mark.parametrize("door", ["python", "mcp", "http"])
async def test_of_two_calls_at_once_one_is_taken_by_every_door(
    tmp_path: Path, desk: Desk, door: str
) -> None:
    async with opened(door, tmp_path / "place", desk) as call:
        id_ = (await call(*START))["discussion_id"]
        both = await asyncio.gather(
            *(
                call("speak", {"discussion_id": id_, "participant": "arch", "content": text})
                for text in ("One.", "Two.")
            )
        )
        refused = [answer for answer in both if "error" in answer]
        assert [answer["error"] for answer in refused] == [f"It is not arch's turn in {id_}."]
        assert (await call("status", {"discussion_id": id_}))["speeches"] == 1


async def test_the_http_door_says_what_it_offers_and_refuses_what_is_no_json(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        app = http_door(toolset)
        transport = ASGITransport(app=app)
        async with AsyncClient(transport=transport, base_url="http://localhost") as http:
            offered = (await http.get("/api/tools")).json()
            assert [each["name"] for each in offered][:2] == ["init", "speak"]
            assert (await http.post("/api/tools/list", content=b"{")).status_code == 422
            assert (await http.post("/api/tools/list", json=[])).status_code == 422
            unknown = await http.post("/api/tools/lst", json={})
            assert unknown.status_code == 404
            assert "list" in unknown.json()["remedy"]


@pytest.mark.requirement("D-86")
async def test_every_door_finds_the_same_database(tmp_path: Path, desk: Desk) -> None:
    place = tmp_path
    async with opened("python", place, desk) as python:
        id_ = (await python(*START))["discussion_id"]
    async with over_stdio(desk.home, desk.workspace) as client:
        seen = await McpDoor(client)("status", {"discussion_id": id_})
    by_command = await CommandDoor(desk)("status", {"discussion_id": id_})
    assert seen == by_command
    assert seen["discussion_id"] == id_
    found = await asyncio.to_thread(lambda: [path.name for path in tmp_path.rglob("*.db")])
    assert found == ["roundtable.db"]


@pytest.mark.requirement("D-76")
def test_eight_processes_hold_one_discussion_and_nothing_is_lost(desk: Desk) -> None:
    def tool(name: str, **arguments: Any) -> Json:
        outcome = desk.beside("tool", name, "-", stdin=json.dumps(arguments).encode())
        assert outcome.code == 0, outcome.err
        answer: Json = outcome.document
        return answer

    id_ = tool("init", **START[1])["discussion_id"]
    for number, who in enumerate(NAMES * 2):
        spoken = tool("speak", discussion_id=id_, participant=who, content=f"Speech {number}.")
        assert spoken["round"] == 1 + number // 3
    tool("end", discussion_id=id_, conclusion="We move.")
    page = desk("export", id_, "--format", "html").out
    assert all(f"Speech {number}." in page for number in range(6))
    assert "We move." in page


@pytest.mark.requirement("D-76", "I-16")
async def test_many_processes_speak_at_once_and_every_round_is_everybodys(tmp_path: Path) -> None:
    async def begin(words: Sequence[str]) -> Callable[[], Awaitable[None]]:
        told = tmp_path / f"{words[2]}.err"
        process = Program(
            words, cwd=tmp_path, env=os.environ, stderr=told, module="benchmarks.crowd"
        )

        async def ended() -> None:
            assert await asyncio.to_thread(process.wait) == 0, told.read_text("utf-8")

        return ended

    outcome = await crowd.gather(tmp_path, 8, 10, begin)
    crowd.check(outcome, 8, 10)


@pytest.mark.requirement("D-93")
def test_a_text_may_come_by_argument_by_standard_input_and_by_file(desk: Desk) -> None:
    hostile = 'It\'s "quoted" $(rm -rf /) `x`\nEOF\n<<EOF 好 🙂\t\\'
    id_ = desk("tool", "init", json.dumps(START[1])).document["discussion_id"]
    file = desk.workspace / "speech.txt"
    file.write_text(hostile, "utf-8")
    base = {"discussion_id": id_, "participant": "coordinator"}
    by_argument = desk("tool", "speak", json.dumps({**base, "content": hostile}))
    by_stdin = desk("tool", "speak", json.dumps(base), "--text=content=-", stdin=hostile.encode())
    by_file = desk("tool", "speak", json.dumps(base), f"--text=content={file}")
    assert [each.code for each in (by_argument, by_stdin, by_file)] == [0, 0, 0]
    rows = desk("tool", "read", json.dumps({"discussion_id": id_})).document["speeches"]
    assert [row["text"] for row in rows] == [hostile] * 3


def test_the_command_line_shows_the_tools_and_their_schemas(desk: Desk) -> None:
    assert "roundtable tool NAME --schema" in desk("tool").out
    told = desk("tool", "--help").out
    assert "Without NAME: list them all." in told
    assert "roundtable tool list                            calls the tool `list`" in told
    schema = desk("tool", "speak", "--schema").document
    assert set(schema["input"]["required"]) == {"discussion_id", "participant"}
    wrong = desk("tool", "list", "{")
    assert wrong.code == 2
    assert "no JSON" in wrong.err


@pytest.mark.requirement("Z-17")
def test_the_command_line_asks_and_another_process_drives(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", environment({})["PYTHONPATH"])  # for the one that drives

    def tool(name: str, **arguments: Any) -> Json:
        answer: Json = desk("tool", name, json.dumps(arguments)).document
        return answer

    asked = tool(
        "ask",
        question="Tea or coffee?",
        procedure="council",
        options={"all": "scripted/echo", "quick": True},
        search=False,
        web=False,
    )
    for _ in range(5):
        done = tool("collect", discussion_id=asked["discussion_id"], wait=50)
        if done["done"]:
            break
    assert done["state"] == "concluded"
    assert done["answer"]
