"""What an adaptive run delivers: the answer with its META section, votes, and the result file."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import BadSetting
from roundtable.core.standing import standing_of
from roundtable.core.state import State
from roundtable.core.values import SearchHit
from roundtable.procedures import procedure_spec
from roundtable.procedures.options import described
from roundtable.surfaces.files import write_outputs
from roundtable.surfaces.prior import find_earlier, prior_synthesis
from roundtable.views.adaptive import delivery, outputs, result_document
from roundtable.views.report_html import html_report
from tests.declaring import vote
from tests.rehearsal import Cast

from .adaptive_table import (
    CODEX,
    DEAD,
    DEBATERS,
    GEMINI,
    GROK,
    OPUS,
    SONNET,
    Act,
    adaptive,
    answer,
    calls,
    codes,
    critique,
    design,
    hold,
    labels,
    listing,
    spoken,
    synthesis,
)
from .council_table import Finder, prompt_of

HIT = SearchHit(title="Tea", url="https://example.org/tea", text="Tea sold 7 % more in 2025.")
AT = datetime(2026, 1, 2, 12, tzinfo=UTC)
KEYS = [
    *("date", "topic", "mode", "workflow_type", "stages", "meta_panel_recommendation"),
    *("panel_degraded", "panel_degradation_notes", "consensus_pct", "synthesis_model"),
    *("validated", "synthesis"),
]


@pytest.mark.requirement("A-48", "A-95", "A-63")
def test_the_delivery_as_a_person_reads_it() -> None:
    text = delivery(hold(adaptive()), "1.2.3")
    assert text == (
        "🎯 **Roundtable** [DEBATE]\n\n"
        "**Workflow:** parallel_debate · **Stages:** 1 · **Rounds:** 2\n"
        f"**Panel:** Advocate ({OPUS}), Devil's Advocate ({CODEX}), Analyst ({GEMINI}), "
        f"Contrarian ({GROK})\n"
        f"**Synthesis:** {SONNET}\n\n"
        "**Yes, 4 of 4.** Do it step by step.\n\n"
        "Drink tea [Analyst, round 1].\n\n"
        "**Confidence:** Medium (62% to 89%). All four reached it independently, before hearing "
        "each other. Of recorded debates that ended like this, about 8 in 10 were right.\n"
        "**Agreement:** Consensus: All 4. They held it independently, before hearing each other. "
        "The writer says: All are thirsty.\n"
        "**Vote:** yes: 4; no: 0\n"
        "**Who holds what:**\n"
        "- Advocate: yes, from the start\n"
        "- Devil's Advocate: yes, from the start\n"
        "- Analyst: yes, from the start\n"
        "- Contrarian: yes, from the start\n\n"
        "**Why:**\n- It is cheap.\n\n"
        "**Dissent:** none\n"
        "**What would change it:**\n- A higher price.\n\n"
        "**What talk changed:** Nothing: everybody holds what it held before it heard the others.\n"
        "\n"
        "## Agreement scores\n\n"
        "| | Advocate | Devil's Advocate | Analyst | Contrarian |\n"
        "|---|---|---|---|---|\n"
        "| Advocate | – | 4 | 4 | 4 |\n"
        "| Devil's Advocate | 4 | – | 4 | 4 |\n"
        "| Analyst | 4 | 4 | – | 4 |\n"
        "| Contrarian | 4 | 4 | 4 | – |\n\n"
        "## META\n\n"
        "- Consensus: 80 %\n"
        "- Validated: no\n"
        "- No web search in this run: the panel has no real-time data, and every prompt says so. "
        "Fine for abstract and theoretical questions; otherwise check what is said about the "
        "present.\n"
        "- Spent: 13 calls, 1,950 tokens, $0.1300.\n\n"
        "---\n"
        "rt_00000001 · roundtable v1.2.3"
    )


# The result file


@pytest.mark.requirement("A-89", "A-62")
def test_the_result_file_has_exactly_its_keys() -> None:
    two = design("sequential", 1, [("Writer", OPUS), ("Other", CODEX)], [("Editor", GROK)], GEMINI)
    acts: dict[str, Act] = {"meta-panel": two, "0/synthesis/": synthesis(Answer="Drink tea daily.")}
    state = hold(adaptive(acts), "Build a tea house", options={"build": True})
    document = result_document(state, AT)
    assert list(document) == KEYS
    recommended = document.pop("meta_panel_recommendation")
    assert document == {
        "date": "2026-01-02",
        "topic": "Build a tea house",
        "mode": "build",
        "workflow_type": "sequential",
        "stages": [
            {"model": OPUS, "role": "Writer", "task": "Task of Writer."},
            {"model": CODEX, "role": "Other", "task": "Task of Other."},
            {"model": GROK, "role": "Editor", "task": "Second task of Editor."},
        ],
        "panel_degraded": False,
        "panel_degradation_notes": [],
        "consensus_pct": "N/A",
        "synthesis_model": GEMINI,
        "validated": "no",
        "synthesis": "Drink tea daily.",
    }
    assert recommended["workflow_type"] == "sequential"
    assert recommended["votes"] == {"sequential": 4}
    assert len(recommended["recommendations"]) == 4


@pytest.mark.requirement("A-89", "A-64", "A-76")
def test_a_degraded_quick_run_says_so_in_its_file() -> None:
    state = hold(adaptive(dead=[OPUS]), options={"quick": True})
    document = result_document(state, AT)
    assert document["panel_degraded"] is True
    (told,) = document["panel_degradation_notes"]
    assert told.startswith(f"PANEL DEGRADED: role Advocate, original {OPUS}")
    assert document["consensus_pct"] == "N/A"
    assert document["meta_panel_recommendation"] is None
    assert document["stages"][0]["model"] != OPUS


@pytest.mark.requirement("A-88", "A-23", "X-28")
def test_the_file_is_named_for_day_and_topic_and_never_overwritten(tmp_path: Path) -> None:
    state = hold(adaptive(), "Should we drink: tea/coffee?", options={"quick": True})
    first, second = (write_outputs(state, tmp_path)[0] for _ in range(2))
    assert first.parent == tmp_path / "memory" / "roundtables"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-should-we-drink-tea-coffee\.json", first.name)
    assert second.name == first.name.replace(".json", "-2.json")
    assert json.loads(first.read_text("utf-8"))["synthesis"].startswith("Drink tea")


@pytest.mark.requirement("A-83", "A-88")
def test_a_run_without_a_result_leaves_no_file() -> None:
    state = hold(adaptive({"answer": DEAD}))
    assert outputs(state, AT) == ()


@pytest.mark.requirement("I-20")
def test_a_key_in_the_question_gets_into_no_file() -> None:
    key = "sk-ant-0123456789abcdefghij"
    state = hold(adaptive(), f"Should we use {key}?", options={"quick": True})
    (file,) = outputs(state, AT)
    assert key not in file.path
    assert key not in file.text
    assert key not in delivery(state, "0")


# --context-from


def store(folder: Path, name: str, text: str) -> None:
    (folder / "memory" / "roundtables").mkdir(parents=True, exist_ok=True)
    (folder / "memory" / "roundtables" / name).write_text(text, "utf-8")


@pytest.mark.requirement("A-10", "X-19")
@pytest.mark.parametrize("slug", ["2026-01-01-tea", "2026-01-01-tea.json", "tea"])
@pytest.mark.parametrize("old", [False, True])
def test_an_earlier_result_is_found_by_its_slug_in_either_root(
    tmp_path: Path, slug: str, old: bool
) -> None:
    folder = tmp_path / "clawd" if old else tmp_path / "workspace"
    store(folder, "2026-01-01-tea.json", '{"synthesis": "Coffee won."}')
    found = prior_synthesis(slug, tmp_path / "workspace", tmp_path)
    assert found is not None
    assert (found.source, found.text) == (
        "PRIOR ROUNDTABLE CONTEXT: 2026-01-01-tea",
        "Coffee won.",
    )


@pytest.mark.requirement("A-11", "I-19")
@pytest.mark.parametrize(
    "slug", ["nothing", "../secret", "/etc/passwd", "..", "", "a/b", "link", "broken", "empty", "*"]
)
def test_what_is_no_result_is_not_read(tmp_path: Path, slug: str) -> None:
    (tmp_path / "secret.json").write_text('{"synthesis": "secret"}', "utf-8")
    store(tmp_path, "broken.json", "{")
    store(tmp_path, "empty.json", '["synthesis"]')
    (tmp_path / "memory" / "roundtables" / "link.json").symlink_to(tmp_path / "secret.json")
    assert prior_synthesis(slug, tmp_path, tmp_path / "home") is None


@pytest.mark.requirement("A-11")
def test_a_missing_result_only_warns(tmp_path: Path) -> None:
    notes = find_earlier(["nothing"], tmp_path).notes
    assert [note.code for note in notes] == ["context_from_missing"]
    state = hold(adaptive(), options={"quick": True}, notes=notes)
    assert state.status == "concluded"
    assert "goes on without it" in delivery(state, "0")


# Votes


TEA_OR_COFFEE = "Choose tea or coffee"
MOVED = [{"from": "Voter D", "what": "tea in the position", "moved": True}]


def voting(**choices: str) -> dict[str, Act]:
    """Voters who were all for coffee before they talked, and choose so after it."""
    acts: dict[str, Act] = {"meta-panel": DEAD, "clerk": listing(("Tea", ""), ("Coffee", "ABCD"))}
    for letter, choice in choices.items():
        who = f"voter-{letter}"
        cast = vote(choice, before="o2")
        acts[f"answer/{who}"] = lambda r: answer(r, position="Coffee.")
        acts[f"critique/{who}"] = lambda r, cast=cast: critique(  # type: ignore[misc]
            r, votes=[cast], adopted=MOVED if cast["choice"] == "o1" else []
        )
        acts[f"2/ballot/{who}"] = lambda r, cast=cast: spoken(r, "", votes=[cast])  # type: ignore[misc]
    return acts


@pytest.mark.requirement("A-93", "Z-03", "I-32")
def test_a_vote_is_counted_and_the_minority_stays_visible() -> None:
    table = adaptive(voting(a="o1", b="o1", c="o1", d="o2"))
    state = hold(table, TEA_OR_COFFEE)
    text = delivery(state, "0")
    assert "rt-clerk" in labels(table, state)
    assert "## Votes\n\n**Winner: Tea (3 of 4)**\n\n" in text
    assert "- Tea: 3 (Voter A, Voter B, Voter C)\n- Coffee: 1 (Voter D)" in text
    assert state.verdict is not None
    (dissent,) = [each for each in state.verdict.dissent if not each.gave_in]
    assert dissent.participant == "voter-d"
    assert "- Voter D, round 2: " in text
    # The first round is kept: everybody was for coffee before they talked.
    question = standing_of(state).question
    assert question is not None
    assert question.before.counts == {"o1": 0, "o2": 4}


@pytest.mark.requirement("A-93")
def test_a_tie_is_called_a_tie() -> None:
    state = hold(adaptive(voting(a="o1", b="o1", c="o2", d="o2")), TEA_OR_COFFEE)
    assert "**Tie: Tea, Coffee (2 of 4 each)**" in delivery(state, "0")
    assert state.verdict is not None
    assert state.verdict.delivers == "none"


@pytest.mark.requirement("A-93")
def test_own_positions_without_a_majority_have_no_winner() -> None:
    acts = voting(a="o1", b="o1", c="o2", d="o2")
    acts["critique/voter-d"] = lambda r: critique(
        r, position="Water.", votes=[vote("own", before="o2")]
    )
    acts = {"ballot": DEAD, **acts}
    text = delivery(hold(adaptive(acts), TEA_OR_COFFEE), "0")
    assert "**No winner: 2 of 4" in text
    assert "- Water.: 1 (Voter D)" in text


@pytest.mark.requirement("A-93", "A-05")
def test_options_that_the_asker_names_are_voted_on_without_a_clerk() -> None:
    table = adaptive({"answer/voter-b": lambda r: answer(r, choice="o2")})
    options = {"vote": True, "quick": True, "choices": "Tea,Coffee"}
    state = hold(table, "Which drink?", options=options)
    assert labels(table, state) == [
        *("rt-r1-voter-a", "rt-r1-voter-b", "rt-r1-voter-c"),
        "rt-synthesis",
    ]
    assert "**Winner: Tea (2 of 3)**" in delivery(state, "0")


@pytest.mark.parametrize("choices", ["Tea", "Tea,tea", "o1,o2"])
def test_options_that_cannot_be_voted_on_are_refused(choices: str) -> None:
    with pytest.raises(BadSetting, match="choices"):
        hold(adaptive(), "Which drink?", options={"choices": choices})


def test_the_count_has_a_section_of_its_own_in_the_vote_mode_only() -> None:
    assert "## Votes" not in delivery(hold(adaptive()), "0")


# What was put to the vote


@pytest.mark.requirement("A-05", "A-64", "Z-22")
def test_a_quick_run_on_an_open_question_claims_no_agreement() -> None:
    table = adaptive()
    state = hold(table, "What is the best drink for a desert?", options={"quick": True})
    assert len(labels(table, state)) == 4
    assert "Nothing was put to the vote, so no agreement can be claimed." in table.requests[-1].user
    text = delivery(state, "0")
    assert "**Agreement:** Not counted: nothing was put to the vote." in text
    assert "**Confidence:** not meaningful (nothing was put to the vote)" in text
    assert "- Consensus: N/A" in text
    assert state.verdict is not None
    assert (state.verdict.confidence, state.verdict.delivers) == (None, "none")


@pytest.mark.requirement("A-24", "A-28")
def test_the_orchestrator_lists_the_options_of_an_open_question_and_holds_no_seat() -> None:
    table = adaptive(cast=Cast(default="test/orchestrator"))
    state = hold(table, "What is the best drink for a desert?")
    assert [c.label for c in calls(table, state) if c.model == "test/orchestrator"] == ["rt-clerk"]
    prompt = prompt_of(table, "0/clerk/orchestrator")
    assert "You take no position:" in prompt.system
    # The clerk does not know whose answers it reads.
    assert "Advocate" not in prompt.user
    assert state.start.host.id not in standing_of(state).record.seats


def test_without_a_list_of_the_clerk_each_position_is_put_to_the_vote_as_worded() -> None:
    state = hold(adaptive({"clerk": DEAD}), "What is the best drink for a desert?")
    assert "rough_options" in codes(state)
    question = standing_of(state).question
    assert question is not None
    assert [option.text for option in question.decision.options] == ["Do it step by step."]


@pytest.mark.requirement("Z-22")
def test_a_position_of_its_own_is_voted_on_in_the_third_round() -> None:
    acts: dict[str, Act] = {
        "meta-panel": design(rounds=3),
        "2/critique/analyst": lambda r: critique(
            r, position="Drink water.", votes=[vote("own", before="own")]
        ),
    }
    table = adaptive(acts)
    state = hold(table)
    assert [o.text for o in state.tabled[-1].decisions[0].options] == ["yes", "no", "Drink water."]
    assert "o3: Drink water." in prompt_of(table, "3/critique/advocate").user
    assert state.verdict is not None


@pytest.mark.requirement("A-58", "Z-22")
def test_stage_two_votes_and_neither_writer_nor_analysts_are_counted() -> None:
    two = design("sequential", 1, [("Writer", OPUS), ("Other", CODEX)], [("Editor", GROK)], GEMINI)
    acts: dict[str, Act] = {
        "meta-panel": two,
        "second-stage/editor": lambda r: answer(r, choice="o2"),
    }
    question = standing_of(hold(adaptive(acts))).question
    assert question is not None
    assert [seat.participant for seat in question.seats] == ["writer", "other", "editor"]
    assert question.reason == "2 of 3."
    assert [seat.independent for seat in question.seats] == [True, True, False]


# The verdict


@pytest.mark.requirement("Z-08", "I-31", "A-73")
def test_the_verdict_cites_turns_and_calls_unknown_sources_unverified() -> None:
    answer = "Tea, as [1/answer/analyst] shows."
    state = hold(adaptive({"0/synthesis/": synthesis(Answer=answer, Sources="https://made.up/x")}))
    assert state.verdict is not None
    assert state.verdict.cites == ("1/answer/analyst",)
    assert state.verdict.sources == ("https://made.up/x (unverified)",)
    assert state.verdict.author == SONNET


@pytest.mark.requirement("Z-08")
@pytest.mark.parametrize(
    ("quote", "flagged"),
    [("Reasoning in 1/answer/analyst.", False), ("Nobody here ever said such a thing", True)],
)
def test_a_quotation_that_nobody_said_is_flagged(quote: str, flagged: bool) -> None:
    state = hold(adaptive({"0/synthesis/": synthesis(Answer=f"As was said, “{quote}”.")}))
    assert state.verdict is not None
    assert ("[not found]" in state.verdict.flags) is flagged
    assert ("**Flags:** [no citations] [not found]" in delivery(state, "0")) is flagged


@pytest.mark.requirement("I-32")
def test_who_stands_alone_stays_visible_although_the_synthesis_forgets_it() -> None:
    alone: dict[str, Any] = {"position": "No tea.", "votes": [vote("o2")]}
    acts: dict[str, Act] = {
        "answer/contrarian": lambda r: answer(r, position="No tea.", choice="o2"),
        "critique/contrarian": lambda r: critique(r, 1, **alone),
    }
    state = hold(adaptive(acts))
    assert state.verdict is not None
    (dissent,) = state.verdict.dissent
    assert (dissent.participant, dissent.turn_id) == ("contrarian", "2/critique/contrarian")
    assert "- Contrarian, round 2: No tea." in delivery(state, "0")


@pytest.mark.requirement("Z-24")
def test_a_synthesis_against_the_count_is_written_once_more_and_then_called_so() -> None:
    wrong = synthesis(Answer="No: drink no tea [1/answer/analyst].")
    acts: dict[str, Act] = {"0/synthesis/": lambda r: spoken(r, wrong, delivers="o2")}
    table = adaptive(acts)
    state = hold(table)
    assert labels(table, state).count("rt-synthesis") == 2
    assert state.verdict is not None
    assert "[contradicts the count]" in state.verdict.flags
    text = delivery(state, "0")
    assert "**⚠ The written answer contradicts the count. Yes, 4 of 4.**" in text
    assert "The table chose “yes” (All 4), the writer delivers “no”." in text


@pytest.mark.requirement("A-75", "Z-24")
@pytest.mark.parametrize("text", ["I'm sorry, but I can't help with that.", "asdf"])
def test_a_synthesiser_that_refuses_or_babbles_has_failed(text: str) -> None:
    table = adaptive({"0/synthesis/": lambda _: text}, cast=Cast(default="test/host"))
    state = hold(table)
    assert state.verdict is not None
    assert (state.verdict.method, state.verdict.author) == ("written", "test/host")
    assert "bias_risk" in codes(state)


@pytest.mark.requirement("A-73", "A-74")
def test_the_synthesiser_gets_every_last_position_the_criticism_and_the_sources() -> None:
    table = adaptive(search=Finder(HIT))
    hold(table)
    user = prompt_of(table, "0/synthesis/synthesiser").user
    positions = user.split("Where everybody stands at the end, whole:")[1]
    for who in DEBATERS:
        assert f"Criticism in 2/critique/{who}." in user
        assert f"Updated position in 2/critique/{who}." in positions
    assert "Declared position: Do it step by step." in positions
    assert HIT.url in user
    assert "d1, consensus: All 4. o1 prevails." in user


def test_the_options_of_the_command_line_are_declared() -> None:
    spec = procedure_spec("adaptive")
    assert {each.name for each in described(spec.options)} == {
        *("debate", "build", "redteam", "vote", "quick", "validate", "choices"),
        *("models", "host", "experts", "seats", "rounds", "context_from", "session"),
    }


def test_the_html_report_shows_the_run() -> None:
    state: State = hold(adaptive(cast=Cast()))
    page = html_report(state, delivery(state, "0"))
    assert all(f"1/answer/{who}" in page for who in DEBATERS)
