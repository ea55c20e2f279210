"""Where agents stumbled that held a meeting through the tools, knowing nothing but what these say:
each stumble, and how it goes now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import NotAllowed
from roundtable.core.record import record_of
from roundtable.core.standing import standing_of
from roundtable.surfaces.toolset import Toolset

from .tables import NAMES, SEATS, TOPIC, declares, started, stored, tools


async def all_speak(toolset: Toolset, id_: str, rounds: int = 1) -> None:
    for _ in range(rounds):
        for who in NAMES:
            await toolset.speak(id_, who, **declares("VOTE o1"))


# Ending


@pytest.mark.requirement("D-38", "D-15", "D-77")
async def test_after_the_last_round_the_table_waits_for_its_coordinator_and_ends_with_its_words(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, max_rounds=1)
        await all_speak(toolset, id_)
        status = await toolset.status(id_)
        assert (status.state, status.waiting_for) == ("awaiting_conclusion", ["coordinator"])
        assert (status.next_speaker, status.round_complete) == (None, True)
        assert "call end with your conclusion by " in status.hint
        ended = await toolset.end_discussion(
            id_,
            conclusion="We move to one database.",
            recommendation="Begin in May.",
            consensus=["One is enough."],
            disagreements=["When to begin."],
            action_items=[{"what": "Measure the load", "owner": "Bob", "due": "1 May"}],
            dissent=["Product: not before June."],
        )
        assert (ended.state, ended.conclusion) == ("concluded", "We move to one database.")
        assert ended.document is not None
        document = (tmp_path / "work" / ended.document).read_text("utf-8")
        for words in (
            "We move to one database.",
            "**Recommendation:** Begin in May.",
            "- One is enough.",
            "- When to begin.",
            "Product(prod): not before June",
            "1. [ ] Measure the load (due 1 May) - Owner: Bob",
        ):
            assert words in document
        collected = await toolset.collect(id_)
        assert collected.answer == "We move to one database."
        assert "**Recommendation:** Begin in May." in collected.report
        summary = await toolset.summarize(id_)
        assert [(a.text, a.owner, a.due) for a in summary.action_items] == [
            ("Measure the load", "Bob", "1 May")
        ]


@pytest.mark.requirement("D-32", "D-41")
async def test_agreement_ends_nothing_unless_the_opening_asked_for_it_and_its_answer_says_so(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        plain = await toolset.create_discussion(topic=TOPIC, participants=SEATS)
        assert "Agreement does not end it sooner" in plain.rules
        assert "At most 3 rounds." in plain.rules
        assert "waits for your end; after 60 minutes" in plain.rules
        assert "Seats are not timed" in plain.rules
        await all_speak(toolset, plain.discussion_id)
        assert (await toolset.status(plain.discussion_id)).round == 2
        asked = await toolset.create_discussion(topic=TOPIC, participants=SEATS, early_end=True)
        assert "It ends sooner when all declare the same answer" in asked.rules
        await all_speak(toolset, asked.discussion_id)
        assert (await toolset.status(asked.discussion_id)).state == "awaiting_conclusion"


async def test_the_turn_limit_is_told_where_somebody_is_timed(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        opened = await toolset.create_discussion(
            topic=TOPIC, participants=SEATS, host="scripted/echo", turn_seconds=240
        )
        assert "A seat from outside has 240 s for its turn." in opened.rules
        form = (await toolset.read(opened.discussion_id, "arch", wait=50)).form
        assert form is not None
        assert form.deadline


async def test_what_was_held_back_can_still_be_declared_before_the_coordinator_ends(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, max_rounds=1)
        await toolset.speak(id_, "arch", **declares("VOTE o1", "NEW: it is cheaper"))
        await toolset.speak(id_, "back", **declares("VOTE o1", "NEW: it is slower"))
        await toolset.speak(id_, "prod", "I say nothing in fields.")
        status = await toolset.status(id_)
        assert status.unanswered == {
            "arch": ["p2"],
            "back": ["p1"],
            "prod": ["d1", "p1", "p2"],
        }
        assert "Not answered yet: arch: p2; back: p1; prod: d1, p1, p2." in status.hint
        told = await toolset.status(id_, "prod")
        assert "You have not answered d1, p1, p2: speak with a declaration" in told.hint
        assert told.form is not None
        late = await toolset.speak(
            id_, "prod", declaration={"votes": [{"on": "d1", "choice": "o2"}]}
        )
        assert late.recorded.startswith("on d1 you hold o2")
        await toolset.speak(
            id_, "arch", declaration={"stances": [{"id": "p2", "stance": "disagree"}]}
        )
        state = await stored(toolset, id_)
        question = standing_of(state).question
        assert question is not None
        assert question.counts == {"o1": 2, "o2": 1}
        points = {p.id: p.status for p in (await toolset.status(id_)).points}
        assert points["p2"] == "disputed"
        assert (await toolset.end_discussion(id_, conclusion="Enough.")).state == "concluded"


async def test_more_rounds_can_be_given_after_the_last_one(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, max_rounds=1)
        await all_speak(toolset, id_)
        extended = await toolset.extend(id_)
        assert (extended.state, extended.round, extended.next_speaker) == ("running", 2, "arch")
        await all_speak(toolset, id_)
        assert (await toolset.status(id_)).state == "awaiting_conclusion"


# A coordinator that ends twice, never, or out of order


async def test_ending_twice_is_refused_and_ending_out_of_order_keeps_what_was_said(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", **declares("VOTE o1"))
        early = await toolset.end_discussion(id_, conclusion="No time.")
        assert (early.state, early.speeches) == ("concluded", 2)
        with pytest.raises(NotAllowed, match="closed"):
            await toolset.end_discussion(id_, conclusion="Once more.")
        with pytest.raises(NotAllowed, match="closed"):
            await toolset.speak(id_, "back", declaration={"end": True})
        with pytest.raises(NotAllowed, match="either a conclusion or cancel"):
            await toolset.end_discussion(id_, consensus=["Something."])
        before = await started(toolset)
        nobody = await toolset.end_discussion(before, conclusion="We do not meet.")
        assert nobody.state == "concluded"


async def test_lists_that_no_document_can_carry_are_refused(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        for wrong in (["x" * 3_000], ["x"] * 60):
            with pytest.raises(NotAllowed, match="Consensus: at most 50 entries"):
                await toolset.end_discussion(id_, conclusion="Fine.", consensus=wrong)
        assert (await toolset.status(id_)).state == "running"


async def test_a_coordinator_that_never_ends_is_waited_for_no_longer_than_was_said(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset, tools(tmp_path, profile="arch") as seat:
        id_ = await started(toolset, max_rounds=1, conclusion_seconds=0.001)
        for who in NAMES[:2]:
            await toolset.speak(id_, who, **declares("VOTE o1"))
        await toolset.app.service.speak(id_, "prod", "The last word.")
        # A seat that looks does not bring the end, nor its file into its own folder.
        assert (await seat.status(id_)).state == "awaiting_conclusion"
        ended = await toolset.status(id_)
        assert ended.state == "concluded"
        assert [n.code for n in (await stored(toolset, id_)).notes].count("unconcluded") == 1


# Points


async def test_the_first_speaker_is_told_the_form_and_hears_the_ids_of_its_points(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        form = (await toolset.read(id_, "arch")).form
        assert form is not None
        assert set(form.fields) >= {"position", "votes", "new_points", "for_the_record", "actions"}
        spoken = await toolset.speak(id_, "arch", **declares("NEW: one", "NEW: two", "VOTE o1"))
        assert spoken.new_points == ["p1", "p2"]
        # A point that one seat holds is on everybody's list, whoever asks.
        for who in (*NAMES, "coordinator", ""):
            assert [p.id for p in (await toolset.status(id_, who)).points] == ["p1", "p2"]


async def test_a_seat_withdraws_amends_and_abstains_in_words_of_its_own(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", **declares("NEW: one", "NEW: two", "VOTE o1"))
        stances = [
            {"id": "p1", "stance": "withdraw"},
            {"id": "p2", "stance": "amend", "text": "two, if paid"},
        ]
        mended = await toolset.speak(id_, "arch", declaration={"stances": stances})
        assert (mended.number, mended.problems) == (0, [])
        assert [(p.id, p.text) for p in (await toolset.status(id_)).points] == [
            ("p2", "two, if paid")
        ]
        refrains = await toolset.speak(id_, "back", "I do not know.", {"abstain": "no figures"})
        assert refrains.recorded == "You abstain: no figures."


async def test_a_declaration_can_be_set_right_while_the_round_is_open_and_is_no_change_of_mind(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, max_rounds=2)
        await toolset.speak(id_, "arch", **declares("VOTE o1", "NEW: it is simple"))
        right = await toolset.speak(
            id_, "arch", declaration={"votes": [{"on": "d1", "choice": "o2"}]}, key="mend"
        )
        again = await toolset.speak(
            id_, "arch", declaration={"votes": [{"on": "d1", "choice": "o2"}]}, key="mend"
        )
        assert again.recorded == right.recorded
        assert right.recorded.startswith("on d1 you hold o2")
        state = await stored(toolset, id_)
        (seat, *_) = record_of(state).votes(record_of(state).decisions[0])
        assert (seat.choice, seat.opening, seat.moved) == ("o2", "o2", False)
        assert [p.id for p in record_of(state).points] == ["p1"]
        # Words are not added to a speech, an empty declaration says nothing, and nobody declares
        # before it has spoken.
        with pytest.raises(NotAllowed, match="not arch's turn"):
            await toolset.speak(id_, "arch", "And another thing.")
        with pytest.raises(NotAllowed, match="The declaration is empty"):
            await toolset.speak(id_, "arch", declaration={"stances": []})
        with pytest.raises(NotAllowed, match="cannot be read"):
            await toolset.speak(id_, "arch", declaration={"votes": [{"on": "d1", "choice": "o9"}]})
        with pytest.raises(NotAllowed, match="not prod's turn"):
            await toolset.speak(id_, "prod", declaration={"position": "Wait for it."})
        await toolset.speak(id_, "back", **declares("VOTE o1"))
        await toolset.speak(id_, "prod", **declares("VOTE o1"))
        # The next round has begun: what is said now is said in it.
        with pytest.raises(NotAllowed, match="not back's turn"):
            await toolset.speak(id_, "back", declaration={"position": "Too late."})


async def test_a_declaration_added_to_prose_counts_from_then_on(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        prose = await toolset.speak(id_, "arch", "Take one database.")
        assert "[no declaration]" in prose.flags
        assert any("nothing of it is counted" in each for each in prose.problems)
        await toolset.speak(id_, "arch", declaration=declares("VOTE o1")["declaration"])
        record = record_of(await stored(toolset, id_))
        assert record.undeclared == ()
        assert record.votes(record.decisions[0])[0].choice == "o1"


async def test_what_is_added_after_others_spoke_is_not_independent_of_them(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", **declares("VOTE o1"))
        await toolset.speak(id_, "back", **declares("VOTE o2"))
        await toolset.speak(id_, "arch", declaration={"votes": [{"on": "d1", "choice": "o2"}]})
        record = record_of(await stored(toolset, id_))
        vote = record.votes(record.decisions[0])[0]
        assert (vote.choice, vote.independent) == ("o2", False)


# Hints and reading


@pytest.mark.requirement("D-10")
async def test_nobody_is_told_to_speak_as_somebody_else(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset, tools(tmp_path, profile="back") as back:
        id_ = await started(toolset)
        for told in (
            (await toolset.status(id_)).hint,
            (await toolset.status(id_, "coordinator")).hint,
            (await back.status(id_)).hint,
            (await toolset.read(id_, "prod")).hint,
        ):
            assert "speak as 'arch'" not in told
        assert (await back.status(id_)).hint.startswith(
            "It is the turn of arch; read with wait=300"
        )
        assert "It is the turn of 'arch' (Architect)" in (await toolset.status(id_)).hint
        assert (await toolset.status(id_, "arch")).hint.startswith(
            "It is your turn in round 1 of 3"
        )
        spoken = await toolset.speak(id_, "arch", **declares("VOTE o1"))
        assert spoken.hint.startswith("It is the turn of back; read with wait=300")
        assert (await back.status(id_)).hint.startswith("It is your turn in round 1 of 3")


async def test_reading_brings_what_is_new_newest_first_and_nothing_twice(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, max_rounds=2)
        for who in NAMES:
            await toolset.speak(id_, who, **declares("VOTE o1", words=f"UNIQUE {who} speaks."))
        new = await toolset.read(id_, "arch")
        assert [row.participant for row in new.speeches] == ["prod", "back"]
        assert (await toolset.status(id_, "arch")).unread == 2
        assert new.model_dump_json().count("UNIQUE back speaks.") == 1
        assert (new.total, new.newest) == (2, 3)
        whole = await toolset.read(id_, "arch", since=0)
        assert [row.number for row in whole.speeches] == [3, 2, 1]


async def test_reading_waits_for_ones_turn(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        first = await toolset.read(id_, "arch", wait=50)
        assert first.form is not None
        await toolset.speak(id_, "arch", **declares("VOTE o1"))
        await toolset.speak(id_, "back", **declares("VOTE o1"))
        mine = await toolset.read(id_, "prod", wait=50)
        assert mine.form is not None
        assert [row.participant for row in mine.speeches] == ["back", "arch"]


async def test_compact_data_count_what_they_leave_out(tmp_path: Path) -> None:
    async with tools(tmp_path, reply_limit=3_000) as toolset:
        id_ = await started(toolset)
        for round_ in (1, 2):
            for who in NAMES:
                points = [f"NEW: {who} {round_}-{n} claims {'much ' * 20}" for n in range(3)]
                await toolset.speak(id_, who, **declares("VOTE o1", *points))
        compact = await toolset.summarize(id_, compact=True)
        shown = (compact.consensus_points, compact.disagreement_points, compact.other_points)
        raised = len(record_of(await stored(toolset, id_)).points)
        assert sum(map(len, shown)) + compact.further_points == raised
        assert compact.further_points > 0
        status = await toolset.status(id_)
        assert len(status.points) + status.further_points == raised


async def test_a_speech_that_is_too_short_is_told_so_and_points_do_not_count_as_words(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        long_points = [f"NEW: {'word ' * 25}{n}" for n in range(3)]
        spoken = await toolset.speak(
            id_, "arch", **declares("VOTE o1", *long_points, words="word " * 190)
        )
        told = "The speech has 190 words; at least 200 are needed. It is recorded, and flagged."
        assert told in spoken.problems
        assert spoken.flags == ["[not 200-500 words]"]


async def test_a_round_waits_for_the_coordinators_summary_where_the_opening_asked_for_it(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, rounds_wait=True)
        await all_speak(toolset, id_)
        status = await toolset.status(id_)
        assert (status.round_complete, status.next_speaker) == (True, None)
        assert status.waiting_for == ["coordinator"]
        assert "the next one waits for you: sum it up" in status.hint
        with pytest.raises(NotAllowed, match="not arch's turn"):
            await toolset.speak(id_, "arch", "Me first.")
        summed = await toolset.speak(id_, "coordinator", "You all want one.")
        assert (summed.round, summed.next_speaker) == (0, "arch")
        assert (await toolset.read(id_, "arch")).speeches[0].text == "You all want one."
        await all_speak(toolset, id_)
        advanced = await toolset.advance(id_)
        assert (advanced.round, advanced.next_speaker) == (3, "arch")


async def test_the_conclusion_is_written_where_its_coordinator_is_not_where_a_seat_spoke_last(
    tmp_path: Path,
) -> None:
    async with (
        tools(tmp_path) as lead,
        tools(tmp_path / "seat", profile="prod", env=_home(tmp_path)) as seat,
    ):
        id_ = await started(lead, max_rounds=1)
        for who in NAMES[:2]:
            await lead.speak(id_, who, **declares("VOTE o1"))
        await seat.speak(id_, "prod", **declares("VOTE o1"))
        await lead.end_discussion(id_, conclusion="One.")
        assert list((tmp_path / "work" / "docs").iterdir())
        assert not (tmp_path / "seat" / "work" / "docs").exists()


def _home(place: Path) -> dict[str, Any]:
    from .tables import ENV

    return {**ENV, "ROUNDTABLE_DB": str(place / "home" / "roundtable.db")}


# Acts of whoever leads


async def test_pause_resume_skip_material_join_and_leave_are_tools_too(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset, tools(tmp_path, profile="arch") as seat:
        id_ = await started(toolset)
        paused = await toolset.call("pause", {"discussion_id": id_, "reason": "lunch"})
        assert paused.hint == "coordinator paused it; resume lets it go on."
        with pytest.raises(NotAllowed, match="paused"):
            await toolset.speak(id_, "arch", "Hungry.")
        await toolset.call("resume", {"discussion_id": id_})
        skipped = await toolset.skip(id_, "arch")
        assert skipped.next_speaker == "back"
        laid = await toolset.material(id_, "A study of 2025.", source="study")
        assert laid.told == "On the table: study."
        assert [m.text for m in (await stored(toolset, id_)).context] == ["A study of 2025."]
        await toolset.join(id_, "late", "Auditor")
        gone = await toolset.leave(id_, "prod")
        assert gone.participants == ["arch", "back", "late"]
        for act in ("pause", "extend"):
            with pytest.raises(NotAllowed, match="belongs to the coordinator"):
                await seat.call(act, {"discussion_id": id_})
        with pytest.raises(NotAllowed, match="'arch' only"):
            await seat.leave(id_, "back")
        concluded = await toolset.call("conclude", {"discussion_id": id_, "conclusion": "Done."})
        assert concluded.wire()["state"] == "concluded"


# What must be answered, and what came of it


def long(text: str, length: int = 290) -> str:
    """A text of about this length whose last word says that it is whole."""
    return f"{text} {'and so on ' * (length // 10 - 4)}{text} to the end"


async def test_whatever_a_seat_must_answer_stands_with_its_whole_text_in_the_same_answer(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, max_rounds=4)
        for round_ in (1, 2, 3):
            for who in NAMES[: 3 if round_ < 3 else 2]:
                declared: dict[str, Any] = {
                    "position": f"{who} would wait.",
                    "votes": [{"on": "d1", "before": "o1", "choice": "o1"}],
                    "new_points": [long(f"{who} claims {round_}-{n}") for n in range(3)],
                    "conditions": [
                        {"text": long(f"{who} demands {n}"), "kind": "demand"} for n in range(3)
                    ],
                }
                state = await stored(toolset, id_)
                if round_ == 2:
                    declared["stances"] = [
                        {"id": each.id, "stance": "agree"}
                        for each in record_of(state).points
                        if each.author != who
                    ]
                await toolset.speak(id_, who, "I have thought about it.", declared)
        record = record_of(await stored(toolset, id_))
        texts = {point.id: point.text for point in record.points}
        texts |= {condition.id: condition.text for condition in record.conditions}
        read, status = await toolset.read(id_, "prod"), await toolset.status(id_, "prod")
        for told in (read, status):
            assert told.form is not None
            assert len(told.form.answer) >= 6
            shown = {each.id: each.text for each in told.points}
            assert {each: shown.get(each) for each in told.form.answer} == {
                each: texts[each] for each in told.form.answer
            }
            assert told.further_points > 0
        # Whoever leads reads the demands first; what all agree on is left out first.
        turn, whole = await toolset.read(id_, "coordinator"), await toolset.status(id_)
        shown = {each.id: each.text for each in whole.points}
        assert all(shown.get(each.id) == each.text for each in record.conditions)
        # Within a turn none of them is cut, and what has no room is counted.
        assert {each.status for each in turn.points} == {"demand"}
        assert all(each.text == texts[each.id] for each in turn.points)
        assert len(turn.points) + turn.further_points == len(whole.points) + whole.further_points
        assert "agreed" not in {each.status for each in whole.points}


async def test_stances_that_count_for_nothing_are_named_and_a_withdrawn_condition_is_explained(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        demand = [{"text": "Two people are free.", "kind": "demand"}]
        votes = [{"on": "d1", "before": "o1", "choice": "o1"}]
        await toolset.speak(
            id_,
            "arch",
            "I would.",
            {
                "position": "Move.",
                "votes": votes,
                "conditions": demand,
                "new_points": ["It is cheap."],
            },
        )
        for who in ("back", "prod"):
            await toolset.speak(id_, who, **declares("VOTE o1"))
        gone = declares("VOTE o1")
        gone["declaration"]["stances"] = [{"id": "c1", "stance": "withdraw"}]
        await toolset.speak(id_, "arch", **gone)
        stances = [{"id": each, "stance": "agree"} for each in ("c1", "p44", "<b>")]
        spoken = await toolset.speak(
            id_, "back", "Me too.", {"position": "Move.", "votes": votes, "stances": stances}
        )
        (told,) = [each for each in spoken.problems if "not listed" in each]
        assert "were left out: p44, one without an id" in told
        assert "Read so: c1 was withdrawn in round 2 by arch." in spoken.problems


async def test_a_seat_is_never_told_to_conclude_and_hears_what_a_form_out_of_turn_is_for(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset, tools(tmp_path, profile="back") as back:
        id_ = await started(toolset, max_rounds=2, rounds_wait=True)
        await toolset.speak(id_, "arch", **declares("VOTE o1"))
        await toolset.speak(id_, "back", **declares("VOTE o1"))
        assert (await toolset.read(id_, "back")).form is None
        await toolset.speak(id_, "prod", **declares("VOTE o1", "NEW: it is slow"))
        between = await back.read(id_)
        assert between.form is not None
        assert between.hint.startswith("It is the turn of the coordinator;")
        assert "You have not answered p1: speak with a declaration and no content" in between.hint
        await back.speak(id_, "back", declaration={"stances": [{"id": "p1", "stance": "agree"}]})
        settled = await back.read(id_)
        assert (settled.form, "not answered" in settled.hint) == (None, False)
        assert "if you coordinate, the next one waits" in (await toolset.poll(id_)).hint
        await toolset.speak(id_, "coordinator", "Go on.")
        await all_speak(toolset, id_)
        for told in (await back.collect(id_), await back.poll(id_, wait=0)):
            assert told.hint.startswith("The rounds are over, and the coordinator concludes.")
        for asked in (await toolset.collect(id_), await toolset.poll(id_, wait=0)):
            assert "if you coordinate, call end with your conclusion" in asked.hint
        lead = await toolset.status(id_, "coordinator")
        assert lead.hint.startswith("The rounds are over: call end with your conclusion")


async def test_what_the_coordinator_or_a_seat_has_against_it_is_never_called_no_dissent(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        for kept, named in (("", "Product: not before June."), ("I would wait.", "")):
            id_ = await started(toolset, max_rounds=1)
            for who in NAMES:
                spoken = declares("VOTE o1")
                if who == "prod" and kept:
                    spoken["declaration"]["for_the_record"] = kept
                await toolset.speak(id_, who, **spoken)
            ended = await toolset.end_discussion(
                id_, conclusion="One.", dissent=[named] if named else []
            )
            collected = await toolset.collect(id_)
            assert [(each.participant, each.position) for each in collected.dissent] == [
                ("prod", "not before June.") if named else ("prod", kept)
            ]
            assert ended.document is not None
            document = (tmp_path / "work" / ended.document).read_text("utf-8")
            for told in (collected.report, document):
                assert "**Dissent:** nobody voted otherwise; " in told
                assert "**Dissent:** none" not in told


async def test_conditions_and_actions_are_delivered_whole_and_open_and_withdrawn_points_as_such(
    tmp_path: Path,
) -> None:
    demand, action = long("A forecast above 3,000 orders", 700), long("Measure the load", 700)
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, max_rounds=2)
        first = declares("VOTE o1", "NEW: it is cheap", "NEW: it is quick")
        first["declaration"] |= {
            "conditions": [{"text": demand, "kind": "demand"}],
            "actions": [{"what": action, "owner": "back"}],
        }
        await toolset.speak(id_, "arch", **first)
        for who in ("back", "prod"):
            spoken = declares("VOTE o1", "DISAGREE p2: no")
            if who == "back":
                spoken["declaration"]["stances"].append({"id": "p1", "stance": "partly"})
            await toolset.speak(id_, who, **spoken)
        again = declares("VOTE o1")
        again["declaration"] |= {
            "conditions": [{"text": demand, "kind": "demand"}],
            "stances": [{"id": "p2", "stance": "withdraw"}],
        }
        await toolset.speak(id_, "arch", **again)
        ended = await toolset.end_discussion(id_, conclusion="One.")
        assert ended.document is not None
        document = (tmp_path / "work" / ended.document).read_text("utf-8")
        collected = await toolset.collect(id_)
        report = collected.report
        for told in (document, report, collected.model_dump_json(include={"seats"})):
            assert demand in told
        assert action in document
        assert action in report
        assert "- open: it is cheap (raised by Ann; Bob: partly)" in report
        assert "- withdrawn: it is quick (by Ann)" in report
        assert "[p1] it is cheap (raised by Ann; Bob: partly)" in document
        assert "**Withdrawn**\n\n- [p2] it is quick (by Ann)" in document
        assert "rejected" not in report.lower()
        assert "Rejected by all" not in document


def test_the_skill_says_where_seats_and_leads_stumbled() -> None:
    folder = Path(__file__).parents[3] / "skills" / "roundtable" / "references"
    seat, lead = ((folder / f"{name}.md").read_text("utf-8") for name in ("seat", "lead"))
    for words in (
        "if you have no id, call `roundtable_list`",
        "Your conditions remain until you",
        "a `form` alone",
    ):
        assert words in seat
    for words in ("one round earlier", "`action_items` replace", "more than `summarize`"):
        assert words in lead


async def test_a_first_speech_gives_nothing_up_whatever_it_says_was_there_before(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", **declares("VOTE o1"))
        votes = [{"on": "d1", "before": "o2", "choice": "o1"}]
        first = await toolset.speak(id_, "back", "I would.", {"position": "Yes.", "votes": votes})
        assert not any("given in" in each for each in first.problems)
        for who in ("prod", "arch"):
            await toolset.speak(id_, who, **declares("VOTE o1"))
        votes = [{"on": "d1", "before": "o1", "choice": "o2"}]
        later = await toolset.speak(id_, "back", "No.", {"position": "No.", "votes": votes})
        assert any("given in" in each for each in later.problems)


@pytest.mark.parametrize("kind", ["demand", "fact"])
async def test_a_condition_stands_without_being_listed_again_until_its_owner_withdraws_it(
    tmp_path: Path, kind: str
) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset, max_rounds=4)
        made = declares("VOTE o1")
        made["declaration"]["conditions"] = [{"text": "Two people are free.", "kind": kind}]
        await toolset.speak(id_, "arch", **made)
        for who in ("back", "prod", "arch", "back", "prod"):
            await toolset.speak(id_, who, **declares("VOTE o1"))
        assert [c.id for c in record_of(await stored(toolset, id_)).conditions] == ["c1"]
        gone = declares("VOTE o1")
        gone["declaration"]["stances"] = [{"id": "c1", "stance": "withdraw"}]
        spoken = await toolset.speak(id_, "arch", **gone)
        assert not any("left out" in each for each in spoken.problems)
        assert record_of(await stored(toolset, id_)).conditions == ()


async def test_a_point_is_not_agreed_before_the_last_seat_was_heard(tmp_path: Path) -> None:
    async with tools(tmp_path) as toolset:
        id_ = await started(toolset)
        await toolset.speak(id_, "arch", **declares("VOTE o1", "NEW: it is cheap"))
        await toolset.speak(id_, "back", **declares("VOTE o1", "AGREE p1"))
        status = await toolset.status(id_)
        assert [each.status for each in status.points] == ["held by 2, 1 not heard"]
        assert (status.consensus_points, status.convergence_score) == ([], None)
        await toolset.speak(id_, "prod", **declares("VOTE o1", "AGREE p1"))
        status = await toolset.status(id_)
        assert [each.status for each in status.points] == ["agreed"]
        assert (status.consensus_points, status.convergence_score) == (["p1"], 1.0)
