"""Clients of the MCP server: the SDK's own, in memory, over standard streams and over HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
from httpx2 import AsyncClient
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from roundtable.surfaces.mcp.server import ERROR_META, make_server
from roundtable.surfaces.toolset import Toolset
from tests.surfaces.desk import environment
from tests.surfaces.web.house import client_token

QUIET = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_COMMAND_AGENTS": "false"}
MODES = ("legacy", "auto")
"""The handshake of earlier years, and what the SDK chooses by itself."""


@asynccontextmanager
async def in_memory(toolset: Toolset, mode: str = "auto", **more: Any) -> AsyncIterator[Client]:
    async with Client(make_server(toolset), mode=mode, **more) as client:
        yield client


def command(home: Path, workspace: Path, *args: str) -> StdioServerParameters:
    """How a client starts the server."""
    env = environment({**QUIET, "ROUNDTABLE_HOME": str(home)})
    return StdioServerParameters(
        command=sys.executable,
        args=["-W", "error", "-m", "roundtable", "mcp", "--no-web", *args],
        env=env,
        cwd=workspace,
    )


@asynccontextmanager
async def over_stdio(
    home: Path, workspace: Path, *args: str, mode: str = "auto"
) -> AsyncIterator[Client]:
    async with Client(command(home, workspace, *args), mode=mode) as client:
        yield client


class HttpServer:
    """`roundtable mcp --http` as a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, key: str) -> None:
        self.process = process
        self.url = url
        self.key = key

    @asynccontextmanager
    async def client(self, mode: str = "auto", key: str | None = None) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.key if key is None else key}"}
        async with AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client


@asynccontextmanager
async def http_server(home: Path, workspace: Path, *args: str) -> AsyncIterator[HttpServer]:
    env = environment({**QUIET, "ROUNDTABLE_HOME": str(home)})
    program = [sys.executable, "-m", "roundtable", "mcp"]
    key = client_token(home, "open", "lead", discussions=None)
    process = await asyncio.create_subprocess_exec(
        *(*program, "--http", "--port", "0", "--no-web", *args),
        stderr=asyncio.subprocess.PIPE,
        env=env,
        cwd=workspace,
    )
    try:
        assert process.stderr is not None
        said = (await asyncio.wait_for(process.stderr.readline(), 60)).decode()
        assert "http://" in said, said + (await process.stderr.read()).decode()
        yield HttpServer(process, said.split()[-1], key)
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), 60)


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """A tool's answer, which must be there twice: structured, and as text."""
    result = await client.call_tool(f"roundtable_{tool}", arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    (text,) = result.content
    assert isinstance(text, types.TextContent)
    assert json.loads(text.text) == result.structured_content
    return dict(result.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, str]:
    """A tool's error, which must say what to do."""
    result = await client.call_tool(f"roundtable_{tool}", arguments)
    assert result.is_error
    (text,) = result.content
    assert isinstance(text, types.TextContent)
    assert result.meta is not None
    body: dict[str, str] = dict(result.meta)[ERROR_META]
    assert text.text == f"{body['message']} {body['remedy']}".strip()
    return body
