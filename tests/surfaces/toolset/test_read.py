"""Looking at discussions: everything that is there, in answers that stay short."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import BadSetting
from roundtable.surfaces.toolset import Toolset
from roundtable.surfaces.toolset.base import REPLY_LIMIT
from roundtable.surfaces.toolset.results import History

from .tables import NAMES, declares, started, stored, tools

SHORT_OF_WORDS = "The speech has {} words; at least 200 are needed. It is recorded, and flagged."


async def long_discussion(toolset: Toolset, remarks: int, size: int) -> str:
    id_ = await started(toolset)
    for number in range(remarks):
        await toolset.speak(id_, "coordinator", f"Remark {number}: " + "längere Worte " * size)
    return id_


@pytest.mark.requirement("D-12")
async def test_the_history_is_whole_ordered_and_can_be_filtered(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "coordinator", "Welcome.")
        for round_ in (1, 2):
            for who in NAMES:
                await toolset.speak(id_, who, f"{who}-{round_}")
        whole = await toolset.read(id_)
        assert [each.number for each in whole.speeches] == list(range(7, 0, -1))
        first = whole.speeches[-2]
        assert (first.participant, first.round, first.text) == ("arch", 1, "arch-1")
        assert whole.formatted_history == ""
        text = await toolset.read(id_, formatted=True)
        assert text.speeches == []
        places = [text.formatted_history.index(each.text) for each in whole.speeches]
        assert places == sorted(places, reverse=True)
        assert "Round 1 | Architect (Ann): arch-1" in text.formatted_history

        async def texts(**filters: Any) -> list[str]:
            return [each.text for each in (await toolset.read(id_, **filters)).speeches]

        assert await texts(round=2) == ["prod-2", "back-2", "arch-2"]
        assert await texts(round=0) == ["Welcome."]
        assert await texts(since=5) == ["prod-2", "back-2"]
        assert await texts(since="5") == ["prod-2", "back-2"]
        assert await texts(since=whole.speeches[2].time) == ["prod-2", "back-2"]
        assert await texts(before=4, limit=2) == ["back-1", "arch-1"]
        some = await toolset.read(id_, limit=2)
        assert ([each.number for each in some.speeches], some.total) == ([7, 6], 7)
        assert (some.next_before, some.newest) == (6, 7)
        with pytest.raises(BadSetting, match="since"):
            await toolset.read(id_, since="yesterday")


@pytest.mark.requirement("D-12")
async def test_a_long_history_comes_in_pages_and_a_long_speech_in_pieces(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        texts = ["short", 'q"\\\n' * 4_000, "again short", *["word " * 300] * 12]
        for text in texts:
            await toolset.speak(id_, "coordinator", text)
        kept = [speech.text for speech in (await stored(toolset, id_)).speeches]
        found: dict[int, str] = {}
        before, offset = None, 0
        for _ in range(100):
            page = await toolset.read(id_, before=before, offset=offset)
            assert page.size() <= 2 * REPLY_LIMIT
            assert page.speeches
            for each in page.speeches:
                found[each.number] = found.get(each.number, "") + each.text
            if page.next_before is None:
                break
            before, offset = page.next_before, page.next_offset or 0
        assert [found[number] for number in sorted(found)] == kept


@pytest.mark.requirement("D-13", "D-69", "D-04")
async def test_the_status_has_score_and_points_as_soon_as_speeches_state_them(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, created_by="the lead")
        fresh = await toolset.status(id_)
        assert (fresh.convergence_score, fresh.consensus_points) == (None, [])
        assert fresh.convergence_reason
        assert fresh.created_by == "the lead"
        await toolset.speak(id_, "arch", **declares("NEW: one database is enough", "NEW: move now"))
        status = await toolset.status(id_)
        assert (status.spoke, status.waiting_for) == (["arch"], ["back"])
        await toolset.speak(id_, "back", **declares("AGREE p1: cheaper", "DISAGREE p2: too early"))
        await toolset.speak(id_, "prod", **declares("AGREE p1: yes", "AGREE p2: yes"))
        status = await toolset.status(id_)
        assert (status.consensus_points, status.disagreement_points) == (["p1"], ["p2"])
        assert [(p.id, p.by, p.status, p.stances) for p in status.points] == [
            ("p2", "arch", "disputed", {"back": "disagree: too early", "prod": "agree"}),
            ("p1", "arch", "agreed", {}),
        ]
        assert status.convergence_score == 0.5
        summary = await toolset.summarize(id_)
        assert summary.final_convergence_score == 0.5
        assert summary.by_round[0].new == ["p1", "p2"]


@pytest.mark.requirement("D-14", "D-84")
async def test_a_long_discussion_is_summarized_in_a_short_answer_and_a_whole_file(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await long_discussion(toolset, 100, 80)
        compact = await toolset.summarize(id_, compact=True)
        assert compact.size() < REPLY_LIMIT
        assert (compact.speeches, compact.path) == ([], None)
        page = await toolset.summarize(id_)
        assert page.size() < REPLY_LIMIT
        assert page.path is not None
        text = await asyncio.to_thread(Path(page.path).read_text, "utf-8")
        assert len(text) == page.characters
        assert len(text) > 100_000
        assert hashlib.sha256(text.encode()).hexdigest() == page.sha256
        assert "längere" in text
        whole = json.loads(text)
        assert [each["number"] for each in whole["speeches"]] == list(range(1, 101))
        assert page.digest
        seen: list[int] = []
        offset: int | None = 0
        while offset is not None:
            page = await toolset.summarize(id_, offset=offset, limit=7)
            assert page.size() < REPLY_LIMIT
            assert 1 <= len(page.speeches) <= 7
            seen += [each.number for each in page.speeches]
            offset = page.next_offset
        assert seen == list(range(1, 101))


async def test_a_short_discussion_is_summarized_whole(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(
            id_, "arch", **declares("NEW: move", "ACTION: write a plan - Owner: Bob")
        )
        summary = await toolset.summarize(id_)
        assert summary.complete
        assert summary.path is None
        assert [(each.text, each.owner) for each in summary.action_items] == [
            ("write a plan", "Bob")
        ]


@pytest.mark.requirement("D-16", "D-04")
async def test_the_list_has_every_discussion_with_its_state(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        ids = [await started(toolset, created_by=f"lead {n}") for n in range(3)]
        await toolset.end_discussion(ids[0], cancel=True)
        listed = await toolset.list_discussions()
        assert {row.discussion_id: row.state for row in listed.discussions} == {
            ids[0]: "stopped",
            ids[1]: "running",
            ids[2]: "running",
        }
        assert {row.created_by for row in listed.discussions} == {"lead 0", "lead 1", "lead 2"}
        assert (await toolset.list_discussions(search="no such topic")).discussions == []


@pytest.mark.requirement("D-16")
async def test_a_long_list_comes_in_pages(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        ids = {await started(toolset, 2) for _ in range(40)}
        seen: list[str] = []
        offset: int | None = 0
        while offset is not None:
            page = await toolset.list_discussions(offset=offset)
            assert page.size() <= REPLY_LIMIT
            seen += [row.discussion_id for row in page.discussions]
            offset = page.next_offset
        assert len(seen) == 40
        assert set(seen) == ids


async def test_every_answer_is_short_however_long_its_parts_are(tmp_path: Path) -> None:
    long = "ä" * 1_999
    seats: list[Any] = [
        {"profile": f"p{n}" + "x" * 70, "role": '"' * 80, "perspective": long} for n in range(12)
    ]
    async with tools(tmp_path) as toolset:
        opened = await toolset.create_discussion(topic="t" * 50_000, participants=seats)
        assert opened.size() <= REPLY_LIMIT
        id_ = opened.discussion_id
        points = [f"NEW: {'claim ' * 30}{n} {who}" for n in range(30) for who in "ab"]
        first, second = seats[0]["profile"], seats[1]["profile"]
        await toolset.speak(id_, first, **declares(*points))
        spoken = await toolset.speak(
            id_, second, **declares(*(f"AGREE p{n}: yes" for n in range(40)))
        )
        for answer in (
            spoken,
            await toolset.status(id_),
            await toolset.read(id_),
            await toolset.summarize(id_),
            await toolset.summarize(id_, compact=True),
            await toolset.join(id_, "late", "Auditor"),
            await toolset.invite(id_, first),
            await toolset.end_discussion(id_, conclusion="w " * 20_000),
            await toolset.collect(id_),
            await toolset.poll(id_),
        ):
            most = 2 * REPLY_LIMIT if isinstance(answer, History) else REPLY_LIMIT
            assert answer.size() <= most, type(answer)


async def test_a_discussion_that_was_deleted_and_opened_anew_is_not_mixed_up(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, key="same")
        await toolset.speak(id_, "arch", "Old.")
        assert (await toolset.status(id_)).speeches == 1
        await toolset.app.service.delete(id_)
        assert await started(toolset, key="same") == id_
        assert (await toolset.status(id_)).speeches == 0


@pytest.mark.requirement("Z-22", "D-13")
async def test_whoever_is_to_speak_gets_the_form_and_hears_what_was_recorded(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        form = (await toolset.status(id_)).form
        assert form is not None
        assert (form.participant, form.decisions["o1"], form.answer) == ("arch", "yes", [])
        assert "choice: o1|o2|own|any" in form.fields["votes"]
        spoken = await toolset.speak(id_, "arch", **declares("NEW: one is enough", "VOTE o1"))
        assert spoken.new_points == ["p1"]
        assert spoken.problems == [SHORT_OF_WORDS.format(5)]
        assert spoken.recorded.startswith("on d1 you hold o1 (“yes”)")
        read = await toolset.read(id_, "back")
        assert read.form is not None
        assert read.form.answer == ["p1"]
        assert [(p.id, p.text, p.by) for p in read.points] == [("p1", "one is enough", "arch")]
        assert (await toolset.read(id_, "prod")).form is None
        spoken = await toolset.speak(id_, "back", **declares("VOTE o2"))
        assert spoken.problems == ["Not answered: p1.", SHORT_OF_WORDS.format(5)]
        spoken = await toolset.speak(id_, "prod", "No, I would not.")
        assert "[no declaration]" in spoken.flags
        assert spoken.recorded == "Your words, and no declaration."
        form = (await toolset.status(id_)).form
        assert form is not None
        assert form.recorded == "Recorded: on d1 you hold o1."
        assert (form.decisions["o1"], form.decisions["o2"]) == ("yes (arch)", "no (back)")


@pytest.mark.requirement("D-12", "D-92")
async def test_a_wait_in_vain_answers_with_a_hint_alone(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "coordinator", "Welcome. " * 200)
        vain = await toolset.read(id_, "back", wait=0.001)
        assert (vain.speeches, vain.points, vain.form, vain.total) == ([], [], None, 0)
        assert vain.hint.startswith("It is the turn of arch;")
        assert vain.size() <= 300
        assert (await toolset.read(id_, "back")).speeches, "whoever does not wait reads along"
        with pytest.raises(BadSetting, match="wait"):
            await toolset.read(id_, "back", wait=301)


@pytest.mark.requirement("D-12", "D-92")
async def test_what_is_too_long_for_a_turn_is_folded_and_can_be_read_whole(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        text = ("I would move. It is cheap. " + "And there is more to it. " * 200).strip()
        for who in NAMES:
            declared: dict[str, Any] = declares("VOTE o1")["declaration"]
            declared["position"] = f"{who} would move now."
            await toolset.speak(id_, who, text, declared)
        turn = await toolset.read(id_, "arch")
        assert turn.size() <= REPLY_LIMIT
        assert [each.participant for each in turn.speeches] == ["prod", "back"]
        older = turn.speeches[-1]
        assert older.text.startswith("I would move. It is cheap.")
        assert "back would move now" in older.declares
        assert older.characters == len(text)
        assert turn.hint.endswith("Whole speeches: read with since=1.")
        whole = await toolset.read(id_, "arch", since=1)
        assert [each.text for each in whole.speeches] == [text] * 2
        (one,) = (await toolset.read(id_, "arch", before=older.number + 1, limit=1)).speeches
        assert (one.number, one.text) == (older.number, text)


@pytest.mark.requirement("D-12", "Z-22")
async def test_the_form_is_told_once_and_later_only_by_name(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        first = (await toolset.read(id_, "arch")).form
        assert first is not None
        assert (first.as_before, "position" in first.fields) == ([], True)
        for who in NAMES:
            await toolset.speak(id_, who, **declares("VOTE o1", "NEW: it is cheap for " + who))
        later = (await toolset.read(id_, "arch")).form
        assert later is not None
        assert "stances" in later.fields, "what is new is told"
        assert {"position", "votes", "conditions"} <= set(later.as_before)
        status = (await toolset.status(id_, "arch")).form
        assert status is not None
        assert set(status.fields) == {*later.fields, *later.as_before}


async def test_after_the_last_round_a_seat_with_nothing_to_add_waits_for_the_conclusion(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, max_rounds=1)
        await toolset.speak(id_, "arch", **declares("VOTE o1"))
        await toolset.speak(id_, "back", **declares("VOTE o1", "NEW: it is cheap"))
        await toolset.speak(id_, "prod", **declares("VOTE o1", "AGREE p1"))
        asked = await toolset.read(id_, "arch", wait=300)
        assert asked.form is not None
        assert asked.form.answer == ["p1"]
        vain = await toolset.read(id_, "prod", wait=0.001)
        assert (vain.state, vain.speeches, vain.form) == ("awaiting_conclusion", [], None)
        await toolset.end_discussion(id_, conclusion="We move.")
        assert (await toolset.read(id_, "prod", wait=300)).state == "concluded"
