"""The MCP server under programs that nobody here wrote: the official inspector and the official
conformance suite."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.npm_tools import required
from tests.surfaces.desk import environment
from tests.surfaces.toolset.tables import SEATS, TOPIC

from .clients import QUIET, command, http_server

SCENARIOS = {
    "server-initialize": 1,
    "ping": 1,
    "tools-list": 1,
    "tools-call-error": 1,
    "server-sse-multiple-streams": 2,
    "resources-list": 1,
    "prompts-list": 1,
    "dns-rebinding-protection": 2,
}
"""Those of the suite that need no tools of its own on the server, and how many checks they have."""


async def said(program: list[str], **env: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        *program,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment({**QUIET, **env}),
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), 240)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, out.decode(), err.decode()


@asynccontextmanager
async def keyless(home: Path) -> AsyncIterator[str]:
    """A server without a key: the suite cannot send one."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.surfaces.mcp.keyless", str(home)),
        stdout=asyncio.subprocess.PIPE,
        env=environment(QUIET),
    )
    try:
        assert process.stdout is not None
        yield (await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip()
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.mark.requirement("I-26")
async def test_the_conformance_suite_finds_nothing_wrong(tmp_path: Path) -> None:
    suite = required("@modelcontextprotocol/conformance", "dist/index.js")
    async with keyless(tmp_path / "home") as url:
        for scenario, checks in SCENARIOS.items():
            program = [*suite, "server", "--url", url, "--scenario", scenario]
            code, out, err = await said(program, NODE_COMPILE_CACHE=str(tmp_path / "compiled"))
            assert code == 0, out + err
            assert re.search(rf"{checks}/{checks}|{checks} passed", out), out


class Inspector:
    """The inspector's command line, over either transport."""

    def __init__(self, place: Path, *target: str) -> None:
        self._home = place  # where it keeps things of its own
        script = "clients/launcher/build/index.js"
        self._program = [*required("@modelcontextprotocol/inspector", script), "--cli"]
        self._target = target

    async def __call__(self, method: str, *more: str) -> Any:
        program = [*self._program, *self._target, "--method", method, *more]
        compiled = str(self._home / "compiled")
        code, out, err = await said(program, HOME=str(self._home), NODE_COMPILE_CACHE=compiled)
        assert code == 0, out + err
        return json.loads(out)


async def inspected(inspector: Inspector) -> None:
    tools = (await inspector("tools/list", "--strict"))["tools"]
    assert {tool["name"] for tool in tools} >= {"roundtable_init", "roundtable_collect"}
    opened = await inspector(
        "tools/call",
        *("--tool-name", "roundtable_init", "--tool-arg", f"topic={TOPIC}"),
        *("--tool-arg", f"participants={json.dumps(SEATS)}"),
    )
    id_ = opened["structuredContent"]["discussion_id"]
    resources = (await inspector("resources/list"))["resources"]
    assert f"roundtable://{id_}/transcript" in {each["uri"] for each in resources}
    prompts = (await inspector("prompts/list"))["prompts"]
    assert [each["name"] for each in prompts] == ["coordinate", "participate", "second_opinion"]


@pytest.mark.requirement("I-26", "D-01")
async def test_the_inspector_holds_a_discussion_over_standard_streams(tmp_path: Path) -> None:
    started = command(tmp_path / "home", tmp_path)
    config = tmp_path / "servers.json"
    server = {"command": started.command, "args": started.args, "env": started.env}
    config.write_text(json.dumps({"mcpServers": {"table": server}}))
    await inspected(Inspector(tmp_path, "--config", str(config), "--server", "table"))


@pytest.mark.requirement("I-26")
async def test_the_inspector_holds_a_discussion_over_http(tmp_path: Path) -> None:
    async with http_server(tmp_path / "home", tmp_path) as server:
        header = f"Authorization: Bearer {server.key}"
        await inspected(Inspector(tmp_path, server.url, "--transport", "http", "--header", header))
