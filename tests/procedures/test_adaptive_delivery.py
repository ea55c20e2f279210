"""What an adaptive run delivers: the answer with its META section, votes, and the result file."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from roundtable.core.state import State
from roundtable.procedures import procedure_spec
from roundtable.procedures.adaptive.ballots import choose
from roundtable.procedures.adaptive.verdict import UNVERIFIED_QUOTE
from roundtable.surfaces.files import write_outputs
from roundtable.surfaces.prior import prior_synthesis
from roundtable.views.adaptive import delivery, outputs, result_document
from roundtable.views.report_html import html_report
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
    critique,
    design,
    hold,
    scored,
    synthesis,
)
from .council_table import sections

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
        "Drink tea.\n\n"
        "**Confidence:** High\n"
        "**Agreement:** All are thirsty.\n"
        "**Dissent:** none\n\n"
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
    state = hold(adaptive({"meta-panel": two}), "Build a tea house", options={"build": True})
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
        "synthesis": "Drink tea.",
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
    assert json.loads(first.read_text("utf-8"))["synthesis"] == "Drink tea."


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
def test_a_missing_result_only_warns() -> None:
    state = hold(adaptive(), options={"quick": True, "context_from": "nothing"})
    assert state.status == "concluded"
    assert "goes on without it" in delivery(state, "0")


# Votes


def voting(**choices: str) -> dict[str, Act]:
    acts: dict[str, Act] = {}
    for letter, choice in choices.items():
        who = f"voter-{letter}"
        acts[f"answer/{who}"] = sections(Position="x", Vote="Coffee", **{"SELF-DIGEST": "x"})
        acts[f"critique/{who}"] = lambda r, c=choice: critique("x", scored(r), vote=c)  # type: ignore[misc]
    return acts


@pytest.mark.requirement("A-93", "Z-03", "I-32")
def test_a_vote_is_counted_and_the_minority_stays_visible() -> None:
    acts = voting(a="Tea", b="**tea**", c="I choose tea.", d="Coffee")
    acts["meta-panel"] = DEAD
    state = hold(adaptive(acts), "Choose tea or coffee")
    text = delivery(state, "0")
    assert "## Votes\n\n**Winner: Tea (3 of 4)**\n\n" in text
    assert "- Tea: 3 (Voter A, Voter B, Voter C)\n- Coffee: 1 (Voter D)" in text
    assert state.verdict is not None
    (dissent,) = state.verdict.dissent
    assert dissent.participant == "voter-d"
    assert dissent.position.startswith("chooses Coffee: ")
    # The first round is kept: everybody was for coffee before they talked.
    assert [b.position for b in state.ballots if b.round == 1] == ["Coffee"] * 4


@pytest.mark.requirement("A-93")
def test_a_tie_is_called_a_tie() -> None:
    acts = voting(a="Tea", b="Tea", c="Coffee", d="Coffee")
    acts["meta-panel"] = DEAD
    assert "**Tie: Tea, Coffee (2 of 4 each)**" in delivery(
        hold(adaptive(acts), "Choose tea or coffee"), "0"
    )


@pytest.mark.requirement("A-93")
@pytest.mark.parametrize(
    ("topic", "said", "chosen"),
    [
        ("Tea or coffee?", ["Tea", "tea.", '"TEA"', ""], ["Tea", "Tea", "Tea", ""]),
        ("Choose", ["Postgres", "Postgres, for its JSON"], ["Postgres", "Postgres"]),
        (
            "Which? (A) Tea (B) Coffee",
            ["A", "Option B", "(a)", "tea"],
            ["Tea", "Coffee", "Tea", "Tea"],
        ),
        ("Choose", ["Tea", "Green tea", "Tea ceremony"], ["Tea", "Green tea", "Tea ceremony"]),
        ("Choose", ["- Vote: Tea\nbecause", "\n\n"], ["Tea", ""]),
    ],
)
def test_one_choice_has_one_spelling(topic: str, said: list[str], chosen: list[str]) -> None:
    assert choose(topic, said) == chosen


def test_nobody_votes_outside_the_vote_mode() -> None:
    state = hold(adaptive())
    assert "## Votes" not in delivery(state, "0")
    assert all(not ballot.ranking for ballot in state.ballots)


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
    assert (UNVERIFIED_QUOTE in state.verdict.flags) is flagged


@pytest.mark.requirement("I-32")
def test_who_agrees_with_nobody_stays_visible_although_the_synthesis_forgets_it() -> None:
    acts: dict[str, Act] = {"critique/contrarian": lambda r: critique("x", scored(r, 1))}
    state = hold(adaptive(acts))
    assert state.verdict is not None
    (dissent,) = state.verdict.dissent
    assert (dissent.participant, dissent.turn_id) == ("contrarian", "2/critique/contrarian")
    assert "Contrarian (2/critique/contrarian)" in delivery(state, "0")


def test_the_kit_takes_the_flags_of_the_command_line() -> None:
    spec = procedure_spec("adaptive")
    assert set(spec.flags) == {
        *("debate", "build", "redteam", "vote", "quick", "panel", "validate"),
        *("context_from", "session"),
    }


def test_the_html_report_shows_the_run() -> None:
    state: State = hold(adaptive(cast=Cast()))
    page = html_report(state, delivery(state, "0"))
    assert all(f"1/answer/{who}" in page for who in DEBATERS)
