"""The tools over MCP: how long a call takes, how soon the server answers, how many speak at once.

`speak` and `status` with the SDK's own client over standard streams and over HTTP, in discussions
of 10 and of 10,000 speeches; `roundtable mcp` from its start to its first answer ÷ an empty server
on the same SDK; and 16 processes that speak 50 times each in one discussion.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp import Client, StdioServerParameters
from tests.surfaces.mcp.clients import http_server

from benchmarks import crowd
from benchmarks.measured import Measured
from roundtable.core.events import NewEvent, SpeechGiven
from roundtable.ledger import open_ledger
from roundtable.surfaces.toolset.opening import open_toolset

SIZES = (10, 10_000)
CALLS = 15
STARTS = 5
CROWD = (16, 50)
EMPTY = """
import asyncio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server
async def listed(ctx, params):
    return types.ListToolsResult(tools=[])
async def main():
    server = Server("empty", on_list_tools=listed)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
asyncio.run(main())
"""
QUIET = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_COMMAND_AGENTS": "false"}


def run() -> list[Measured]:
    rows: list[Measured] = []
    with TemporaryDirectory() as folder:
        home = Path(folder)
        rows += asyncio.run(_calls(home))
        rows += asyncio.run(_starts(home))
    outcome = crowd.run(*CROWD)
    told = f"{CROWD[0]} processes × {CROWD[1]}: all there, once, in their rounds"
    rows.append(Measured("speeches at once", len(outcome.state.speeches), "", None, told))
    rows.append(Measured("the crowd's time", outcome.seconds, "s"))
    return rows


async def _calls(home: Path) -> list[Measured]:
    ids = {size: await _discussion(home, size) for size in SIZES}
    rows = []
    for door in ("stdio", "http"):
        async with _connected(door, home) as client:
            for size, id_ in ids.items():
                for tool, arguments in (
                    ("status", {}),
                    ("speak", {"participant": "coordinator", "content": "One more."}),
                ):
                    seconds = [
                        await _timed(client, tool, {"discussion_id": id_, **arguments})
                        for _ in range(CALLS)
                    ]
                    name = f"{tool} over {door} at {size:,} speeches"
                    median = 1000 * statistics.median(seconds[1:])
                    first = f"the first {1000 * seconds[0]:.0f} ms"
                    rows.append(Measured(name, median, "ms", None, first))
    return rows


async def _starts(home: Path) -> list[Measured]:
    seconds: dict[str, list[float]] = {"empty": [], "roundtable": []}
    for _ in range(STARTS):
        seconds["empty"].append(await _first_answer(["-c", EMPTY], home))
        program = ["-m", "roundtable", "mcp", "--no-web"]
        seconds["roundtable"].append(await _first_answer(program, home))
    ms = {name: 1000 * statistics.median(each) for name, each in seconds.items()}
    told = f"{ms['roundtable']:.0f} ms against {ms['empty']:.0f} ms"
    return [Measured("start ÷ empty server", ms["roundtable"] / ms["empty"], "x", None, told)]


async def _first_answer(args: list[str], home: Path) -> float:
    began = time.perf_counter()
    async with Client(_program(args, home)) as client:
        await client.list_tools()
        return time.perf_counter() - began


@asynccontextmanager
async def _connected(door: str, home: Path) -> AsyncIterator[Client]:
    if door == "stdio":
        async with Client(_program(["-m", "roundtable", "mcp", "--no-web"], home)) as client:
            yield client
    else:
        async with http_server(home, home) as server, server.client() as client:
            yield client


def _program(args: list[str], home: Path) -> StdioServerParameters:
    env = {**os.environ, **QUIET, "ROUNDTABLE_HOME": str(home), "PYTHONPATH": _paths()}
    return StdioServerParameters(command=sys.executable, args=args, env=env, cwd=home)


def _paths() -> str:
    return os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)


async def _timed(client: Client, tool: str, arguments: dict[str, str]) -> float:
    began = time.perf_counter()
    result = await client.call_tool(f"roundtable_{tool}", arguments)
    assert not result.is_error, result.content
    return time.perf_counter() - began


async def _discussion(home: Path, speeches: int) -> str:
    """A discussion of so many speeches, written as they would have been said."""
    async with open_toolset(home=home, workspace=home, web=False) as toolset:
        opened = await toolset.create_discussion(
            topic="How long is a long discussion?",
            participants=[{"profile": "a", "role": "A"}, {"profile": "b", "role": "B"}],
        )
    ledger = await open_ledger(str(home / "roundtable.db"))
    try:
        now = datetime.now(UTC)
        events = [
            NewEvent(
                SpeechGiven(
                    turn_id=f"0/remark/coordinator-{number}",
                    stage="remark",
                    round=0,
                    participant="coordinator",
                    model="outside",
                    text=f"Remark {number}. " + "Some words of usual length. " * 10,
                ),
                now,
                f"outcome/0/remark/coordinator-{number}",
            )
            for number in range(1, speeches + 1)
        ]
        for start in range(0, len(events), 1_000):
            await ledger.append(opened.discussion_id, events[start : start + 1_000])
    finally:
        await ledger.close()
    return opened.discussion_id
