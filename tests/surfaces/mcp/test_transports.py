"""The MCP server as a process of its own: over standard streams and over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from httpx2 import AsyncClient
from mcp import Client

from roundtable.core.events import SpeechGiven
from roundtable.surfaces.toolset.opening import open_toolset
from roundtable.surfaces.web.links import load_links
from tests.servers import provider_server
from tests.surfaces.desk import Desk, environment
from tests.surfaces.test_interruption import stuck_engineer
from tests.surfaces.toolset.tables import SEATS, TOPIC

from .clients import MODES, QUIET, called, command, http_server, over_stdio, refused

ASK: dict[str, Any] = {
    "question": "Tea or coffee?",
    "procedure": "council",
    "options": {
        "scholar": "openai/scholar",
        "engineer": "openai/engineer",
        "muse": "openai/muse",
        "quick": True,
    },
    "search": False,
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@asynccontextmanager
async def connected(
    door: str, home: Path, workspace: Path, mode: str = "auto"
) -> AsyncIterator[Client]:
    if door == "stdio":
        async with over_stdio(home, workspace, mode=mode) as client:
            yield client
    else:
        async with http_server(home, workspace) as server, server.client(mode) as client:
            yield client


async def finished(client: Client, discussion_id: str) -> dict[str, Any]:
    for _ in range(10):
        done = await called(client, "collect", discussion_id=discussion_id, wait=30)
        if done["done"]:
            return done
    raise AssertionError("it did not come to its end")


@pytest.mark.requirement("I-26")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("door", ["stdio", "http"])
async def test_a_client_shakes_hands_and_holds_two_seats(
    tmp_path: Path, workspace: Path, door: str, mode: str
) -> None:
    async with connected(door, tmp_path / "home", workspace, mode) as client:
        assert "roundtable_ask" in (client.instructions or "")
        opened = await called(client, "init", topic=TOPIC, participants=SEATS[:2])
        id_ = opened["discussion_id"]
        for who in ("arch", "back"):
            await called(client, "speak", discussion_id=id_, participant=who, content="好 🙂")
        ended = await called(client, "end", discussion_id=id_, conclusion="Done.")
        assert ended["state"] == "concluded"
        assert (workspace / ended["document"]).is_file()
        await refused(client, "end", discussion_id=id_, conclusion="Again.")


CLIENT = """
import asyncio, sys
from pathlib import Path
from tests.surfaces.mcp.clients import over_stdio, called
from tests.surfaces.mcp.test_transports import ASK
async def main():
    async with over_stdio(Path(sys.argv[1]), Path(sys.argv[2])) as client:
        opened = await called(client, "ask", **ASK)
        print(opened["discussion_id"], flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


async def recorded(home: Path, discussion_id: str, *roles: str) -> None:
    """Wait until the ledger has what they said."""
    async with open_toolset(home=home, workspace=home, web=False) as looker, asyncio.timeout(60):
        names = {
            p.id
            for p in (await looker.app.service.read(discussion_id)).participants
            if p.name in roles
        }
        async for record in looker.app.service.events(discussion_id):
            if isinstance(record.event, SpeechGiven):
                names.discard(record.event.participant)
            if not names:
                break


@pytest.mark.requirement("Z-17")
@pytest.mark.parametrize("door", ["stdio", "http"])
async def test_a_client_is_killed_in_mid_question_and_another_collects(
    tmp_path: Path, workspace: Path, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    released = threading.Event()
    with provider_server(stuck_engineer(released)) as provider:
        for name, value in provider.env().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("ROUNDTABLE_MODEL", "openai/captain")
        killed = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", CLIENT, str(home), str(workspace)),
            stdout=asyncio.subprocess.PIPE,
            env=environment(QUIET),
        )
        try:
            assert killed.stdout is not None
            id_ = (await asyncio.wait_for(killed.stdout.readline(), 60)).decode().strip()
            assert id_.startswith("rt_")
            await recorded(home, id_, "Scholar", "Muse")
        finally:
            killed.kill()
            await killed.wait()
        released.set()
        async with connected(door, home, workspace) as client:
            done = await finished(client, id_)
        calls = [r.body["model"] for r in provider.requests if r.state == "finished"]
    assert done["state"] == "concluded"
    assert done["answer"]
    # The briefing and the synthesis are the captain's; nothing that was finished was asked again.
    assert sorted(calls) == ["captain", "captain", "engineer", "muse", "scholar"]


async def test_nothing_but_the_protocol_is_on_standard_output(
    tmp_path: Path, workspace: Path
) -> None:
    started = command(tmp_path / "home", workspace)
    process = await asyncio.create_subprocess_exec(
        *(started.command, *started.args),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=started.env,
        cwd=workspace,
    )
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "nonsense"}},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "roundtable_list", "arguments": {}},
        },
    ]
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for message in messages:
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.write(b"this is no JSON\n")
        await process.stdin.drain()
        answers: dict[int, Any] = {}
        while not {1, 2, 3} <= set(answers):
            line = await asyncio.wait_for(process.stdout.readline(), 60)
            answer = json.loads(line)
            answers[answer.get("id")] = answer
        assert answers[1]["result"]["serverInfo"]["name"] == "roundtable"
        assert answers[2]["result"]["isError"] is True
        assert answers[3]["result"]["structuredContent"]["total"] == 0
    finally:
        process.stdin.close()
        rest, _ = await asyncio.wait_for(process.communicate(), 60)
    assert all(json.loads(line) for line in rest.splitlines())
    assert process.returncode == 0


async def test_http_lets_nobody_in_without_a_token_or_from_another_site(
    tmp_path: Path, workspace: Path
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with http_server(tmp_path / "home", workspace) as server, AsyncClient() as http:
        accept = {"Accept": "application/json, text/event-stream"}
        key = {"Authorization": f"Bearer {server.key}", **accept}
        without = await http.post(server.url, json=body, headers=accept)
        assert without.status_code == 401
        assert "roundtable tokens add" in without.json()["remedy"]
        wrong = await http.post(server.url, json=body, headers={**key, "Authorization": "Bearer x"})
        assert wrong.status_code == 401
        owners = {**key, "Authorization": f"Bearer {load_links(tmp_path / 'home').owner_key}"}
        owner = await http.post(server.url, json=body, headers=owners)
        assert (owner.status_code, "owner's key" in owner.text) == (401, True)
        foreign = await http.post(server.url, json=body, headers={**key, "Host": "evil.example"})
        assert foreign.status_code == 421
        elsewhere = {**key, "Origin": "https://evil.example"}
        assert (await http.post(server.url, json=body, headers=elsewhere)).status_code == 403


def test_a_port_that_is_taken_is_told_with_what_to_do(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        outcome = desk("mcp", "--http", "--port", str(taken.getsockname()[1]))
    assert outcome.code == 2
    assert "--port" in outcome.err


def test_without_the_library_the_command_says_what_to_install(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roundtable.surfaces.cli.mcp.find_spec", lambda _: None)
    outcome = desk("mcp")
    assert outcome.code == 2
    assert "pip install 'roundtable-council[mcp]'" in outcome.err


async def test_a_speech_of_five_megabytes_is_refused_in_words_over_both(
    tmp_path: Path, workspace: Path
) -> None:
    for door in ("stdio", "http"):
        async with connected(door, tmp_path / "home", workspace) as client:
            opened = await called(client, "init", topic=TOPIC, participants=SEATS)
            told = await refused(
                client,
                "speak",
                discussion_id=opened["discussion_id"],
                participant="arch",
                content="x" * 5_000_000,
            )
            assert "5,000,000 characters" in told["message"]
            status = await called(client, "status", discussion_id=opened["discussion_id"])
            assert status["speeches"] == 0
