"""Roundtable as a library: typed, async, quiet, and gone when it is closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import roundtable
from roundtable import DiscussionFailed, Roundtable
from roundtable.core.errors import BadTopic, NotAllowed, UnknownDiscussion, UsageError
from roundtable.core.events import AttemptStarted, DiscussionClosed, SpeechGiven
from roundtable.core.values import Budget, Material, SearchHit, Verdict
from roundtable.ledger.memory import MemoryLedger
from roundtable.speakers.scripted import Line, ScriptedSpeaker

ECHO: dict[str, Any] = {"all": "scripted/echo", "quick": True}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Roundtable]:
    async with Roundtable(home=tmp_path, model="scripted/echo") as table:
        yield table


@pytest.mark.requirement("I-25")
async def test_a_question_is_answered_inside_a_running_loop_without_a_print(
    table: Roundtable, capfd: pytest.CaptureFixture[str]
) -> None:
    verdict = await table.ask("Should we drink tea?", procedure="council", **ECHO)

    assert isinstance(verdict, Verdict)
    assert (verdict.answer, verdict.headline) == ("Yes", "Yes, 3 of 3.")
    assert verdict.written.startswith("[scripted:echo]")
    assert verdict.confidence == "medium"
    assert tuple(capfd.readouterr()) == ("", "")


@pytest.mark.requirement("I-25")
async def test_events_come_one_by_one_until_the_discussion_is_closed(table: Roundtable) -> None:
    records = [record async for record in table.discuss("Tea or coffee?", **ECHO)]

    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert isinstance(records[-1].event, DiscussionClosed)
    stored = [record async for record in table.events(records[0].discussion_id)]
    assert stored == records


async def test_leaving_the_events_early_interrupts_and_run_goes_on(table: Roundtable) -> None:
    async with aclosing(table.discuss("Tea or coffee?", **ECHO)) as records:
        async for record in records:
            if isinstance(record.event, AttemptStarted):
                break
    found = record.discussion_id
    [row] = await table.discussions()
    assert row.status == "running"

    state = await table.run(found)

    assert state.status == "concluded"


async def test_a_speaker_that_breaks_down_ends_the_events_with_its_error(tmp_path: Path) -> None:
    def defect(_: object) -> str:
        raise ZeroDivisionError("a defect in the caller's own speaker")

    async with Roundtable(
        home=tmp_path, model="scripted/own", speakers={"own": ScriptedSpeaker(defect)}
    ) as table:
        with pytest.raises(ZeroDivisionError):
            async for _ in table.discuss("Tea or coffee?", all="scripted/own"):
                pass


@pytest.mark.requirement("I-25")
async def test_two_tables_at_once_share_nothing(tmp_path: Path) -> None:
    def saying(words: str) -> ScriptedSpeaker:
        return ScriptedSpeaker(lambda _: f"## Answer\n{words}")

    async with (
        Roundtable(home=tmp_path / "a", model="scripted/own", speakers={"own": saying("A")}) as a,
        Roundtable(home=tmp_path / "b", model="scripted/own", speakers={"own": saying("B")}) as b,
    ):
        first, second = await asyncio.gather(
            a.ask("Tea?", all="scripted/own", quick=True),
            b.ask("Tea?", all="scripted/own", quick=True),
        )
        rows = [*await a.discussions(), *await b.discussions()]

    assert (first.answer, second.answer) == ("A", "B")
    assert len({row.discussion_id for row in rows}) == 2


@pytest.mark.requirement("I-25", "A-26")
async def test_nothing_is_left_running(tmp_path: Path) -> None:
    threads, tasks = set(threading.enumerate()), asyncio.all_tasks()
    async with Roundtable(home=tmp_path, model="scripted/echo") as table:
        await table.ask("Tea or coffee?", **ECHO)
        async for _ in table.discuss("Coffee or tea?", **ECHO):
            break

    await asyncio.sleep(0)  # the loop closes the iterator that was left in its next round
    assert asyncio.all_tasks() <= tasks
    assert {t for t in threading.enumerate() if not t.name.startswith("asyncio_")} <= threads


async def test_a_discussion_without_a_verdict_is_an_error_with_its_state(table: Roundtable) -> None:
    with pytest.raises(DiscussionFailed, match="0 of 3 specialists") as caught:
        await table.ask("Tea or coffee?", all="scripted/mute")

    assert caught.value.state.status == "failed"
    assert "--preset=cheap" in caught.value.remedy


async def test_open_run_read_speak_stop_and_delete(table: Roundtable) -> None:
    opened = await table.open(
        "Tea or coffee?",
        context=["The kettle is broken.", Material(source="memo", text="We have beans.")],
        created_by="a test",
        language="de",
        **ECHO,
    )
    found = opened.discussion_id
    await table.speak(found, "coordinator", "Mind the kettle.", key="k")
    await table.speak(found, "coordinator", "Mind the kettle.", key="k")
    words: list[str] = []
    state = await table.run(found, on_draft=lambda draft: words.append(draft.words))
    again = await table.run(found)
    read = await table.read(found)
    with pytest.raises(NotAllowed, match="already closed"):
        await table.stop(found)
    await table.delete(found)

    assert opened.usage.calls == 0
    assert [m.source for m in opened.start.context] == ["context 1", "memo"]
    assert (opened.start.language, opened.start.created_by) == ("de", "a test")
    assert "[scripted:echo] " in "".join(words)
    assert state.status == again.status == read.status == "concluded"
    assert [s.text for s in state.speeches].count("Mind the kettle.") == 1
    with pytest.raises(UnknownDiscussion):
        await table.read(found)


async def test_a_discussion_can_be_stopped_while_it_runs(tmp_path: Path) -> None:
    hanging = ScriptedSpeaker(lambda _: Line("I was about to", hangs=True))
    async with Roundtable(
        home=tmp_path, model="scripted/echo", speakers={"stuck": hanging}
    ) as table:
        state = await table.open("Tea or coffee?", quick=True, muse="scripted/stuck")
        driving = asyncio.create_task(table.run(state.discussion_id))
        async for record in table.events(state.discussion_id):
            if isinstance(record.event, SpeechGiven) and record.event.participant == "engineer":
                break
        await table.stop(state.discussion_id, reason="enough")
        ended = await driving

    assert (ended.status, ended.closed and ended.closed.detail) == ("stopped", "enough")
    assert ended.verdict is not None
    assert ended.verdict.partial


@pytest.mark.requirement("I-11")
async def test_a_budget_ends_it_with_a_partial_verdict(table: Roundtable) -> None:
    verdict = await table.ask("Tea or coffee?", budget=Budget(max_calls=3), **ECHO)

    assert verdict.partial


@pytest.mark.parametrize("question", ["", "tea\0", "x" * 100_001])
async def test_bad_questions_are_refused(table: Roundtable, question: str) -> None:
    with pytest.raises(BadTopic):
        await table.ask(question, **ECHO)

    assert await table.discussions() == []


async def test_an_unknown_option_is_refused(table: Roundtable) -> None:
    with pytest.raises(UsageError, match="'quik'"):
        await table.ask("Tea?", quik=True)


async def test_a_ledger_and_a_search_of_ones_own_are_used(tmp_path: Path) -> None:
    class Library:
        name = "library"

        async def find(self, query: str, count: int) -> list[SearchHit]:
            return [SearchHit(title=query, url="https://tea.example", text=f"{count} leaves")]

    ledger = MemoryLedger()
    async with Roundtable(
        home=tmp_path, model="scripted/echo", ledger=ledger, search=Library(), env={}
    ) as table:
        await table.ask("Tea or coffee?", **ECHO)
        unsearched = await table.open("Coffee?", search=False, **ECHO)

    assert not (tmp_path / "roundtable.db").exists()
    [row] = [row for row in await ledger.summaries() if row.status == "concluded"]
    assert "SearchFinished" in {r.event.type for r in await ledger.read(row.discussion_id)}
    assert "no_search" in [note.code for note in unsearched.notes]


async def test_it_must_be_entered_first() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await Roundtable().ask("Tea?")


async def test_asking_a_person_goes_through_the_callers_own_door(tmp_path: Path) -> None:
    asked: list[str] = []

    class Person:
        async def ask(self, question: str, options: Sequence[str]) -> str | None:
            asked.append(question)
            return options[0]

    async with Roundtable(home=tmp_path, model="scripted/echo", asker=Person()) as table:
        state = await table.open("Tea?", all="scripted/echo", round2="ask")
        state = await table.run(state.discussion_id)

    assert len(asked) == 1
    assert state.spoken_in("cross-examination", 2)


def test_the_package_offers_few_names() -> None:
    names = [
        "Budget",
        "DiscussionFailed",
        "RoundTableEngine",
        "Roundtable",
        "__version__",
        "open_toolset",
    ]
    assert roundtable.__all__ == names
    assert roundtable.Roundtable is Roundtable
    with pytest.raises(AttributeError, match="no attribute 'Round'"):
        getattr(roundtable, "Round")  # noqa: B009 - as a mistyped import would
