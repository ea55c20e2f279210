"""The MCP server in memory: tools, resources, prompts, subscriptions, errors."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from benchmarks import meeting_tools
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.subscriptions import ResourceUpdated

from roundtable.surfaces.toolset.base import REPLY_LIMIT
from tests.surfaces.toolset.tables import NAMES, SEATS, TOPIC, declares, started, stored, tools

from .clients import MODES, called, in_memory, refused

NINE = [
    f"roundtable_{name}"
    for name in (
        "init", "speak", "read", "status", "summarize", "end", "list", "advance", "notify",
    )
]  # fmt: skip
READ = ("read", "status", "summarize", "list", "compare")
MORE = [f"roundtable_{name}" for name in ("vote", "invite", "ask", "answer", "poll", "collect")]
RARE = [
    f"roundtable_{name}"
    for name in (
        "compare", "join", "leave", "pause", "resume", "skip", "material", "extend",
        "outcome", "schedule",
    )
]  # fmt: skip


@pytest.mark.requirement("D-01", "I-26")
@pytest.mark.parametrize("mode", MODES)
async def test_the_tools_are_listed_with_valid_schemas_and_their_nature(
    tmp_path: Path, mode: str
) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset, mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(listed)[:9] == NINE
        assert set(listed) == {*NINE, *MORE}
        for tool in listed.values():
            Draft202012Validator.check_schema(tool.input_schema)
            assert tool.description
            assert tool.annotations is not None
        assert set(listed["roundtable_init"].input_schema["required"]) == {"topic", "participants"}
        assert set(listed["roundtable_init"].input_schema["properties"]) >= {
            "topic", "context", "participants", "created_by", "max_rounds", "speech_order",
            "notifications", "output_path", "web", "web_port",
        }  # fmt: skip
        read_only = {n for n, t in listed.items() if t.annotations and t.annotations.read_only_hint}
        assert read_only == {f"roundtable_{n}" for n in READ if f"roundtable_{n}" not in RARE}
        ends = listed["roundtable_end"].annotations
        assert ends is not None
        assert ends.destructive_hint
        toolset.every = True
    async with in_memory(toolset, mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {*NINE, *MORE, *RARE}


async def test_the_definitions_of_the_tools_fit_into_fifteen_thousand_characters(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset) as client:
        listed = await client.list_tools()
        told = listed.model_dump_json(by_alias=True, exclude_none=True)
        assert len(told) <= 15_000


@pytest.mark.requirement("D-12", "D-92")
async def test_the_last_speaker_of_a_long_meeting_reads_it_in_two_calls_and_25k_characters(
    tmp_path: Path,
) -> None:
    _, defined, before = await meeting_tools.held(tmp_path)
    assert defined <= meeting_tools.MOST_DEFINED
    assert len(before) <= meeting_tools.MOST_CALLS
    assert sum(before) <= meeting_tools.MOST_CHARACTERS


@pytest.mark.requirement("D-12", "D-92")
async def test_a_turn_takes_at_most_eight_calls_and_eight_thousand_characters(
    tmp_path: Path,
) -> None:
    agents, _, _ = await meeting_tools.held(tmp_path)
    for agent in agents:
        characters, calls = meeting_tools.most_in_a_turn(agent)
        assert characters <= meeting_tools.MOST_A_TURN, agent.name
        assert calls <= meeting_tools.MOST_CALLS_A_TURN, agent.name
        assert max(agent.idle) <= meeting_tools.MOST_IDLE, agent.name


@pytest.mark.requirement("I-26", "D-94")
@pytest.mark.parametrize("mode", MODES)
async def test_a_meeting_is_held_through_the_tools(tmp_path: Path, mode: str) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset, mode) as client:
        opened = await called(
            client, "init", topic="一个数据库？", participants=SEATS, max_rounds=1
        )
        id_ = opened["discussion_id"]
        for who in NAMES:
            spoken = await called(client, "speak", discussion_id=id_, participant=who, content="好")
            assert spoken["round"] == 1
        ended = await client.call_tool("roundtable_read", {"discussion_id": id_})
        (text,) = ended.content
        assert isinstance(text, types.TextContent)
        assert "好" in text.text
        await called(client, "end", discussion_id=id_, conclusion="好")
        assert (await called(client, "collect", discussion_id=id_))["done"] is True


async def test_errors_are_tool_errors_that_name_the_remedy(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset) as client:
        id_ = await started(toolset)
        unknown = await refused(client, "status", discussion_id="rt_00000000")
        assert unknown["kind"] == "UnknownDiscussion"
        turn = await refused(client, "speak", discussion_id=id_, participant="prod", content="x")
        assert "not prod's turn" in turn["message"]
        missing = await refused(client, "speak", discussion_id=id_)
        assert missing["message"] == "speak needs participant."
        extra = await refused(client, "status", discussion_id=id_, verbos=True)
        assert "verbos" in extra["message"]
        assert all(each["remedy"] for each in (unknown, turn, missing, extra))
        nothing = await client.call_tool("roundtable_applaud", {})
        assert nothing.is_error


async def test_a_defect_is_told_without_its_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset) as client:

        async def broken(*_: object, **__: object) -> Any:
            raise ZeroDivisionError("the secret inside")

        monkeypatch.setattr(toolset.app.service, "summaries", broken, raising=False)
        with caplog.at_level(logging.ERROR):
            result = await client.call_tool("roundtable_list", {})
        assert result.is_error
        assert "secret" not in str(result.content)
        assert "ZeroDivisionError" in str(result.content)
        assert "the secret inside" in caplog.text


async def test_replies_stay_short_and_the_rest_is_a_resource(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset) as client:
        id_ = await started(toolset)
        for n in range(30):
            await toolset.speak(id_, "coordinator", f"Remark {n}. " + "Worte und Wörter. " * 60)
        for tool in ("read", "summarize", "status"):
            result = await client.call_tool(f"roundtable_{tool}", {"discussion_id": id_})
            (text,) = result.content
            assert isinstance(text, types.TextContent)
            assert len(text.text) <= (2 if tool == "read" else 1) * REPLY_LIMIT
        (whole,) = (await client.read_resource(f"roundtable://{id_}/transcript")).contents
        assert isinstance(whole, types.TextResourceContents)
        assert all(f"Remark {n}." in whole.text for n in range(30))


async def test_discussions_are_resources(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset) as client:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", "A first word.")
        uris = [str(each.uri) for each in (await client.list_resources()).resources]
        assert uris == ["roundtable://discussions", f"roundtable://{id_}/transcript"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == [
            "roundtable://{discussion_id}/transcript",
            "roundtable://{discussion_id}/events{?after}",
        ]

        async def read(uri: str) -> str:
            (contents,) = (await client.read_resource(uri, cache_mode="bypass")).contents
            assert isinstance(contents, types.TextResourceContents)
            return contents.text

        assert json.loads(await read("roundtable://discussions"))["total"] == 1
        assert "A first word." in await read(f"roundtable://{id_}/transcript")
        events = json.loads(await read(f"roundtable://{id_}/events"))
        assert events["events"][0]["type"] == "DiscussionOpened"
        assert [each["seq"] for each in events["events"]] == list(range(1, events["after"] + 1))
        rest = json.loads(await read(f"roundtable://{id_}/events?after={events['after'] - 1}"))
        assert [each["seq"] for each in rest["events"]] == [events["after"]]
        for wrong in (
            "roundtable://rt_00000000/transcript",
            "roundtable://nonsense",
            f"roundtable://{id_}/secrets",
            f"roundtable://{id_}/events?after=x",
        ):
            with pytest.raises(MCPError):
                await client.read_resource(wrong)


async def test_a_listening_client_hears_of_every_speech(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset) as client:
        id_ = await started(toolset)
        uri = f"roundtable://{id_}/transcript"
        async with client.listen(resource_subscriptions=[uri]) as updates:
            await toolset.speak(id_, "arch", "A first word.")
            event = await asyncio.wait_for(anext(aiter(updates)), 30)
            assert event == ResourceUpdated(uri=uri)


async def test_an_earlier_client_subscribes_and_hears_until_it_unsubscribes(tmp_path: Path) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def handler(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.put_nowait(str(message.params.uri))

    async with (
        tools(tmp_path) as toolset,
        in_memory(toolset, "legacy", message_handler=handler) as client,
    ):
        id_ = await started(toolset)
        uri = f"roundtable://{id_}/events"
        with pytest.warns(MCPDeprecationWarning):
            await client.subscribe_resource(uri)
        await toolset.speak(id_, "arch", "A first word.")
        assert await asyncio.wait_for(heard.get(), 30) == uri
        with pytest.warns(MCPDeprecationWarning):
            await client.unsubscribe_resource(uri)
        with pytest.warns(MCPDeprecationWarning), pytest.raises(MCPError):
            await client.subscribe_resource("roundtable://nonsense")


async def test_the_list_of_discussions_can_be_watched(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset) as client:
        uri = "roundtable://discussions"
        async with client.listen(resource_subscriptions=[uri]) as updates:
            await started(toolset, 2)
            assert await asyncio.wait_for(anext(aiter(updates)), 30) == ResourceUpdated(uri=uri)


async def test_prompts_tell_an_agent_how_to_lead_to_take_part_and_to_ask(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset, in_memory(toolset) as client:
        id_ = await started(toolset)
        names = [each.name for each in (await client.list_prompts()).prompts]
        assert names == ["coordinate", "participate", "second_opinion"]

        async def text(name: str, **arguments: str) -> str:
            (message,) = (await client.get_prompt(name, arguments)).messages
            assert isinstance(message.content, types.TextContent)
            return message.content.text

        assert TOPIC in await text("coordinate", topic=TOPIC)
        assert "one tester" in await text("coordinate", topic=TOPIC, participants="one tester")
        seat = await text("participate", discussion_id=id_, profile="back")
        assert "'back' (Backend)" in seat
        assert "operations" in seat
        assert "council" in await text("second_opinion", question="Q?", procedure="council")
        for wrong in (
            ("coordinate", {}),
            ("participate", {"discussion_id": id_, "profile": "Back"}),
            ("participate", {"discussion_id": "rt_00000000", "profile": "back"}),
            ("sing", {}),
        ):
            with pytest.raises(MCPError):
                await client.get_prompt(*wrong)


@pytest.mark.requirement("Z-17")
async def test_progress_is_reported_where_the_client_wants_it(tmp_path: Path) -> None:
    heard: list[tuple[float, str | None]] = []

    async def on_progress(
        progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        assert total is None
        heard.append((progress, message))

    async with tools(tmp_path) as toolset, in_memory(toolset) as client:
        id_ = await started(toolset, 2, max_rounds=1)
        waiting = asyncio.create_task(
            client.call_tool(
                "roundtable_collect",
                {"discussion_id": id_, "wait": 50},
                progress_callback=on_progress,
            )
        )
        for who in ("arch", "back"):
            await toolset.speak(id_, who, f"{who} speaks")
        await toolset.end_discussion(id_, conclusion="They spoke.")
        result = await waiting
        assert result.structured_content is not None
        assert result.structured_content["done"]
        assert [far for far, _ in heard] == sorted(far for far, _ in heard)
        assert any("arch speaks" in (message or "") for _, message in heard)


@pytest.mark.requirement("D-19", "D-90")
async def test_a_seat_sees_and_uses_only_its_own_tools(tmp_path: Path) -> None:
    async with (
        tools(tmp_path) as host,
        tools(tmp_path, profile="arch") as seat,
        in_memory(seat) as client,
    ):
        id_ = await started(host)
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "roundtable_speak" in names
        assert "roundtable_end" not in names
        told = await refused(client, "end", discussion_id=id_, conclusion="Mine.")
        assert "coordinator" in told["message"]
        told = await refused(client, "speak", discussion_id=id_, participant="back", content="x")
        assert "'arch' only" in told["message"]
        spoken = await called(
            client, "speak", discussion_id=id_, participant="arch", **declares("NEW: x", "VOTE o1")
        )
        assert spoken["new_points"] == ["p1"]
        assert spoken["recorded"].startswith("on d1 you hold o1 (“yes”)")


async def test_a_client_that_vanishes_in_a_call_leaves_nothing_half_done(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)

        async def impatient(client: Client) -> None:
            await client.call_tool("roundtable_collect", {"discussion_id": id_, "wait": 50})

        async with in_memory(toolset) as client:
            calling = asyncio.create_task(impatient(client))
            await asyncio.sleep(0)
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
        async with in_memory(toolset) as client:
            await called(client, "speak", discussion_id=id_, participant="arch", content="Here.")
        assert len((await stored(toolset, id_)).speeches) == 1
