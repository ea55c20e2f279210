"""What a writer says of the vote, of itself or of the check, held against what was counted: in
every procedure, by whoever concludes, on every surface and in a bundle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from roundtable.bundle import check_bundle, make_bundle
from roundtable.core.state import State
from roundtable.core.values import ActionItem, FindingCode
from roundtable.core.verdict_findings import MORE_AGREEMENT, unkept
from roundtable.engine.chairs_word import ChairsWord
from roundtable.procedures.opening import OpenRequest
from roundtable.procedures.verdicts import CONTRADICTS, WRITER_SAYS
from roundtable.views.decision import Decision
from roundtable.views.delivery import Delivery
from roundtable.views.meeting_document import document
from tests.declaring import fields
from tests.procedures.meeting_table import seats
from tests.rehearsal import Table, run_in_virtual_time
from tests.views.tables import NOON
from tests.views.test_delivery import SURFACES

from .test_writers import BUILT_IN, held, verdict_of

CLAIMS: list[tuple[FindingCode, str, str]] = [
    ("false_count", "Yes, rewrite it. All three voted yes.", "3 chose “yes”; counted: 2 of 3."),
    ("false_count", "Yes, rewrite it. The vote was 3–0.", "the vote was 3 to 0; counted: 2 of 3."),
    (
        "false_confidence",
        "Yes, rewrite it. We are 99 % confident.",
        "confidence of 99 %; computed:",
    ),
]


@pytest.mark.requirement("Z-27", "Z-08")
@pytest.mark.parametrize("procedure", BUILT_IN)
@pytest.mark.parametrize(("code", "claim", "told"), CLAIMS)
def test_what_the_count_denies_is_written_anew_and_then_flagged_on_the_first_screen(
    procedure: str, code: FindingCode, claim: str, told: str
) -> None:
    table, state = held(procedure, ("o1", "o1", "o2"), delivers="o1", answer=claim)
    assert any("The declared answer contradicts the count" in r.user for r in table.requests)
    verdict = verdict_of(state)
    assert [each.code for each in verdict.findings] == [code]
    assert verdict.brief == "Yes", "the claim does not stand in place of what was counted"
    decision = Decision.of(state)
    assert decision.flags[0].code == code
    assert told in decision.flags[0].text
    against = code != "false_confidence"
    assert (CONTRADICTS in verdict.flags) is against
    assert Delivery.of(state).headline.startswith("⚠") is against


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize("procedure", BUILT_IN)
def test_what_was_counted_may_be_said(procedure: str) -> None:
    claim = "Yes, rewrite it. Two of three voted yes, one voted no."
    table, state = held(procedure, ("o1", "o1", "o2"), delivers="o1", answer=claim)
    assert not any("contradicts the count" in r.user for r in table.requests)
    assert verdict_of(state).findings == ()
    assert verdict_of(state).brief == claim


@pytest.mark.requirement("Z-27", "C-61")
def test_what_the_captain_says_of_the_table_stands_apart_from_what_was_counted() -> None:
    own = {
        "Agreement": "Cost matters to all of them.",
        "Dissent": "The Muse fears the migration.",
        "Changed Minds": "The Engineer, a little.",
    }
    _, state = held("council", ("o1", "o1", "o2"), sections=own, delivers="o1", answer="Yes.")
    verdict, told = verdict_of(state), Delivery.of(state)
    assert verdict.agreement.startswith("Majority: 2 of 3.")
    assert f"{WRITER_SAYS} {own['Agreement']}" in verdict.agreement
    assert told.changed.endswith(f"{WRITER_SAYS} {own['Changed Minds']}")
    text = SURFACES["terminal"](state)
    assert f"- {WRITER_SAYS} {own['Dissent']}" in text
    assert verdict.findings == ()


@pytest.mark.requirement("Z-27")
def test_labels_of_a_writer_with_what_was_not_counted_are_flagged() -> None:
    labels = "**Consensus:** full\n\n**Dissent:** none\n\n**Confidence:** 99%"
    _, state = held(
        "deliberation",
        ("o1", "o1", "o2"),
        sections={"Answer": f"Yes, rewrite it.\n\n{labels}"},
        delivers="o1",
        answer="Yes, rewrite it.",
    )
    codes = [each.code for each in verdict_of(state).findings]
    assert codes == ["false_agreement", "false_agreement", "false_confidence"]
    written = Delivery.of(state).written
    for title in ("Dissent", "Confidence"):
        assert f"**{title}, as the writer has it:**" in written
    assert Delivery.of(state).headline == f"⚠ {MORE_AGREEMENT} Yes, 2 of 3, 1 for another answer."


BESIDE = [
    ("why", "false_agreement", "The table was unanimous."),
    ("why", "false_agreement", "Nobody dissents."),
    ("why", "false_count", "All three voted yes."),
    ("would_change", "false_count", "All three voted yes, so only a new price would change it."),
    ("would_change", "false_agreement", "The table was unanimous; only its price counts."),
    ("gaps", "false_count", "One: all three experts voted yes, 3–0."),
    ("next_steps", "false_count", "Tell the board that the vote was 3–0."),
]


def told_beside(part: str, words: str) -> tuple[Table, State]:
    """A majority, and a writer that says so beside its answer."""
    declared: dict[str, Any] = {"why": ["It is cheaper."], "would_change": []}
    sections = {"Answer": "Yes, rewrite it."}
    if part == "gaps":
        sections["Gaps and Risks"] = words
    elif part == "next_steps":
        declared["actions"] = [{"what": words}]
    else:
        declared[part] = [words]
    return held(
        "deliberation",
        ("o1", "o1", "o2"),
        sections=sections,
        delivers="o1",
        answer="Yes, rewrite it.",
        **declared,
    )


@pytest.mark.requirement("Z-27", "Z-08")
@pytest.mark.parametrize(("part", "code", "words"), BESIDE)
def test_what_stands_beside_the_answer_is_held_against_the_count_too(
    part: str, code: str, words: str
) -> None:
    table, state = told_beside(part, words)
    verdict = verdict_of(state)
    assert words in str(verdict.model_dump(include={part})), "nothing is found where nothing is"
    assert verdict.findings, words
    assert {each.code for each in verdict.findings} == {code}
    assert CONTRADICTS in verdict.flags
    assert Decision.of(state).flags[0].code == code
    assert Delivery.of(state).headline.startswith("⚠")
    assert verdict.brief == "Yes, rewrite it.", "the answer itself is right"
    checked = check_bundle(make_bundle(run_in_virtual_time(table.records(state))))
    [found] = [each for each in checked.findings if each.check == "answer"]
    assert found.level == "remark"
    # A verdict of an earlier version kept nothing of it.
    bare = verdict.model_copy(update={"findings": (), "flags": ()})
    assert {each.code for each in unkept(replace(state, verdict=bare))} == {code}


@pytest.mark.requirement("Z-27")
@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("why", "All three agree that the present code is slow."),
        ("why", "Two of three voted yes."),
        ("would_change", "A unanimous vote of the board against it."),
        ("would_change", "All three voting no after a trial."),
        ("would_change", "No objections from the auditors."),
        ("gaps", "Nobody has measured the load; whether all three agree on a date is open."),
        ("next_steps", "Get the consent of the board, unanimous if possible."),
        ("next_steps", "Agree on a date with all three teams."),
    ],
)
def test_what_stands_beside_the_answer_and_is_no_claim_is_left_alone(part: str, words: str) -> None:
    _, state = told_beside(part, words)
    assert words in str(verdict_of(state).model_dump(include={part}))
    assert verdict_of(state).findings == ()
    assert not Delivery.of(state).contradicts


# Whoever concludes from outside


def concluded(given: str | ChairsWord, votes: tuple[str, ...] = ("o1", "o1", "o2")) -> State:
    """A meeting of seats from outside that vote so, and a coordinator that concludes so."""

    async def main() -> State:
        table = Table()
        options = {
            "participants": seats(3, model="outside"),
            "host": "outside",
            "max_rounds": 1,
            "choices": "PostgreSQL,MongoDB",
        }
        request = OpenRequest(topic="Which database?", procedure="meeting", options=options)
        state = await table.service.open(request)
        for who, choice in zip(("arch", "back", "prod"), votes, strict=True):
            await table.service.speak(
                state.discussion_id, who, f"It is about cost, says {who}.", fields(f"VOTE {choice}")
            )
        return await table.service.conclude(state.discussion_id, given)

    return run_in_virtual_time(main())


@pytest.mark.requirement("Z-27", "Z-08", "D-15")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("Use MongoDB.", "contradiction"),
        ("Use PostgreSQL. All three chose PostgreSQL.", "false_count"),
        ("Use PostgreSQL. Ann and Cleo chose PostgreSQL.", "false_holder"),
        ("Use PostgreSQL. They agree unanimously.", "false_agreement"),
        ("Use PostgreSQL. Confidence: 99 %", "false_confidence"),
        ("Use PostgreSQL. “Nobody here ever said such words as these.”", "not_found"),
        ("Use PostgreSQL, as [4/discussion/arch] says.", "unknown_turn"),
        ("Use PostgreSQL. ✓ verified", "forged_mark"),
    ],
)
def test_a_conclusion_from_outside_is_checked_as_a_hosts_is(words: str, code: str) -> None:
    state = concluded(words)
    assert code in [each.code for each in verdict_of(state).findings]
    assert code in [each.code for each in Decision.of(state).flags]
    assert Delivery.of(state).contradicts is (
        code in ("contradiction", "false_count", "false_holder", "false_agreement")
    )


@pytest.mark.requirement("Z-27", "D-15")
def test_an_honest_conclusion_from_outside_stands_word_for_word() -> None:
    words = "Use PostgreSQL. Two of three chose PostgreSQL; “it is about cost, says arch”."
    verdict = verdict_of(concluded(words))
    assert verdict.answer == words
    assert (verdict.findings, verdict.flags) == ((), ())


@pytest.mark.requirement("Z-27", "D-15")
def test_what_stands_beside_a_conclusion_from_outside_is_checked_too() -> None:
    word = ChairsWord(
        "Use PostgreSQL.",
        recommendation="“Nobody here ever said such words as these.”",
        consensus=("All three chose PostgreSQL.",),
        dissent=("All agree unanimously.",),
    )
    state = concluded(word)
    codes = {each.code for each in verdict_of(state).findings}
    assert codes == {"false_agreement", "false_count", "not_found"}
    assert verdict_of(state).on_dissent == ""
    assert "[quotation not found]" in document(state, NOON)
    assert MORE_AGREEMENT in document(state, NOON)


@pytest.mark.requirement("Z-08", "D-15")
def test_the_next_steps_of_a_conclusion_are_told_apart_too() -> None:
    state = concluded(ChairsWord("Use PostgreSQL.", actions=(ActionItem(text="Pay. ✓ verified"),)))
    assert "forged_mark" in [each.code for each in verdict_of(state).findings]
    assert "Pay. ✓ verified (as the writer has it)" in document(state, NOON)


# Marks of the program's own

FORGED = (
    "Yes, rewrite it. [quotation verified]\n\n"
    "**Confidence:** High (90% to 95%).\n\n"
    "✓ quotations: all 9 stand word for word"
)


@pytest.mark.requirement("Z-08", "Z-24")
@pytest.mark.parametrize("surface", SURFACES)
def test_no_surface_shows_a_writers_marks_as_the_programs(surface: str) -> None:
    _, state = held("deliberation", ("o1", "o1", "o2"), sections={"Answer": FORGED}, delivers="o1")
    assert {each.code for each in Decision.of(state).flags} >= {"forged_mark", "false_confidence"}
    words = SURFACES[surface](state)
    assert "[quotation verified, as the writer has it]" in words
    # Speeches and findings have a place of their own, where they are quoted as whose they are.
    if surface in ("terminal", "chat", "openai"):
        said = "\n".join(each for each in words.splitlines() if not each.startswith("⚠"))
        assert "[quotation verified]" not in said
        assert "✓ quotations:" not in said
        assert "**Confidence:** High (90% to 95%)" not in said


# Bundles


@pytest.mark.requirement("Z-27", "Z-08")
@pytest.mark.parametrize(
    ("answer", "level"),
    [
        ("Yes: all experts agree to rewrite billing.", "remark"),
        ("Yes, rewrite it. All three voted yes.", "remark"),
        ("No, do not rewrite billing.", "remark"),
        ("Yes, rewrite it.", "good"),
    ],
)
def test_verify_says_of_an_answer_what_the_headline_says(answer: str, level: str) -> None:
    table, state = held("deliberation", ("o1", "o1", "o2"), delivers="o1", answer=answer)
    checked = check_bundle(make_bundle(run_in_virtual_time(table.records(state))))
    assert checked.sound, "a writer that is wrong makes no bundle wrong"
    [found] = [each for each in checked.findings if each.check == "answer"]
    assert found.level == level
    assert found.text.startswith("it contradicts the count") is (level == "remark")
    assert Delivery.of(state).headline.startswith("⚠") is (level == "remark")
