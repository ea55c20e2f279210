"""Meetings whose seats speak side by side: who hears what and when, what of it is asked and
counted, and what is told of it in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roundtable.core.record import record_of
from roundtable.surfaces.toolset import Toolset

from .tables import NAMES, declares, started, stored, tools


async def opened(toolset: Toolset, **more: Any) -> str:
    return await started(toolset, speech_order="parallel", rounds_wait=True, **more)


def says(who: str, **declared: Any) -> dict[str, Any]:
    fields = {"position": f"{who} would wait.", "votes": [vote("o1")], **declared}
    return {"content": f"{who} has thought about it.", "declaration": fields}


def vote(choice: str, **more: list[str]) -> dict[str, Any]:
    return {"on": "d1", "before": "silent", "choice": choice, **more}


async def round_of(toolset: Toolset, id_: str, **declared: dict[str, Any]) -> None:
    for who in NAMES:
        await toolset.speak(id_, who, **says(who, **declared.get(who, {})))


# Who hears what


async def test_what_a_colleague_said_in_the_same_round_is_heard_after_ones_own_speech(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await opened(toolset)
        await toolset.speak(id_, "arch", **says("arch"))
        # Whoever is to speak hears nothing of this round, by whatever it asks for.
        for told in (
            await toolset.read(id_, "back"),
            await toolset.read(id_, "back", since=0),
            await toolset.read(id_, "back", round=1),
        ):
            assert (told.speeches, told.newest, told.points) == ([], 0, [])
        await toolset.speak(id_, "back", **says("back"))
        heard = await toolset.read(id_, "back")
        assert [row.participant for row in heard.speeches] == ["arch"]
        assert (await toolset.status(id_, "back")).unread == 1
        await toolset.speak(id_, "prod", **says("prod"))
        await toolset.speak(id_, "coordinator", "Two want to wait.")
        for who in NAMES:
            turn = await toolset.read(id_, who)
            others = [name for name in reversed(NAMES) if name != who]
            assert [row.participant for row in turn.speeches][1:] == others
            assert (await toolset.status(id_, who)).unread == len(turn.speeches)


async def test_the_number_that_a_hint_names_brings_whole_what_was_folded(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await opened(toolset)
        for who in NAMES:
            words = " ".join(f"{who}{n}." for n in range(450))
            await toolset.speak(id_, who, words, says(who)["declaration"])
        await toolset.speak(id_, "coordinator", " ".join(["summed"] * 200))
        turn = await toolset.read(id_, "prod")
        assert any(row.characters for row in turn.speeches)
        assert "Whole speeches: read with since=0." in turn.hint
        whole = await toolset.read(id_, "prod", since=0)
        assert {row.participant for row in whole.speeches} >= {"arch", "back", "prod"}
        assert not any(row.characters for row in whole.speeches)


async def test_side_by_side_is_said_at_once_and_nobody_is_next(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        created = await toolset.create_discussion(
            topic="Wait?" * 100,
            participants=[{"profile": name, "role": name.title()} for name in NAMES],
            speech_order="parallel",
            rounds_wait=True,
        )
        id_ = created.discussion_id
        assert created.next_speaker is None
        told = "All speak at the same time in each round; nobody sees this round's speeches"
        assert told in created.rules
        assert "Waiting for: arch, back, prod in round 1." in created.hint
        for hint in (created.hint, (await toolset.read(id_, "arch")).hint):
            assert told in hint
            assert "It is the turn of" not in hint
        invited = await toolset.invite(id_, "back")
        assert told in invited.instructions
        assert "Wait?" * 100 in invited.instructions
        assert "until its hint says that it is your turn" in invited.instructions
        assert invited.token
        assert invited.command.endswith(invited.token)
        spoken = await toolset.speak(id_, "arch", **says("arch"))
        assert spoken.next_speaker is None
        assert spoken.hint.startswith("Waiting for: back, prod;")
        for who in NAMES[1:]:
            await toolset.speak(id_, who, **says(who))
        assert (await toolset.read(id_, "arch")).hint.startswith("Waiting for: the coordinator;")
        summed = await toolset.speak(id_, "coordinator", "Go on.")
        assert summed.recorded == "Recorded; round 2 is open."


async def test_no_hint_names_a_tool_that_is_not_shown(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await opened(toolset, max_rounds=1)
        await round_of(toolset, id_)
        hint = (await toolset.status(id_, "coordinator")).hint
        assert hint.startswith("The rounds are over: call end with your conclusion")
        assert "extend" not in hint


# What is asked, and what counts


async def test_form_hint_and_list_of_what_is_unanswered_say_the_same_and_leave_nothing_out(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await opened(toolset, max_rounds=1)
        claims: dict[str, dict[str, Any]] = {
            who: {"new_points": [f"{who} claims {n}" for n in range(3)]} for who in NAMES
        }
        claims["arch"]["conditions"] = [{"text": "Two are free.", "kind": "demand"}]
        claims["back"]["conditions"] = [{"text": f"Fact {n}.", "kind": "fact"} for n in range(2)]
        claims["prod"]["conditions"] = [
            {"text": f"Demand {n}.", "kind": "demand"} for n in range(3)
        ]
        await round_of(toolset, id_, **claims)
        record = record_of(await stored(toolset, id_))
        owed = {p.id for p in record.points if p.author != "back"}
        owed |= {c.id for c in record.conditions if c.demand}
        status = await toolset.status(id_, "back")
        assert status.form is not None
        assert set(status.form.answer) == owed
        assert status.unanswered["back"] == status.form.answer
        told = f"You have not answered {', '.join(status.form.answer[:8])} and {len(owed) - 8} more"
        assert told in status.hint


async def test_status_pages_through_every_point_and_condition(tmp_path: Path) -> None:
    async with tools(tmp_path, reply_limit=3_000) as toolset:
        id_ = await started(toolset, max_rounds=6)
        for round_ in range(5):
            for who in NAMES:
                points = [f"NEW: {who} {round_}-{n} claims {'much ' * 20}" for n in range(3)]
                await toolset.speak(id_, who, **declares("VOTE o1", *points))
        found: list[str] = []
        offset: int | None = 0
        while offset is not None:
            page = await toolset.status(id_, "coordinator", offset=offset)
            assert page.size() <= 3_000
            assert page.points
            found += [each.id for each in page.points]
            offset = page.next_offset
        record = record_of(await stored(toolset, id_))
        assert sorted(found) == sorted(each.id for each in record.points)


async def test_each_stance_that_does_not_count_is_told_with_its_own_reason(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await opened(toolset)
        await round_of(
            toolset,
            id_,
            arch={
                "new_points": ["It is cheap.", "It is quick."],
                "conditions": [
                    {"text": "The load is known.", "kind": "fact"},
                    {"text": "Two are free.", "kind": "demand"},
                ],
            },
        )
        await toolset.speak(id_, "coordinator", "Go on.")
        changed = [
            {"id": "p1", "stance": "withdraw", "text": ""},
            {"id": "c2", "stance": "amend", "text": "Three are free."},
        ]
        amends = await toolset.speak(
            id_,
            "arch",
            **says(
                "arch",
                stances=changed,
                conditions=[{"text": "A date is named.", "kind": "demand"}],
            ),
        )
        assert (amends.new_conditions, amends.amended) == (["c3"], ["c2"])
        said = [{"id": each, "stance": "agree", "text": "yes"} for each in ("p1", "c1", "c2")]
        spoken = await toolset.speak(id_, "back", **says("back", stances=said))
        assert "Read so: c1 is a fact: no stance is taken on facts." in spoken.problems
        assert any(
            told.startswith("c2 was amended in this round by arch: answer the new wording")
            for told in spoken.problems
        )
        # What one withdraws beside the others does not cost them what they said to it.
        assert not any("p1" in told for told in spoken.problems)
        point = record_of(await stored(toolset, id_)).point("p1")
        assert point is not None
        assert (point.withdrawn, point.stances["back"].stance) == (True, "agree")
        await toolset.speak(id_, "prod", **says("prod"))
        later = await toolset.speak(
            id_, "prod", declaration={"stances": [{"id": "p1", "stance": "agree"}]}
        )
        assert "Read so: p1 was withdrawn in round 2 by arch." in later.problems
        shown = {each.id: each for each in (await toolset.status(id_, "back")).points}
        assert (shown["c2"].text, shown["c2"].amended_in) == ("Three are free.", 2)


# What is told in the end


async def concluded(toolset: Toolset, **ending: Any) -> str:
    """Three seats, three answers; all could live with o1, two not with o3."""
    id_ = await opened(toolset, max_rounds=2, choices=["wait", "move", "split"])
    await round_of(
        toolset,
        id_,
        arch={"votes": [vote("o1")]},
        back={"votes": [vote("o2")]},
        prod={
            "votes": [vote("o3")],
            "conditions": [{"text": "Two are free.", "kind": "demand", "otherwise": "oppose"}],
        },
    )
    await toolset.speak(id_, "coordinator", "Go on.")
    await round_of(
        toolset,
        id_,
        arch={
            "votes": [vote("o1", rejects=["o3"])],
            "stances": [{"id": "c1", "stance": "partly", "text": "one is free"}],
            "actions": [{"what": "Measure the load of the shop", "owner": "arch", "due": "1 May"}],
        },
        back={
            "votes": [vote("o2", acceptable=["o1"], rejects=["o3"])],
            "stances": [{"id": "c1", "stance": "disagree", "text": "nobody is free"}],
            "actions": [{"what": "Ask the landlord", "owner": "back", "due": "9 June"}],
            "position": "Move, but only in autumn.",
            "confidence": 61,
        },
        prod={
            "votes": [vote("o3", acceptable=["o1"])],
            "for_the_record": "I would split now.",
        },
    )
    await toolset.end_discussion(id_, conclusion="Nothing prevailed.", **ending)
    return id_


async def test_what_all_could_live_with_is_told_although_the_vote_is_split(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await concluded(toolset)
        collected = await toolset.collect(id_)
        rows = {
            each.id: (each.chosen_by, each.acceptable_to, each.rejected_by)
            for each in collected.options
        }
        assert rows == {
            "o1": (["arch"], ["back", "prod"], []),
            "o2": (["back"], [], []),
            "o3": (["prod"], [], ["arch", "back"]),
        }
        assert collected.end == "impasse"
        ground = "Nobody rejects o1 (“wait”); all could live with it."
        summary = await toolset.summarize(id_)
        assert collected.common_ground == summary.common_ground == ground
        assert f"**Common ground:** {ground}" in collected.report
        (held,) = [each for each in collected.conditions if each.id == "c1"]
        assert held.partly == {"arch": "one is free"}
        assert held.refused_by == {"back": "nobody is free"}
        assert held.otherwise == "oppose"
        assert "Ann partly: one is free" in collected.report
        assert [each.id for each in summary.disagreement_points] == ["c1"]
        back = next(each for each in collected.seats if each.participant == "back")
        assert (back.choice, back.position, back.confidence) == (
            "o2",
            "Move, but only in autumn.",
            61,
        )
        assert "Backend(Bob) (o2, confidence 61): Move, but only in autumn." in collected.report
        assert summary.digest.startswith("6 speeches by Architect(Ann)")


async def test_no_action_of_a_seat_is_lost_and_a_date_that_is_changed_is_told_as_changed(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await concluded(
            toolset,
            action_items=[{"what": "Measure the load of the shop", "owner": "prod", "due": "May"}],
        )
        summary = await toolset.summarize(id_)
        (kept,) = summary.action_items
        assert (kept.owner, kept.said) == ("prod", ["arch said arch, 1 May"])
        assert [(each.text, each.by, each.due) for each in summary.also_declared] == [
            ("Ask the landlord", "back", "9 June")
        ]
        state = await stored(toolset, id_)
        (written,) = [note.text for note in state.notes if note.code == "delivered"]
        document = (tmp_path / "work" / written.removeprefix("Written: ")).read_text("utf-8")
        assert "- Owner: prod (arch said arch, 1 May)" in document
        assert "**Also declared**\n\n- Backend(Bob): Ask the landlord (back, 9 June)" in document
        assert "Ask the landlord" in (await toolset.collect(id_)).report


async def test_dissent_that_the_coordinator_names_is_the_seats_and_is_told_once(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await concluded(
            toolset,
            dissent=["back: moves in autumn.", "prod: wants to split.", "Nobody asked the users."],
        )
        collected = await toolset.collect(id_)
        assert [(each.participant, each.position) for each in collected.dissent] == [
            ("back", "moves in autumn."),
            ("coordinator", "Nobody asked the users."),
            ("prod", "I would split now."),
        ]
        for words in ("I would split now", "moves in autumn", "Nobody asked the users"):
            assert collected.report.count(words) == 1
        assert "wants to split" not in collected.report


async def test_further_pages_of_collect_are_the_report_alone(tmp_path: Path) -> None:
    async with tools(tmp_path, reply_limit=4_000) as toolset:
        id_ = await concluded(toolset, recommendation="Wait. " * 300)
        first = await toolset.collect(id_)
        report, calls = first.report, 1
        offset = first.next_offset
        while offset is not None:
            page = await toolset.collect(id_, offset=offset)
            assert set(page.wire()) <= {
                "hint", "discussion_id", "state", "done", "report", "next_offset",
            }  # fmt: skip
            report, offset, calls = report + page.report, page.next_offset, calls + 1
        assert report.count("Wait. Wait.") > 100
        assert calls <= 2 + len(report) // 3_500


@pytest.mark.requirement("D-12")
async def test_whoever_is_to_conclude_reads_how_every_option_and_condition_stands(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await opened(toolset, max_rounds=1, choices=["wait", "move"])
        demand = [{"text": "Two are free.", "kind": "demand"}]
        await round_of(toolset, id_, arch={"conditions": demand})
        grants = {"stances": [{"id": "c1", "stance": "agree"}]}
        await toolset.speak(id_, "back", declaration=grants)
        lead = await toolset.read(id_, "coordinator")
        assert [(each.id, each.granted_by) for each in lead.conditions] == [("c1", ["back"])]
        assert [(each.id, each.chosen_by) for each in lead.options] == [
            ("o1", list(NAMES)),
            ("o2", []),
        ]
        assert (await toolset.read(id_, "arch")).options == []
