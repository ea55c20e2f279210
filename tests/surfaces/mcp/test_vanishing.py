"""Clients that vanish in the middle of a call, over standard streams and over HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from httpx2 import AsyncClient

from tests.surfaces.toolset.tables import SEATS, TOPIC

from .clients import called, command, http_server, over_stdio

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "by hand", "version": "1"},
}
TABLE: dict[str, Any] = {"topic": TOPIC, "participants": SEATS[:2]}


def message(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def tool(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return message(number, "tools/call", name=f"roundtable_{name}", arguments=arguments)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.mark.requirement("Z-17", "D-76")
@pytest.mark.parametrize("how", ["input closed", "both ends closed"])
async def test_a_server_ends_when_its_client_is_gone_in_mid_call_and_nothing_is_lost(
    tmp_path: Path, workspace: Path, how: str
) -> None:
    home = tmp_path / "home"
    started = command(home, workspace)
    process = await asyncio.create_subprocess_exec(
        *(started.command, *started.args),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=started.env,
        cwd=workspace,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        answers: dict[int, Any] = {}

        async def ask(*asked: dict[str, Any]) -> None:
            assert process.stdin is not None
            for each in asked:
                process.stdin.write(json.dumps(each).encode() + b"\n")
            await process.stdin.drain()

        async def answer(number: int) -> Any:
            assert process.stdout is not None
            while number not in answers:
                line = await asyncio.wait_for(process.stdout.readline(), 60)
                told = json.loads(line)
                answers[told.get("id")] = told
            return answers[number]["result"]

        await ask(message(1, "initialize", **HELLO))
        await answer(1)
        await ask({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await ask(tool(2, "init", **TABLE))
        id_ = (await answer(2))["structuredContent"]["discussion_id"]
        await ask(
            tool(3, "speak", discussion_id=id_, participant="arch", content="Here.", key="k"),
            tool(4, "collect", discussion_id=id_, wait=55),
        )
        await answer(3)  # and the other is being waited for
        process.stdin.close()
        if how == "both ends closed":
            process._transport.close()  # type: ignore[attr-defined]
        await asyncio.wait_for(process.wait(), 40)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    async with over_stdio(home, workspace) as client:
        again = {"participant": "arch", "content": "Here.", "key": "k"}
        await called(client, "speak", discussion_id=id_, **again)
        await called(client, "speak", discussion_id=id_, participant="back", content="Too.")
        assert (await called(client, "status", discussion_id=id_))["speeches"] == 2


@pytest.mark.requirement("Z-17")
async def test_a_client_that_vanishes_from_a_call_over_http_leaves_the_server_whole(
    tmp_path: Path, workspace: Path
) -> None:
    async with http_server(tmp_path / "home", workspace) as server:
        async with server.client() as client:
            id_ = (await called(client, "init", **TABLE))["discussion_id"]
        headers = {
            "Authorization": f"Bearer {server.key}",
            "Accept": "application/json, text/event-stream",
        }
        async with AsyncClient(headers=headers, timeout=60) as http:
            hello = await http.post(server.url, json=message(1, "initialize", **HELLO))
            session = {"mcp-session-id": hello.headers.get("mcp-session-id", "")}
            waiting = tool(2, "collect", discussion_id=id_, wait=55)
            for _ in range(5):
                asking = asyncio.create_task(http.post(server.url, json=waiting, headers=session))
                done, _pending = await asyncio.wait([asking], timeout=0.3)
                assert not done, asking.result().text
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
        async with server.client() as client:
            for who in ("arch", "back"):
                await called(client, "speak", discussion_id=id_, participant=who, content="Here.")
            assert (await called(client, "status", discussion_id=id_))["speeches"] == 2
        server.process.terminate()
        await asyncio.wait_for(server.process.wait(), 60)
        assert server.process.stderr is not None
        said = (await server.process.stderr.read()).decode()
        assert "Traceback" not in said
        assert server.key not in said
