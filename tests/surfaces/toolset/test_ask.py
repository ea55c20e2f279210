"""Long questions: ask, poll, collect, whoever goes away in between."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import UnknownDiscussion, UnknownName, UsageError
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.speakers.scripted import ScriptedSpeaker
from roundtable.surfaces.toolset import Toolset
from tests.rehearsal import dutiful

from .tables import started, tools

COUNCIL: dict[str, Any] = {
    "question": "Tea or coffee?",
    "procedure": "council",
    "options": {"all": "scripted/voice", "quick": True},
    "search": False,
}


class Voice:
    """Counts what it is asked, and answers when it may."""

    def __init__(self, *, open_: bool = True) -> None:
        self.asked: list[str] = []
        self.door = asyncio.Event()
        if open_:
            self.door.set()

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        self.asked.append(request.idempotency_key)
        await self.door.wait()
        return await ScriptedSpeaker(dutiful).speak(request, on_words)

    async def close(self) -> None: ...


async def asked(toolset: Toolset, **more: Any) -> str:
    options = {**COUNCIL["options"], **more.pop("options", {})}
    opened = await toolset.ask(**{**COUNCIL, "options": options, **more})
    return opened.discussion_id


@pytest.mark.requirement("Z-17")
async def test_a_question_is_asked_followed_and_collected(tmp_path: Path) -> None:
    voice = Voice()
    env = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_MODEL": "scripted/voice"}
    async with tools(tmp_path, speakers={"voice": voice}, env=env) as toolset:
        opened = await toolset.ask(**COUNCIL)
        assert opened.state == "running"
        assert opened.estimate
        cursor, told = opened.cursor, []
        for _ in range(100):
            news = await toolset.poll(opened.discussion_id, cursor=cursor, wait=50)
            assert news.cursor >= cursor
            told += news.progress
            cursor = news.cursor
            if news.done:
                break
        assert any("closed: concluded" in line for line in told)
        assert len(told) == len(set(told))
        done = await toolset.collect(opened.discussion_id)
        assert (done.done, done.state) == (True, "concluded")
        assert done.answer
        assert done.answer.splitlines()[0] in done.report
        assert done.calls == len(voice.asked)


@pytest.mark.requirement("Z-17")
async def test_what_a_process_left_is_taken_up_by_the_next_and_nothing_finished_is_asked_again(
    tmp_path: Path,
) -> None:
    env = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_MODEL": "scripted/voice"}
    first, stuck = Voice(), Voice(open_=False)
    question = {
        **COUNCIL,
        "options": {
            "scholar": "scripted/voice",
            "engineer": "scripted/stuck",
            "muse": "scripted/voice",
            "quick": True,
        },
        "key": "once",
    }
    async with tools(tmp_path, speakers={"voice": first, "stuck": stuck}, env=env) as toolset:
        id_ = (await toolset.ask(**question)).discussion_id
        cursor = 0
        while len((await toolset.status(id_)).spoke) < 2:
            cursor = (await toolset.poll(id_, cursor=cursor, wait=50)).cursor
        assert [key.split("/")[-2] for key in stuck.asked] == ["engineer"]
    finished = {key.rsplit("/", 1)[0] for key in first.asked}
    second = Voice()
    async with tools(tmp_path, speakers={"voice": second, "stuck": second}, env=env) as toolset:
        assert (await toolset.ask(**question)).discussion_id == id_
        done = await toolset.collect(id_, wait=50)
        assert done.done
        assert done.answer
    assert second.asked
    assert finished.isdisjoint(key.rsplit("/", 1)[0] for key in second.asked)


async def test_polling_tells_progress_while_it_waits(tmp_path: Path) -> None:
    heard: list[tuple[float, str]] = []

    async def on_progress(far: float, what: str) -> None:
        heard.append((far, what))

    env = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_MODEL": "scripted/voice"}
    async with tools(tmp_path, speakers={"voice": Voice()}, env=env) as toolset:
        id_ = await asked(toolset)
        await toolset.collect(id_, wait=50, on_progress=on_progress)
        assert [far for far, _ in heard] == sorted({far for far, _ in heard})
        assert any("verdict" in what for _, what in heard)


async def test_a_discussion_that_is_not_done_says_so_and_a_short_wait_ends(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        early = await toolset.collect(id_)
        assert (early.done, early.answer) == (False, "")
        news = await toolset.poll(id_, cursor=10_000, wait=0)
        assert (news.done, news.progress, news.cursor) == (False, [], 10_000)
        assert news.waiting_for == ["arch"]
        assert "arch" in news.hint


@pytest.mark.requirement("X-48")
async def test_what_the_tools_started_can_be_spoken_in_and_finished_by_the_program(
    tmp_path: Path,
) -> None:
    env = {"ROUNDTABLE_LOCAL_SERVERS": "false", "ROUNDTABLE_MODEL": "scripted/voice"}
    voice = Voice(open_=False)
    async with tools(tmp_path, speakers={"voice": voice}, env=env) as toolset:
        id_ = await asked(toolset)
        waiting = await toolset.status(id_)
        assert waiting.next_speaker is not None
        remark = await toolset.speak(id_, "coordinator", "Mind the budget.")
        assert remark.round == 0
        voice.door.set()
        assert (await toolset.collect(id_, wait=50)).done
        texts = [row.text for row in (await toolset.read(id_, round=0)).speeches]
        assert "Mind the budget." in texts


@pytest.mark.parametrize(
    ("tool", "arguments", "error", "told"),
    [
        ("ask", {"question": " "}, UsageError, "empty"),
        ("ask", {"question": "Q?", "procedure": "brawl"}, UnknownName, "brawl"),
        ("ask", {"question": "Q?", "procedure": "council", "options": {"x": 1}}, UsageError, "x"),
        ("poll", {"discussion_id": "rt_00000000"}, UnknownDiscussion, "rt_00000000"),
        ("poll", {"discussion_id": "rt_00000000", "wait": 600}, UsageError, "wait"),
        ("collect", {}, UsageError, "discussion_id"),
    ],
)
async def test_a_wrong_question_is_refused_with_a_remedy(
    tmp_path: Path, tool: str, arguments: dict[str, Any], error: type[UsageError], told: str
) -> None:
    async with tools(tmp_path) as toolset:
        with pytest.raises(error, match=told) as refused:
            await toolset.call(tool, arguments)
        assert refused.value.remedy
        assert (await toolset.list_discussions()).total == 0
