"""What is handed on in an adaptive run: later stages see the earlier ones, the writer and the
validators see whole positions, and no correction is lost."""

from __future__ import annotations

import pytest

from roundtable.ports import SpeakRequest
from roundtable.views.adaptive import result_document

from .adaptive_table import (
    CODEX,
    DEAD,
    DEBATERS,
    GEMINI,
    GROK,
    NAMES,
    OPUS,
    Act,
    adaptive,
    answer,
    codes,
    critique,
    design,
    hold,
    labels,
    meta_section,
    note,
    spoken,
    synthesis,
)
from .council_table import asked, prompt_of, sections

TWO_STAGES = design(
    "sequential", 2, [("Writer", OPUS), ("Other", CODEX)], [("Editor", GROK)], GEMINI
)


@pytest.mark.requirement("A-59")
def test_stage_two_sees_how_stage_one_was_criticised() -> None:
    table = adaptive({"meta-panel": TWO_STAGES})
    hold(table, options={"build": True})
    user = prompt_of(table, "3/second-stage/editor").user
    for role, who in (("Writer", "writer"), ("Other", "other")):
        assert f"STAGE 1 OUTPUT from {role}:\n" in user
        assert f"STAGE 1 CRITIQUE from {role}, round 2:\n" in user
        assert f"Criticism in 2/critique/{who}." in user
        assert f"Updated position in 2/critique/{who}." in user


@pytest.mark.requirement("A-56")
def test_round_three_sees_round_two_whole_and_scores_are_of_the_newest_position() -> None:
    table = adaptive({"meta-panel": design(rounds=3)})
    hold(table)
    second, third = (prompt_of(table, f"{n}/critique/analyst") for n in (2, 3))
    assert "What was said since" not in second.user
    since = third.user.split("What was said since, whole:")[1]
    for who in DEBATERS:
        assert f"Criticism in 2/critique/{who}." in since
    assert "agree with the newest position of each of the others" in third.user
    assert "Score what each of the others would do now" in third.system


@pytest.mark.requirement("A-56", "X-26")
def test_a_digest_is_read_once_and_every_other_word_of_an_answer_with_it() -> None:
    table = adaptive({"meta-panel": design(rounds=3)})
    hold(table)
    second, third = (prompt_of(table, f"{n}/critique/analyst").user for n in (2, 3))
    for who in DEBATERS:
        assert second.count(f"Digest of 1/answer/{who}.") == 1
        assert f"Reasoning in 1/answer/{who}." in second
        # In round 3 the digests are those of round 2: that of round 1 is part of its answer.
        assert third.count(f"Digest of 1/answer/{who}.") == 1
        assert third.count(f"New digest of 2/critique/{who}.") == 1


@pytest.mark.requirement("A-74")
def test_the_writer_gets_whole_positions_also_where_nothing_changed() -> None:
    def unchanged(request: SpeakRequest) -> str:
        return critique(request).replace("Updated position in 2/critique/analyst.", "As before.")

    table = adaptive({"2/critique/analyst": unchanged})
    hold(table)
    positions = prompt_of(table, "0/synthesis/synthesiser").user.split("stands at the end, whole:")
    assert "As before." in positions[1]
    assert "Reasoning in 1/answer/analyst." in positions[1]
    assert "Updated position in 2/critique/advocate." in positions[1]


@pytest.mark.requirement("A-74")
def test_the_writer_gets_the_risks_critiques_and_conditions_of_every_round() -> None:
    demand = {"text": "A pilot comes first.", "kind": "demand", "otherwise": "open"}

    def risky(request: SpeakRequest) -> str:
        words = answer(request, conditions=[demand])
        return words.replace("None that matter.", "The supplier may fold.")

    table = adaptive({"1/answer/analyst": risky, "meta-panel": design(rounds=3)})
    hold(table)
    user = prompt_of(table, "0/synthesis/synthesiser").user
    first, rest = user.split("ROUND1_SUMMARIES:")[1].split("ROUND2_SUMMARIES:")
    assert "Risks and Unknowns: The supplier may fold." in first
    assert user.count("A pilot comes first.") == 1, "in the list of conditions"
    assert "demand, otherwise open): A pilot comes first." in rest
    for round_ in (2, 3):
        assert f"Criticism in {round_}/critique/advocate." in rest


@pytest.mark.requirement("A-74")
def test_what_stands_as_a_last_position_is_not_told_twice() -> None:
    def risky(request: SpeakRequest) -> str:
        return answer(request).replace("None that matter.", "The supplier may fold.")

    table = adaptive({"1/answer/analyst": risky})
    hold(table, options={"quick": True})
    assert prompt_of(table, "0/synthesis/synthesiser").user.count("The supplier may fold.") == 1


@pytest.mark.requirement("A-70")
def test_validators_get_their_own_words_of_both_rounds() -> None:
    table = adaptive()
    hold(table, options={"validate": True})
    for who in DEBATERS:
        user = prompt_of(table, f"0/validation/{who}").user
        assert f"Reasoning in 1/answer/{who}." in user
        assert f"Updated position in 2/critique/{who}." in user
        assert sum(f"in 1/answer/{other}." in user for other in DEBATERS) == 1


def judged(verdict: str, correction: str) -> str:
    return sections(Verdict=verdict, Correction=correction)


@pytest.mark.requirement("A-71", "A-95")
def test_every_partial_correction_is_shown_where_nothing_is_rewritten() -> None:
    acts: dict[str, Act] = {
        "validation/advocate": judged("PARTIALLY", "I demanded two engineers."),
        "validation/analyst": judged("PARTIALLY", "none"),
        "validation/contrarian": judged("INACCURATE", "I am against it."),
    }
    table = adaptive(acts)
    state = hold(table, options={"validate": True})
    assert "0/rewrite/synthesiser" not in asked(table)
    lines = meta_section(state)
    assert sum("Advocate calls the synthesis only partly accurate: I demanded" in x for x in lines)
    assert sum("Misrepresentation warning: Contrarian" in line for line in lines) == 1
    assert codes(state).count("correction") == 1
    saved = result_document(state, state.opened_at)["synthesis"]  # type: ignore[arg-type]
    assert "I demanded two engineers." in saved
    assert "I am against it." in saved


@pytest.mark.requirement("A-71", "X-47")
def test_a_rewrite_uses_partial_corrections_too_and_is_checked_by_those_who_made_them() -> None:
    acts: dict[str, Act] = {
        "validation/advocate": judged("INACCURATE", "I never said tea."),
        "validation/analyst": judged("INACCURATE", "Nor did I."),
        "validation/contrarian": judged("PARTIALLY", "I said it with a condition."),
        "0/rewrite": synthesis(Answer="Drink water."),
        "recheck/contrarian": judged("PARTIALLY", "The condition is still missing."),
    }
    table = adaptive(acts)
    state = hold(table, options={"validate": True})
    rewrite = prompt_of(table, "0/rewrite/synthesiser").user
    for told in ("I never said tea.", "Nor did I.", "I said it with a condition."):
        assert told in rewrite
    assert "from Contrarian: PARTIALLY" in rewrite
    again = [f"rt-r3-validate-{who}-again" for who in ("advocate", "analyst", "contrarian")]
    assert labels(table, state)[-3:] == again
    check = prompt_of(table, "0/recheck/advocate").user
    assert "Drink water." in check
    assert "INACCURATE: I never said tea." in check
    assert state.verdict is not None
    assert state.verdict.answer == "Drink water."
    assert codes(state).count("correction_used") == 3
    assert "The condition is still missing." in note(state, "correction").text
    assert "Validated: partial" in meta_section(state)


@pytest.mark.requirement("X-47")
def test_a_rewrite_that_more_call_inaccurate_gives_way_to_the_draft() -> None:
    acts: dict[str, Act] = {
        "validation/advocate": judged("INACCURATE", "Wrong one."),
        "validation/analyst": judged("INACCURATE", "Wrong two."),
        "validation/contrarian": judged("PARTIALLY", "A detail."),
        "0/synthesis/": synthesis(Answer="The draft."),
        "0/rewrite": synthesis(Answer="Worse."),
        "recheck": judged("INACCURATE", "Now all of it."),
    }
    state = hold(adaptive(acts), options={"validate": True})
    assert state.verdict is not None
    assert state.verdict.answer == "The draft."
    assert "rewrite_worse" in codes(state)
    assert codes(state).count("misrepresentation") == 2
    assert "Validated: partial" in meta_section(state)


@pytest.mark.requirement("X-47", "A-80")
def test_a_rewrite_that_nobody_could_check_again_is_only_partly_validated() -> None:
    acts: dict[str, Act] = {"validation": judged("INACCURATE", "Wrong."), "recheck": DEAD}
    state = hold(adaptive(acts), options={"validate": True})
    assert state.status == "concluded"
    assert "Validated: no" in meta_section(state)


@pytest.mark.requirement("A-89", "A-10")
def test_the_saved_synthesis_is_whole_with_its_dissent() -> None:
    reason = "Coffee keeps the night shift awake."
    written = synthesis(
        Dissent="The Contrarian holds that coffee keeps people awake; few work at night.",
        Open_Questions="Nobody knows the price.",
        Sources="https://example.org/tea",
    )
    acts: dict[str, Act] = {
        "1/answer/contrarian": lambda request: answer(request, choice="o2", position=reason),
        "2/critique/contrarian": lambda request: critique(request, choice="o2", position=reason),
        "0/synthesis/": lambda request: spoken(request, written),
    }
    state = hold(adaptive(acts))
    saved = result_document(state, state.opened_at)["synthesis"]  # type: ignore[arg-type]
    assert saved.startswith("Drink tea")
    assert "## Dissent" in saved
    assert NAMES["contrarian"] in saved.split("## Dissent")[1]
    assert reason in saved
    assert "few work at night" in saved
    assert "## Open Questions\nNobody knows the price." in saved
    assert "https://example.org/tea" in saved


@pytest.mark.requirement("A-89", "A-78", "A-80")
@pytest.mark.parametrize(
    ("turn", "degraded"),
    [("1/answer/analyst", True), ("2/critique/analyst", True), ("nobody", False)],
)
def test_a_panel_that_lost_a_seat_is_degraded(turn: str, degraded: bool) -> None:
    state = hold(adaptive({turn: DEAD}), options={"validate": True})
    document = result_document(state, state.opened_at)  # type: ignore[arg-type]
    assert document["panel_degraded"] is degraded
    assert bool(document["panel_degradation_notes"]) is degraded
