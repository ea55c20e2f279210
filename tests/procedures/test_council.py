"""The council: who is asked what and when, and what it does when something goes wrong."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from roundtable.core.contracts import UNSTRUCTURED
from roundtable.core.errors import SpeakerError
from roundtable.core.events import AttemptFinished, AttemptStarted, StageClosed, StageOpened
from roundtable.core.record import record_of
from roundtable.core.standing import standing_of
from roundtable.core.state import State
from roundtable.core.turns import UNDECLARED
from roundtable.core.values import Budget, Dissent, Material, SearchHit, Usage
from roundtable.engine.turn import CONDENSED
from roundtable.ports import OnWords, Reply, SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.procedures.verdicts import PASTED, UNCITED
from roundtable.views.notes import notes
from tests.declaring import spoken, vote
from tests.rehearsal import Billed, Cast, Table, Voice, run_in_virtual_time

from .council_table import (
    DEAD,
    SPECIALISTS,
    Act,
    Finder,
    acting,
    asked,
    bare,
    codes,
    council,
    declaring,
    events,
    hold,
    listed,
    prompt_of,
    scholar,
    sections,
    verdict,
)

ROUND_1 = [f"1/answer/{who}" for who in SPECIALISTS]
ROUND_2 = [f"2/cross-examination/{who}" for who in SPECIALISTS]


# Who sits, and the course of a council


@pytest.mark.requirement("C-18")
def test_exactly_three_specialists_and_a_captain_sit_at_the_table() -> None:
    state = hold(council())
    seats = [(p.emoji, p.name) for p in (*state.start.participants, state.start.host)]
    assert seats == [("🔍", "Scholar"), ("🧮", "Engineer"), ("🎨", "Muse"), ("🎖️", "Captain")]


@pytest.mark.requirement("C-17", "C-31", "C-54", "C-55")
def test_a_council_with_round_two_goes_through_all_its_stages() -> None:
    table = council()
    state = hold(table)
    stages = [(e.stage, e.round) for e in events(table, state) if isinstance(e, StageOpened)]
    assert stages == [
        ("briefing", 0),
        ("answer", 1),
        ("summary", 0),
        ("cross-examination", 2),
        ("synthesis", 0),
    ]
    assert asked(table) == [
        "0/briefing/captain",
        *ROUND_1,
        "0/summary/captain",
        *ROUND_2,
        "0/synthesis/captain",
    ]
    assert (state.status, state.seq) == ("concluded", len(events(table, state)))


@pytest.mark.requirement("C-31", "C-54")
def test_a_quick_council_asks_three_specialists_once() -> None:
    table = council()
    hold(table, options={"quick": True})
    assert asked(table) == ["0/briefing/captain", *ROUND_1, "0/synthesis/captain"]


@pytest.mark.requirement("C-17")
def test_the_captain_speaks_on_the_default_model() -> None:
    table = council(cast=Cast(default="my/model"))
    state = hold(table)
    models = {s.model for s in state.speeches if s.participant == "captain"}
    assert models == {"my/model"}


@pytest.mark.requirement("C-17")
def test_the_captain_gives_each_role_its_own_sub_task() -> None:
    briefing = sections(Scholar="Find prices.", Engineer="Compute costs.", Muse="Imagine mornings.")
    table = council({"briefing": briefing})
    hold(table)
    for turn, task in zip(
        ROUND_1, ["Find prices.", "Compute costs.", "Imagine mornings."], strict=True
    ):
        user = prompt_of(table, turn).user
        assert task in user.split("---SUB-TASK (untrusted)---")[1]
        assert user.count(" prices.") + user.count(" costs.") + user.count(" mornings.") == 1


@pytest.mark.requirement("C-17")
@pytest.mark.parametrize("act", [DEAD, None, "I will not split it."])
def test_without_a_briefing_each_role_takes_its_standing_task(act: Act) -> None:
    table = council({"briefing": act})
    state = hold(table)
    tasks = {prompt_of(table, turn).user.split("---SUB-TASK")[1] for turn in ROUND_1}
    assert len(tasks) == 3
    assert state.status == "concluded"
    assert ("briefing_failed" in codes(state)) is (not isinstance(act, str))


@pytest.mark.requirement("C-45", "C-56", "X-03")
def test_the_three_specialists_speak_side_by_side_in_both_rounds() -> None:
    table = council()
    state = hold(table)
    assert table.voices["*"].most_at_once == 3
    kinds = [
        e.type
        for e in events(table, state)
        if isinstance(e, AttemptStarted | AttemptFinished) and "/captain" not in e.turn_id
    ]
    assert kinds == (["AttemptStarted"] * 3 + ["AttemptFinished"] * 3) * 2


@pytest.mark.requirement("C-45", "C-48")
def test_a_round_takes_as_long_as_its_slowest_answer_and_not_a_moment_more() -> None:
    table = council({"answer/scholar": 7.25, "answer/engineer": 2.5})
    state = hold(table, options={"quick": True})
    records = run_in_virtual_time(table.records(state))
    (begun,) = [r.at for r in records if isinstance(r.event, StageOpened) and r.event.round == 1]
    (ended,) = [r.at for r in records if isinstance(r.event, StageClosed) and r.event.round == 1]
    assert ended - begun == timedelta(seconds=1 + 7.25)


@pytest.mark.requirement("C-47")
def test_every_call_carries_its_label() -> None:
    table = council()
    started = [e for e in events(table, hold(table)) if isinstance(e, AttemptStarted)]
    assert [e.label for e in started if e.round > 0] == [
        "council-scholar-r1",
        "council-engineer-r1",
        "council-muse-r1",
        "council-scholar-r2",
        "council-engineer-r2",
        "council-muse-r2",
    ]


@pytest.mark.requirement("C-56")
def test_round_two_is_held_by_the_same_roles_with_the_same_models() -> None:
    table = council()
    hold(table, options={"preset": "diverse"})
    first = [prompt_of(table, turn).model for turn in ROUND_1]
    assert first == ["codex", "sonnet", "opus"]
    assert [prompt_of(table, turn).model for turn in ROUND_2] == first


@pytest.mark.requirement("C-25")
def test_one_model_for_all_still_plays_three_roles() -> None:
    table = council()
    hold(table, options={"all": "opus"})
    requests = [prompt_of(table, turn) for turn in ROUND_1]
    assert {request.model for request in requests} == {"opus"}
    assert len({request.system for request in requests}) == 3


@pytest.mark.requirement("C-55", "C-57")
def test_the_joint_summary_of_all_three_answers_is_what_round_two_examines() -> None:
    table = council({"summary": "They all like milk."})
    hold(table)
    summary = prompt_of(table, "0/summary/captain").user
    for who, turn in zip(("Findings", "Analysis", "Perspective"), ROUND_1, strict=True):
        assert f"## {who}" in summary
        assert f", {turn.rpartition('/')[2].title()}\n" in summary
    for turn in ROUND_2:
        findings = prompt_of(table, turn).user.split("---JOINT FINDINGS (untrusted)---")[1]
        assert "They all like milk." in findings.split("---END JOINT FINDINGS---")[0]


@pytest.mark.requirement("C-55")
def test_without_the_captains_summary_round_two_examines_the_positions_themselves() -> None:
    table = council(
        {
            "summary": DEAD,
            "answer/muse": declaring(
                sections(Perspective="Cocoa!", Dissent="Tea stains."), position="Drink cocoa."
            ),
            "answer/engineer": bare(sections(Analysis="Analysis by codex.")),
        }
    )
    hold(table)
    findings = prompt_of(table, ROUND_2[0]).user.split("---JOINT FINDINGS (untrusted)---")[1]
    assert "Muse: Drink cocoa. Reservation: Tea stains." in findings
    assert "Engineer: Analysis by codex." in findings


@pytest.mark.requirement("C-55")
def test_a_summary_that_is_a_list_alone_leaves_the_positions_to_examine() -> None:
    table = council({"summary": listed("Drink tea.").removeprefix("They differ.\n\n")})
    hold(table)
    findings = prompt_of(table, ROUND_2[0]).user.split("---JOINT FINDINGS (untrusted)---")[1]
    assert "Muse: Do it step by step." in findings


@pytest.mark.requirement("X-04")
def test_nobody_hears_another_answer_before_round_two() -> None:
    table = council({f"answer/{who}": f"SECRET OF {who}" for who in SPECIALISTS})
    hold(table)
    for turn in ROUND_1:
        assert "SECRET OF" not in prompt_of(table, turn).user


# Somebody does not answer


@pytest.mark.requirement("C-65")
def test_an_agent_silent_for_ninety_seconds_is_left_out_and_marked() -> None:
    table = council({"answer/muse": None})
    state = hold(table, options={"quick": True})
    (failure,) = state.failures
    assert (failure.participant, failure.cause) == ("muse", "timeout")
    (note,) = [note for note in state.notes if note.code == "timed_out"]
    assert note.text.startswith("[Agent Muse timed out]")
    records = run_in_virtual_time(table.records(state))
    (begun,) = [r.at for r in records if isinstance(r.event, StageOpened) and r.event.round == 1]
    (ended,) = [r.at for r in records if isinstance(r.event, StageClosed) and r.event.round == 1]
    assert ended - begun == timedelta(seconds=90)


@pytest.mark.requirement("C-65")
def test_an_agent_that_answers_just_in_time_is_heard() -> None:
    state = hold(council({"answer/muse": 88.5}), options={"quick": True})
    assert state.failures == []


@pytest.mark.requirement("C-66", "X-13")
@pytest.mark.parametrize("dead", SPECIALISTS)
@pytest.mark.parametrize("act", [DEAD, None, " "])
def test_two_of_three_answers_make_a_synthesis_that_names_the_missing_perspective(
    dead: str, act: Act
) -> None:
    table = council({f"answer/{dead}": act})
    state = hold(table)
    assert state.status == "concluded"
    assert state.verdict is not None
    assert state.verdict.method == "written"
    name = dead.title()
    assert f"Missing from the council: {name}." in prompt_of(table, "0/synthesis/captain").user
    (note,) = [note for note in state.notes if note.code in ("missing", "timed_out")]
    assert f"The {name} did not answer in round 1" in note.text
    assert "is missing" in note.text
    # Who did not answer is not asked in round 2.
    assert not any(f"2/cross-examination/{dead}" == turn for turn in asked(table))
    assert len([turn for turn in asked(table) if turn in ROUND_2]) == 2


@pytest.mark.requirement("C-67", "X-13")
@pytest.mark.parametrize("alive", [None, "scholar", "muse"])
def test_with_fewer_than_two_answers_the_council_apologises_and_advises(alive: str | None) -> None:
    table = council({f"answer/{who}": DEAD for who in SPECIALISTS if who != alive})
    state = hold(table)
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("failed", "too_few_answers")
    assert state.verdict is None
    assert state.closed.detail.startswith(f"Sorry: {1 if alive else 0} of 3 specialists answered")
    assert "--preset=cheap" in state.closed.remedy
    assert "--all=" in state.closed.remedy
    assert asked(table) == ["0/briefing/captain", *ROUND_1]


@pytest.mark.requirement("C-68", "C-21", "C-22", "C-23")
@pytest.mark.parametrize(
    ("who", "missing"),
    [
        (who, section)
        for who, own in [
            ("scholar", ("Findings", "Sources")),
            ("engineer", ("Analysis", "Verification")),
            ("muse", ("Perspective", "Alternative Angles")),
        ]
        for section in (*own, "Confidence", "Dissent")
    ],
)
def test_an_answer_without_a_required_section_is_used_and_flagged(who: str, missing: str) -> None:
    own = {
        "scholar": ("Findings", "Sources"),
        "engineer": ("Analysis", "Verification"),
        "muse": ("Perspective", "Alternative Angles"),
    }[who]
    bodies = {name: f"My {name}." for name in (*own, "Confidence", "Dissent") if name != missing}
    text = "\n".join(f"## {name}\n{body}" for name, body in bodies.items())
    table = council({f"answer/{who}": text})
    state = hold(table, options={"quick": True})
    speech = state.speech(f"1/answer/{who}")
    assert speech is not None
    assert speech.flags == (UNSTRUCTURED,)
    assert speech.sections == bodies
    assert text in prompt_of(table, "0/synthesis/captain").user


@pytest.mark.requirement("C-21", "C-22", "C-23", "C-59")
def test_answers_with_all_their_sections_are_not_flagged() -> None:
    state = hold(council())
    spoken = {(s.round, s.participant): tuple(s.sections) for s in state.speeches if s.round}
    cross = (
        "Critique of Others",
        "Contradictions / Tensions",
        "Updated Position",
        "Updated Confidence",
        "What Changed",
    )
    assert spoken == {
        (1, "scholar"): ("Findings", "Sources", "Confidence", "Dissent"),
        (1, "engineer"): ("Analysis", "Verification", "Confidence", "Dissent"),
        (1, "muse"): ("Perspective", "Alternative Angles", "Confidence", "Dissent"),
        **{(2, who): cross for who in SPECIALISTS},
    }
    assert all(not speech.flags for speech in state.speeches)


@pytest.mark.requirement("C-59", "C-68")
def test_an_unstructured_cross_examination_is_used_and_flagged() -> None:
    table = council({"cross-examination/muse": "I still say cocoa."})
    state = hold(table)
    speech = state.speech(ROUND_2[2])
    assert speech is not None
    assert speech.flags == (UNSTRUCTURED,)
    assert "I still say cocoa." in prompt_of(table, "0/synthesis/captain").user
    # Its words are no vote: what counts is what it declared.
    assert record_of(state).of("muse")[-1].declaration.position == "Do it step by step."


@pytest.mark.requirement("C-69")
@pytest.mark.parametrize("alive", [None, "engineer"])
def test_when_round_two_fails_the_first_answers_stand_and_it_is_said(alive: str | None) -> None:
    table = council({f"cross-examination/{who}": DEAD for who in SPECIALISTS if who != alive})
    state = hold(table)
    assert state.status == "concluded"
    assert "round2_omitted" in codes(state)
    synthesis = prompt_of(table, "0/synthesis/captain").user
    assert "There was no cross-examination." in synthesis
    assert all(turn in synthesis for turn in ROUND_1)


@pytest.mark.requirement("C-69")
def test_when_one_fails_in_round_two_its_first_answer_stands() -> None:
    table = council({"cross-examination/muse": None})
    state = hold(table)
    assert "round2_omitted" not in codes(state)
    (note,) = [note for note in state.notes if note.code == "timed_out"]
    assert note.text.endswith("So its first answer stands.")
    assert "after the cross-examination" in prompt_of(table, "0/synthesis/captain").user


@pytest.mark.requirement("X-12", "X-11", "I-30")
def test_a_substitute_speaks_within_the_ninety_seconds_and_is_named() -> None:
    voices = {"codex": acting({"answer": DEAD}), "*": Voice()}
    table = Table(voices, cast=Cast(fallbacks={"codex": ["gpt"]}))
    state = hold(table, options={"quick": True})
    assert sorted((s.participant, s.from_model, s.to_model) for s in state.substitutions) == [
        ("engineer", "codex", "gpt"),
        ("scholar", "codex", "gpt"),
    ]
    (told,) = [n.text for n in notes(state) if n.code == "substituted"]
    assert told.startswith("gpt spoke for ")
    assert told.endswith(
        " in place of codex, which was refused: its key is not accepted, "
        "or its account has no credit."
    )
    assert "Scholar" in told
    assert "Engineer" in told


@pytest.mark.requirement("I-12", "X-11")
def test_a_busy_provider_is_asked_again_within_the_same_ninety_seconds() -> None:
    replies = iter([SpeakerError("rate_limited", "Busy.", retry_after=20)] * 2)

    def busy_twice(request: SpeakRequest) -> str:
        error = next(replies, None)
        if error is not None:
            raise error
        return spoken(scholar(), request)

    state = hold(council({"answer/scholar": busy_twice}), options={"quick": True})
    assert state.failures == []
    assert len(state.turns["1/answer/scholar"].attempts) == 3


# Round 2 on request


class Person:
    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        assert options
        self.asked.append(question)
        return self.answer


@pytest.mark.requirement("C-11", "C-54")
@pytest.mark.parametrize(("answer", "held"), [("yes", True), ("no", False), (None, False)])
def test_round_two_on_request_asks_the_person_after_round_one(
    answer: str | None, held: bool
) -> None:
    person = Person(answer)
    table = council(asker=person, defaults={"round2": "ask"})
    state = hold(table)
    assert len(person.asked) == 1
    assert "twice as much" in person.asked[0]
    assert ("2/cross-examination/muse" in asked(table)) is held
    assert state.status == "concluded"


@pytest.mark.requirement("C-11")
def test_round_two_on_request_without_a_person_takes_the_documented_default() -> None:
    table = council(defaults={"round2": "ask"})
    state = hold(table)
    assert state.choices["round2"].by == "default"
    assert not any(turn in ROUND_2 for turn in asked(table))


@pytest.mark.requirement("C-11")
def test_nobody_is_asked_about_round_two_when_too_few_answered() -> None:
    person = Person("yes")
    hold(council({"answer": DEAD}, asker=person, defaults={"round2": "ask"}))
    assert person.asked == []


# The verdict


@pytest.mark.requirement("C-61", "X-14")
def test_the_verdict_holds_the_captains_consensus_conflict_changes_gaps_and_sources() -> None:
    table = council(
        {
            "synthesis": verdict(
                Answer="Tea, as [1/answer/scholar] shows.",
                Confidence="Medium.",
                Agreement="All want something warm.",
                Dissent="The Muse wants cocoa; the evidence for tea is stronger.",
                Changed_Minds="The Engineer, by the price argument.",
                Gaps_and_Risks="Nobody measured the kettle.",
                Sources="https://example.org/tea",
            ),
            "answer/scholar": scholar(
                Sources="- [Old](https://example.org/old_(tea)).\n- https://example.org/tea"
            ),
        },
        search=Finder(SearchHit(title="Tea", url="https://example.org/tea", text="Old.")),
    )
    state = hold(table)
    found = state.verdict
    assert found is not None
    # How sure it is is computed: the Captain's “Medium” is its own view.
    assert (found.answer, found.confidence) == ("Tea, as [1/answer/scholar] shows.", "high")
    assert found.agreement == (
        "Consensus: All 3. They held it independently, before hearing each other. The writer "
        "says: All want something warm."
    )
    assert found.changed_minds == "The writer says: The Engineer, by the price argument."
    assert found.gaps == "Nobody measured the kettle."
    # The writer is never a dissenter; what it says of dissent is kept as its words.
    assert found.dissent == ()
    assert found.on_dissent == "The Muse wants cocoa; the evidence for tea is stronger."
    assert found.sources == (
        "https://example.org/tea",
        "https://example.org/old_(tea) (unverified)",
    )
    assert (found.method, found.author, found.cites) == (
        "written",
        "test/captain",
        ("1/answer/scholar",),
    )
    assert (found.partial, found.meaningful, found.flags) == (False, True, ())


@pytest.mark.requirement("I-31", "C-61")
def test_a_source_that_no_search_brought_is_called_unverified() -> None:
    table = council(
        {
            "answer/scholar": scholar(Sources="https://real.example/a\nhttps://made.up/b"),
            "synthesis": verdict(Sources="https://captains.own/c"),
        },
        search=Finder(SearchHit(title="A", url="https://real.example/a", text="x")),
    )
    found = hold(table).verdict
    assert found is not None
    assert found.sources == (
        "https://captains.own/c (unverified)",
        "https://real.example/a",
        "https://made.up/b (unverified)",
    )


@pytest.mark.requirement("I-32")
def test_a_lone_dissent_survives_a_captain_who_leaves_it_out() -> None:
    table = council(
        {
            "summary": listed("Drink tea.", "Drink cocoa."),
            "cross-examination/muse": declaring(
                sections(Updated_Position="Cocoa."), choice="o2", position="Drink cocoa instead."
            ),
            "answer/muse": declaring(
                sections(Perspective="Cocoa."), new_points=["Tea stains teeth."]
            ),
            "synthesis": verdict(Dissent="none"),
        }
    )
    found = hold(table).verdict
    assert found is not None
    assert found.dissent == (
        Dissent(
            participant="muse",
            position="Drink cocoa instead.",
            reason="Tea stains teeth.",
            turn_id="2/cross-examination/muse",
        ),
    )


@pytest.mark.requirement("I-32")
def test_without_a_vote_what_somebody_would_not_sign_survives() -> None:
    table = council(
        {
            "answer/muse": sections(Perspective="Cocoa.", Dissent="Tea stains teeth."),
            "synthesis": verdict(Dissent="none"),
        }
    )
    found = hold(table, options={"round2": False}).verdict
    assert found is not None
    assert found.dissent == (
        Dissent(participant="muse", position="Tea stains teeth.", turn_id="1/answer/muse"),
    )
    assert found.agreement.startswith("Not counted: nothing was put to the vote.")


@pytest.mark.requirement("C-62")
def test_a_synthesis_pasted_from_one_answer_is_flagged() -> None:
    long = "Tea has been drunk for thousands of years and nobody who studied it found harm in it."
    pasted = hold(
        council({"answer/scholar": scholar(Findings=long), "synthesis": verdict(Answer=long)})
    )
    assert pasted.verdict is not None
    assert PASTED in pasted.verdict.flags
    own = verdict(
        Answer=f"The council advises tea for its long record. “{long[:40]}”, as was said."
    )
    quoting = hold(council({"answer/scholar": scholar(Findings=long), "synthesis": own}))
    assert quoting.verdict is not None
    assert PASTED not in quoting.verdict.flags


@pytest.mark.requirement("C-68", "C-61")
def test_an_unstructured_synthesis_is_still_an_answer_and_flagged() -> None:
    state = hold(council({"synthesis": "Drink tea and be happy."}))
    assert state.verdict is not None
    assert state.verdict.answer == "Drink tea and be happy."
    assert state.verdict.flags == (UNSTRUCTURED, UNCITED)
    assert state.verdict.confidence == "high", "of the count, whatever the Captain states"


@pytest.mark.requirement("X-14", "C-61")
@pytest.mark.parametrize("text", ["I cannot help with that.", "…", "zxcv qwer"])
def test_a_captain_who_refuses_or_talks_nonsense_leaves_an_extract(text: str) -> None:
    state = hold(council({"synthesis": bare(text)}))
    assert state.verdict is not None
    assert (state.verdict.method, state.verdict.author) == ("extractive", "")
    assert "extracted_verdict" in codes(state)


@pytest.mark.requirement("X-14")
@pytest.mark.parametrize("act", [DEAD, None, ""])
def test_a_captain_who_cannot_write_leaves_an_extract_of_what_was_said(act: Act) -> None:
    state = hold(
        council({"captain": act, "answer/scholar": scholar(Findings="Tea is old. It is.")})
    )
    found = state.verdict
    assert found is not None
    assert (state.status, found.method, found.author) == ("concluded", "extractive", "")
    assert found.cites == tuple(ROUND_2)
    assert "No model wrote this answer" in found.answer
    assert "extracted_verdict" in codes(state)


def test_an_extract_takes_each_specialists_last_word() -> None:
    state = hold(
        council(
            {
                "captain": DEAD,
                "cross-examination/scholar": declaring(
                    sections(Updated_Position="Now coffee."), position="Now coffee."
                ),
                "answer/muse": declaring(sections(Perspective="P."), position="Wait and see."),
                "cross-examination/muse": DEAD,
            }
        )
    )
    found = state.verdict
    assert found is not None
    assert "- **Scholar** (2/cross-examination/scholar): Now coffee." in found.answer
    assert "- **Muse** (1/answer/muse): Wait and see." in found.answer


def test_the_declarations_of_both_rounds_are_kept() -> None:
    state = hold(
        council({"cross-examination/muse": declaring("Tea!", position="Tea it is.", confidence=95)})
    )
    record = record_of(state)
    for who in SPECIALISTS:
        assert [each.round for each in record.of(who)] == [1, 2]
    assert (record.position("muse", first=True), record.position("muse")) == (
        "Do it step by step.",
        "Tea it is.",
    )
    assert record.confidence("muse") == 95


@pytest.mark.requirement("Z-22", "Z-23")
def test_what_the_captain_lists_counts_only_as_the_seats_vote_on_it() -> None:
    table = council(
        {
            "summary": listed("Drink tea.", "Drink coffee."),
            "cross-examination": declaring("Coffee.", choice="o2"),
        }
    )
    state = hold(table)
    question = standing_of(state).question
    assert question is not None
    assert (question.end, question.answer) == ("consensus", "Drink coffee.")
    # The list is for the vote; what the specialists examine is the summary.
    findings = prompt_of(table, ROUND_2[0]).user.split("---JOINT FINDINGS (untrusted)---")[1]
    assert "```decisions" not in findings.split("---END JOINT FINDINGS---")[0]


@pytest.mark.requirement("Z-22")
def test_a_specialist_who_declares_nothing_is_asked_once_more_and_then_counts_for_nothing() -> None:
    table = council({"answer/muse": bare("Cocoa."), "cross-examination/muse": bare("Cocoa!")})
    state = hold(table)
    assert asked(table).count("1/answer/muse") == asked(table).count(ROUND_2[2]) == 2
    assert record_of(state).undeclared == ("muse",)
    assert state.verdict is not None
    assert state.verdict.agreement.startswith(
        "Majority: 2 of 3, 1 without a countable declaration."
    )
    speech = state.speech(ROUND_2[2])
    assert speech is not None
    assert (speech.text, UNDECLARED in speech.flags) == ("Cocoa!", True)


@pytest.mark.requirement("Z-23")
def test_an_own_position_of_the_last_round_is_put_to_the_others_in_one_short_call_each() -> None:
    def muse(request: SpeakRequest) -> str:
        votes = [vote("own", before="o1")]
        return spoken("Cocoa.", request, votes=votes, position="Drink cocoa.")

    table = council({"cross-examination/muse": muse})
    state = hold(table)
    ballots = [turn for turn in asked(table) if turn.startswith("2/ballot/")]
    assert sorted(ballots) == ["2/ballot/engineer", "2/ballot/muse", "2/ballot/scholar"]
    question = standing_of(state).question
    assert question is not None
    assert [option.text for option in question.decision.options][-1] == "Drink cocoa."


# Budgets


@pytest.mark.requirement("I-11", "Z-09")
@pytest.mark.parametrize(
    ("calls", "answers", "made"),
    [(2, 1, 2), (3, 2, 3), (4, 3, 4), (5, 3, 5), (6, 3, 5), (7, 3, 5)],
)
def test_a_limit_of_calls_ends_the_council_with_a_partial_verdict(
    calls: int, answers: int, made: int
) -> None:
    table = council()
    state = hold(table, budget=Budget(max_calls=calls))
    assert len(table.requests) == made == state.usage.calls
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("stopped", "budget")
    assert state.verdict is not None
    assert (state.verdict.partial, state.verdict.method) == (True, "written")
    assert len(state.spoken_in("answer", 1)) == answers
    assert state.exhausted is not None
    assert state.exhausted.limit == "calls"
    assert "budget" in [note.code for note in notes(state)]


@pytest.mark.requirement("I-11")
def test_a_limit_that_suffices_is_not_felt() -> None:
    state = hold(
        council(), budget=Budget(max_calls=9, max_tokens=200_000, max_cost_usd=5, max_seconds=60)
    )
    assert state.status == "concluded"
    assert state.verdict is not None
    assert not state.verdict.partial


@pytest.mark.requirement("I-11")
def test_a_limit_that_allows_no_answer_ends_with_advice_and_no_verdict() -> None:
    table = council()
    state = hold(table, budget=Budget(max_tokens=10))
    assert state.closed is not None
    assert (state.status, state.closed.stop_reason) == ("failed", "budget")
    assert state.verdict is None
    assert "Raise the limit" in state.closed.remedy
    assert table.requests == []


@pytest.mark.requirement("Z-09", "Z-35", "I-11")
def test_a_cost_limit_below_a_second_round_goes_straight_to_the_verdict() -> None:
    whole = hold(Table({"*": Billed(words=300)})).usage.priced_usd
    table = Table({"*": Billed(words=300)})
    state = hold(table, budget=Budget(max_cost_usd=whole * 0.55))
    assert not set(asked(table)) & set(ROUND_2), "no half of a round is held"
    assert len(state.spoken_in("answer", 1)) == 3
    assert state.exhausted is not None
    assert state.exhausted.limit == "cost"
    assert state.verdict is not None
    assert (state.verdict.partial, state.verdict.method) == (True, "written")
    assert state.usage.priced_usd <= whole * 0.55


@pytest.mark.requirement("Z-09", "Z-35", "I-11")
@pytest.mark.parametrize("words", [0, 200, 2_000])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
def test_whatever_the_cost_limit_it_holds_and_answers_lead_to_a_verdict(
    share: float, words: int
) -> None:
    whole = hold(Table({"*": Billed(words=words)})).usage.priced_usd
    state = hold(Table({"*": Billed(words=words)}), budget=Budget(max_cost_usd=share * whole))
    assert state.usage.priced_usd <= share * whole
    if state.spoken_in("answer", 1):
        assert state.verdict is not None


@pytest.mark.requirement("Z-09", "I-11")
def test_a_time_limit_hit_in_mid_round_cuts_the_calls_and_extracts_the_verdict() -> None:
    table = council({"answer/muse": 70.0})
    state = hold(table, budget=Budget(max_seconds=60))
    assert asked(table) == ["0/briefing/captain", *ROUND_1]
    assert state.exhausted is not None
    assert state.exhausted.limit == "time"
    assert state.verdict is not None
    assert (state.verdict.partial, state.verdict.method) == (True, "extractive")
    assert state.verdict.cites == tuple(turn for turn in ROUND_1 if "muse" not in turn)


@pytest.mark.requirement("Z-09")
def test_of_several_limits_the_first_one_reached_counts() -> None:
    budget = Budget(max_calls=8, max_cost_usd=0.01, max_seconds=1000)
    state = hold(Table({"*": Billed(words=300)}), budget=budget)
    assert state.exhausted is not None
    assert state.exhausted.limit == "cost"


class Unpriced(Voice):
    """A speaker whose provider tells no price."""

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        reply = await super().speak(request, on_words)
        usage = Usage(input_tokens=100, output_tokens=50, unpriced_calls=1)
        return replace(reply, usage=usage)


@pytest.mark.requirement("Z-09")
def test_calls_of_unknown_price_use_the_cost_limit_up_too() -> None:
    unknown = Cast(facts={"usd_per_million_in": None, "usd_per_million_out": None})
    table = Table({"*": Unpriced()}, cast=unknown)
    state = hold(table, budget=Budget(max_cost_usd=0.1))
    assert state.exhausted is not None
    assert state.exhausted.limit == "cost"
    # At the dearest price the words of three answers stay spent: they leave no room for a round 2
    # beside the verdict.
    assert not set(asked(table)) & set(ROUND_2)
    assert state.usage.cost_usd is None
    assert state.verdict is not None
    assert state.verdict.partial


@pytest.mark.requirement("Z-09")
def test_without_a_cost_limit_unknown_prices_do_not_hinder() -> None:
    unknown = Cast(facts={"usd_per_million_in": None, "usd_per_million_out": None})
    state = hold(Table({"*": Unpriced()}, cast=unknown), budget=Budget(max_calls=9))
    assert state.status == "concluded"
    assert state.usage.cost_usd is None


# Small windows, stops, demonstration


@pytest.mark.requirement("I-13", "I-30", "C-46")
def test_material_too_big_for_a_window_is_condensed_and_the_question_is_not() -> None:
    table = council(cast=Cast(facts={"context_window": 10_000}))
    question = "Which of these is best? " + "Consider the kettle. " * 20
    long = Material(source="report.md", text="A fact. " * 20_000)
    state = hold(table, question, context=(long,), options={"quick": True})
    assert state.status == "concluded"
    for request in table.requests:
        assert question.strip() in request.user
        assert "characters left out" in request.user
        assert (len(request.system) + len(request.user)) / 3 <= 10_000 - request.max_tokens
    (whole,) = [note for note in state.notes if note.code == "condensed_spread"]
    assert "10,000 tokens" in whole.text, "the document is condensed once, for everybody"
    # It has the room that the least roomy prompt leaves it, so none has to be cut once more.
    assert not any(note.code.startswith("condensed/") for note in state.notes)
    assert not any(CONDENSED in speech.flags for speech in state.speeches)
    assert len({_document(request) for request in table.requests}) == 1, "the same for every seat"
    _, _, shown = whole.text.partition("report.md ")
    assert shown.startswith(f"{len(_document(table.requests[0])):,} of 160,000 characters.")


def _document(request: SpeakRequest) -> str:
    found = re.search(r"\nfrom report\.md\n(.*?)\n\[/fence", request.user, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.requirement("I-13")
def test_many_large_files_are_condensed_and_do_not_break_the_prompt() -> None:
    files = tuple(Material(source=f"{n}.txt", text="x" * 760_000) for n in range(5))
    table = council(cast=Cast(facts={"context_window": 20_000}))
    state = hold(table, context=files, options={"quick": True})
    assert state.status == "concluded"
    assert all(f"from {n}.txt" in request.user for request in table.requests for n in range(5))


@pytest.mark.requirement("I-07")
@pytest.mark.parametrize(
    ("seconds", "cites"),
    [(5, None), (15, None), (25, ROUND_1), (35, ROUND_1), (45, ROUND_2)],
)
def test_a_stop_at_any_stage_keeps_what_was_said(seconds: float, cites: list[str] | None) -> None:
    table = council({"": 9.0})  # each call takes ten seconds

    async def main() -> State:
        state = await table.service.open(OpenRequest(topic="Tea or coffee?"))
        run = asyncio.create_task(table.service.run(state.discussion_id))
        await asyncio.sleep(seconds)
        await table.service.stop(state.discussion_id, by="anna")
        return await run

    state = run_in_virtual_time(main())
    assert state.status == "stopped"
    assert (state.verdict.cites if state.verdict else None) == (tuple(cites) if cites else None)
    assert state.verdict is None or state.verdict.partial


@pytest.mark.requirement("I-02", "I-30")
def test_the_demonstration_model_is_labelled_and_nothing_of_it_is_counted() -> None:
    def small(request: SpeakRequest) -> str:
        return "\n".join(f"## {shape.heading}\nWords." for shape in request.shape)

    table = Table({"*": Voice(small)}, cast=Cast(facts={"demonstration": True}))
    state = hold(table)
    assert codes(state).count("demonstration") == 1
    assert asked(table) == [*ROUND_1, *ROUND_2]
    assert all(speech.flags == ("[demonstration model]",) for speech in state.speeches)
    assert record_of(state).statements == ()
    assert state.verdict is not None
    assert (state.verdict.method, state.verdict.meaningful) == ("extractive", False)
    assert state.verdict.confidence is None
