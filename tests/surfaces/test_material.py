"""How much a discussion can be given to read: one bound, whichever way it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from roundtable import Roundtable
from roundtable.core import material
from roundtable.core.errors import BadTopic
from roundtable.core.values import Material
from roundtable.procedures.opening import OpenRequest
from tests.procedures.meeting_table import meeting, opened
from tests.rehearsal import Table, run_in_virtual_time

from .desk import ECHO, Desk
from .toolset.tables import tools
from .web.house import house

pytestmark = pytest.mark.requirement("Z-39", "I-16")
TOO_MUCH = "at most 10,000 fit: context, added documents and remarks together"
PART = "x" * 4_000


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(material, "MAX_MATERIAL", 10_000)


def _refused(act: Callable[[Table, str], Awaitable[object]]) -> None:
    """After 8,000 characters of all three kinds."""
    table = meeting()

    async def main() -> None:
        context = (Material(source="a", text="x" * 3_000),)
        id_ = await opened(table, context=context)
        await table.service.add_material(id_, Material(source="b", text="x" * 3_000), by="ada")
        await table.service.speak(id_, "coordinator", "x" * 2_000)
        before = (await table.service.read(id_)).seq
        with pytest.raises(BadTopic) as caught:
            await act(table, id_)
        assert TOO_MUCH in caught.value.message
        assert "excerpt" in caught.value.remedy
        assert (await table.service.read(id_)).seq == before

    run_in_virtual_time(main())


def test_context_documents_and_remarks_are_counted_together() -> None:
    more = Material(source="c", text="x" * 2_000)
    _refused(lambda table, id_: table.service.add_material(id_, more, by="ada"))
    _refused(lambda table, id_: table.service.speak(id_, "coordinator", "x" * 2_001))


def test_long_names_of_documents_count() -> None:
    named = Material(source="x" * 3_000, text="")
    _refused(lambda table, id_: table.service.add_material(id_, named, by="ada"))


def test_no_table_is_opened_with_too_much() -> None:
    table = meeting()
    context = tuple(Material(source=str(n), text=PART) for n in range(3))

    async def main() -> None:
        with pytest.raises(BadTopic, match=TOO_MUCH):
            await table.service.open(OpenRequest(topic="Tea?", context=context))
        assert await table.service.summaries() == []

    run_in_virtual_time(main())


def test_a_document_that_fitted_is_no_trouble_when_it_is_sent_again() -> None:
    table = meeting()

    async def main() -> None:
        id_ = await opened(table)
        for _ in range(3):
            paper = Material(source="a", text="x" * 9_000)
            state = await table.service.add_material(id_, paper, by="ada", key="k1")
        assert len(state.added) == 1

    run_in_virtual_time(main())


# --- on every surface -----------------------------------------------------------------------------


def test_at_the_command_line(desk: Desk) -> None:
    part = desk.workspace / "part.md"
    part.write_text(PART, "utf-8")
    refused = desk("Tea?", *ECHO, "--quick", "--no-log", *(("--context", str(part)) * 3))
    assert (refused.code, TOO_MUCH in refused.err) == (2, True)
    assert desk("list", "--json").document == []


def test_in_the_library(tmp_path: Path) -> None:
    async def main() -> None:
        async with Roundtable(home=tmp_path / "home") as table:
            with pytest.raises(BadTopic, match=TOO_MUCH):
                await table.open("Tea?", context=[PART] * 3, all="scripted/echo")

    asyncio.run(main())


@pytest.mark.anyio
async def test_over_http(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as home:
        state = await home.meeting()
        link = home.at(state, "host")
        for expected in (200, 200, 422):
            answer = await home.act(f"{link}/material", source="a", text=PART)
            assert answer.status_code == expected
        assert TOO_MUCH in answer.json()["error"]
        refused = await home.act(f"{link}/speak", text=PART)
        assert (refused.status_code, TOO_MUCH in refused.json()["error"]) == (422, True)
        body = {"topic": "Tea?", "context": [{"source": "a", "text": PART}] * 3}
        asked = await home.client.post("/api/discussions", json=body, headers=dict(home.owner))
        assert (asked.status_code, TOO_MUCH in asked.json()["error"]) == (422, True)
        chat = {"model": "roundtable", "messages": [{"role": "user", "content": PART}] * 4}
        told = await home.client.post(
            "/v1/chat/completions", json=chat, headers=home.asking("/v1/")
        )
        assert (told.status_code, TOO_MUCH in told.text) == (400, True), told.text


@pytest.mark.anyio
async def test_through_the_tools(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        with pytest.raises(BadTopic, match=TOO_MUCH):
            await toolset.ask(question="Tea?", context="x" * 11_000)
