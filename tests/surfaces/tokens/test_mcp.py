"""Every method of the MCP server with every kind of token: tools, resources, prompts,
subscriptions. What is tried is what the server itself offers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from httpx2 import AsyncClient
from mcp import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError

from roundtable.surfaces.mcp.callers import Callers
from roundtable.surfaces.mcp.resources import DISCUSSIONS, EVENTS, TRANSCRIPT
from roundtable.surfaces.mcp.server import make_server
from roundtable.surfaces.tokens.rules import PROMPTS, RESOURCES, TOOLS
from roundtable.surfaces.toolset import Toolset
from roundtable.surfaces.web.links import Links, load_links
from tests.surfaces.mcp.clients import called, http_server, refused
from tests.surfaces.toolset.tables import tools
from tests.surfaces.web.house import client_token

from .kinds import BAD, MAY, VALID, made

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.requirement("Z-39"),
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]
SEATS = [{"profile": "tea", "role": "advocate"}, {"profile": "coffee", "role": "critic"}]
OWNERS = {"owner's key", "session"}
METHODS = {
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
    "ping",
    "server/discover",
}


@asynccontextmanager
async def as_(toolset: Toolset, links: Links, token: str) -> AsyncIterator[Client]:
    server = make_server(toolset, Callers(links, token))
    async with Client(server, mode="legacy") as client:
        yield client


@pytest.fixture
async def toolset(tmp_path: Path) -> AsyncIterator[Toolset]:
    async with tools(tmp_path) as opened:
        yield opened


async def tried(work: Callable[[], Awaitable[object]]) -> str:
    """Empty if it was done, else why not."""
    try:
        await work()
    except MCPError as error:
        return str(error)
    return ""


async def test_every_method_of_the_server_is_known(toolset: Toolset) -> None:
    assert set(make_server(toolset)._request_handlers) <= METHODS


async def test_every_resource_and_prompt_has_a_rule(toolset: Toolset) -> None:
    toolset.every = True
    async with Client(make_server(toolset), mode="legacy") as client:
        templates = (await client.list_resource_templates()).resource_templates
        listed = (await client.list_resources()).resources
        prompts = (await client.list_prompts()).prompts
        offered = (await client.list_tools()).tools
    fixed = {str(each.uri) for each in listed if str(each.uri) == DISCUSSIONS}
    assert {each.uri_template for each in templates} | fixed == set(RESOURCES)
    assert {each.name for each in prompts} == set(PROMPTS)
    assert {each.name for each in offered} == {f"roundtable_{name}" for name in TOOLS}


@pytest.mark.parametrize("kind", VALID)
async def test_each_token_gets_of_the_server_what_it_is_for(
    toolset: Toolset, tmp_path: Path, kind: str
) -> None:
    links = load_links(tmp_path / "home")
    opened = await toolset.create_discussion(topic="Tea?", participants=SEATS)  # type: ignore[arg-type]
    id_ = opened.discussion_id
    state = await toolset.app.service.read(id_)
    token = made(links, kind, state)  # type: ignore[arg-type]
    toolset.every = True
    held = links.find(token)
    assert held is not None
    async with as_(toolset, links, token) as client:
        offered = {
            each.name.removeprefix("roundtable_") for each in (await client.list_tools()).tools
        }
        assert offered == {tool for tool, act in TOOLS.items() if held.may(act)}
        named = {each.name for each in (await client.list_prompts()).prompts}
        assert named == {name for name, act in PROMPTS.items() if held.may(act)}
        for address in (TRANSCRIPT, EVENTS):
            uri = address.replace("{discussion_id}", id_).replace("{?after}", "?after=0")
            for work in (
                partial(client.read_resource, uri),
                partial(client.subscribe_resource, uri),
            ):
                why = await tried(work)
                assert bool(why) == (kind not in MAY["watch"]), (address, why)
                assert "Tea?" not in why
        if "list" in offered and "read" in offered:
            shown = {str(each.uri) for each in (await client.list_resources()).resources}
            assert (f"roundtable://{id_}/transcript" in shown) == (kind in MAY["watch"])
        wish = {"topic": "x", "question": "x", "discussion_id": id_, "profile": "tea"}
        for name in PROMPTS:
            why = await tried(partial(client.get_prompt, name, wish))
            speaks = MAY["speak"] - {"other seat"}
            allowed = kind in (speaks if name == "participate" else MAY["open"])
            assert bool(why) != allowed, (name, why)


@pytest.mark.parametrize("kind", BAD)
async def test_what_only_looks_like_a_token_gets_nothing(
    toolset: Toolset, tmp_path: Path, kind: str
) -> None:
    links = load_links(tmp_path / "home")
    opened = await toolset.create_discussion(topic="Tea?", participants=SEATS)  # type: ignore[arg-type]
    state = await toolset.app.service.read(opened.discussion_id)
    token = made(links, kind, state)  # type: ignore[arg-type]
    uri = f"roundtable://{opened.discussion_id}/transcript"
    async with as_(toolset, links, token) as client:
        for work in (
            client.list_tools,
            client.list_resources,
            client.list_resource_templates,
            client.list_prompts,
            lambda: client.read_resource(uri),
            lambda: client.read_resource(DISCUSSIONS),
            lambda: client.subscribe_resource(uri),
            lambda: client.subscribe_resource(DISCUSSIONS),
            lambda: client.get_prompt("coordinate", {"topic": "x"}),
        ):
            why = await tried(work)
            assert "This token" in why, kind
            assert "roundtable tokens add" in why
        told = await refused(client, "status", discussion_id=opened.discussion_id)
        assert "This token" in told["message"]


async def test_a_token_that_is_ended_ends_in_mid_session(toolset: Toolset, tmp_path: Path) -> None:
    links = load_links(tmp_path / "home")
    token = client_token(tmp_path / "home")
    async with as_(toolset, links, token) as client:
        opened = await called(client, "init", topic="Tea?", participants=SEATS)
        assert (await called(client, "list"))["total"] == 1
        links.tokens.end_given(token)
        told = await refused(client, "status", discussion_id=opened["discussion_id"])
        assert told["message"] == "This token was ended by whoever gave it."


@pytest.mark.parametrize("kind", [*VALID, *BAD])
async def test_a_token_listens_to_what_it_may_read(
    toolset: Toolset, tmp_path: Path, kind: str
) -> None:
    links = load_links(tmp_path / "home")
    opened = await toolset.create_discussion(topic="Tea?", participants=SEATS)  # type: ignore[arg-type]
    state = await toolset.app.service.read(opened.discussion_id)
    token = made(links, kind, state)  # type: ignore[arg-type]
    uri = f"roundtable://{opened.discussion_id}/transcript"
    server = make_server(toolset, Callers(links, token))

    async def listens(client: Client) -> None:
        async with client.listen(resource_subscriptions=[uri]):
            pass

    async with Client(server) as client:
        why = await tried(lambda: listens(client))
        assert bool(why) == (kind not in MAY["watch"]), why


async def test_a_client_that_listens_hears_nothing_after_its_token_ended(
    toolset: Toolset, tmp_path: Path
) -> None:
    links = load_links(tmp_path / "home")
    opened = await toolset.create_discussion(topic="Tea?", participants=SEATS)  # type: ignore[arg-type]
    token = links.token(opened.discussion_id, "seat", seat="tea")
    uri = f"roundtable://{opened.discussion_id}/transcript"
    server = make_server(toolset, Callers(links, token))
    async with Client(server) as client, client.listen(resource_subscriptions=[uri]) as updates:
        links.tokens.end_given(token)
        heard = []
        with suppress(MCPError, SubscriptionLost):
            async with asyncio.timeout(60):
                heard = [event async for event in updates]
        assert heard == []


async def test_a_seat_of_an_invitation_holds_that_seat_and_nothing_else(
    toolset: Toolset, tmp_path: Path
) -> None:
    opened = await toolset.create_discussion(topic="Tea?", participants=SEATS)  # type: ignore[arg-type]
    other = await toolset.create_discussion(topic="Milk?", participants=SEATS)  # type: ignore[arg-type]
    invited = await toolset.invite(opened.discussion_id, "tea")
    token = invited.command.rpartition(" ")[2]
    async with as_(toolset, load_links(tmp_path / "home"), token) as client:
        assert (await called(client, "list"))["total"] == 1
        told = await refused(
            client,
            "speak",
            discussion_id=opened.discussion_id,
            participant="coffee",
            content="As another.",
        )
        assert told["message"] == "This token speaks for 'tea' only, not for 'coffee'."
        told = await refused(client, "read", discussion_id=other.discussion_id)
        assert "other discussions" in told["message"]
        for tool in ("end", "advance", "invite"):
            told = await refused(client, tool, discussion_id=opened.discussion_id)
            assert "belongs to the coordinator" in told["message"]
        said = await called(
            client,
            "speak",
            discussion_id=opened.discussion_id,
            participant="tea",
            content="My own view.",
        )
        assert said["round"] == 1


async def test_over_http_each_client_has_its_own_rights_and_its_own_session(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    async with http_server(home, tmp_path) as server:
        one, two = client_token(home), client_token(home)
        async with server.client("legacy", one) as first, server.client("legacy", two) as second:
            opened = await called(first, "init", topic="Tea?", participants=SEATS)
            assert (await called(first, "list"))["total"] == 1
            assert (await called(second, "list"))["total"] == 0
            told = await refused(second, "status", discussion_id=opened["discussion_id"])
            assert "other discussions" in told["message"]
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "x", "version": "1"},
            },
        }
        accept = {"accept": "application/json, text/event-stream"}
        async with AsyncClient(timeout=60) as http:
            began = await http.post(
                server.url, json=body, headers={**accept, "authorization": f"Bearer {one}"}
            )
            session = {"mcp-session-id": began.headers["mcp-session-id"], **accept}
            ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            for token, status in ((one, 200), (two, 404)):
                headers = {**session, "authorization": f"Bearer {token}"}
                answer = await http.post(server.url, json=ping, headers=headers)
                assert answer.status_code == status
            async with asyncio.timeout(60):
                headers = {**session, "authorization": f"Bearer {one}"}
                async with http.stream("GET", server.url, headers=headers) as listening:
                    assert listening.status_code == 200
                    load_links(home).tokens.end_given(one)
                    with pytest.raises(Exception, match=r"(?i)closed|incomplete|peer"):
                        async for _ in listening.aiter_bytes():
                            pass
            after = await http.post(server.url, json=ping, headers=headers)
            assert after.status_code == 401
            assert "was ended" in after.json()["error"]


async def test_the_bad_kinds_are_bad(tmp_path: Path) -> None:
    """The owner's key and session are no tokens, though they open the owner's page."""
    assert set(BAD) > OWNERS
    assert load_links(tmp_path).read(load_links(tmp_path).owner_key, now=datetime.now(UTC)) is None
