"""What five rounds leave behind: the delivery, the two reports, the figures."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.state import State
from roundtable.procedures import procedure_spec
from roundtable.surfaces.files import write_outputs
from roundtable.views.five_round.statistics import calls_line, statistics

from .five_round_table import (
    AGENTS,
    DEAD,
    IDS,
    TOPIC,
    ZH_AGENTS,
    ZH_TOPIC,
    arbitration,
    five_rounds,
    hold,
    revision,
    stage_of,
)

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
HOST = "0/arbitration/host"


def files(state: State) -> tuple[Any, str]:
    """The JSON report as data, and the Markdown report."""
    data, text = procedure_spec("five-round").outputs(state, NOW)
    assert (data.path.endswith(".json"), text.path.endswith(".md")) == (True, True)
    return json.loads(data.text), text.text


@pytest.mark.requirement("B-60", "B-12", "B-06")
def test_a_run_of_the_benchmarks_shape_reproduces_its_counts() -> None:
    # 3 experts, 15 risks, 9 defects, 13 suggestions, 4 rulings: two experts change four things
    # each, and one changes five.
    def changes(request: Any) -> str:
        extra = 3 if stage_of(request)[2] == IDS[0] else 2
        rows = "".join(f"\n| step {n} | step {n + 10} | fewer delays |" for n in range(extra))
        return revision(request).replace("fewer hand-overs |", "fewer hand-overs |" + rows)

    table = five_rounds({"4/revision": changes})
    state = hold(table)
    found = statistics(state)
    assert (found.experts, found.risks, found.defects) == (3, 15, 9)
    assert (found.suggestions, found.rulings, found.weeks) == (13, 4, 8)
    assert found.calls == len(table.requests) == 14
    assert found.words > 8_500
    assert found.actionability_pct == 100
    data, text = files(state)
    assert data["statistics"]["risks"] == 15
    for line in (
        "| Risks | 15 |",
        "| Defects | 9 |",
        "| Modification suggestions | 13 |",
        "| Rulings with rationale | 4 |",
        "| Weeks | 8 |",
    ):
        assert line in text


@pytest.mark.requirement("B-06")
def test_the_report_states_the_true_number_of_calls_and_what_made_it_up() -> None:
    table = five_rounds({"1/proposal/product-expert": "Too short."})
    state = hold(table)
    found = statistics(state)
    assert found.calls == len(table.requests) == 16
    assert calls_line(found) == (
        "16 calls: 13 first asked, 1 to list what can be voted on, 2 asked again for a missed "
        "requirement"
    )
    assert calls_line(found) in files(state)[1]


@pytest.mark.requirement("B-55", "X-28")
def test_the_json_report_holds_everything_as_data() -> None:
    state = hold(five_rounds())
    data, _ = files(state)
    assert (data["topic"], data["status"], data["depth"]) == (TOPIC, "concluded", "full")
    assert [e["name"] for e in data["experts"]] == list(AGENTS)
    assert [r["number"] for r in data["rounds"]] == [1, 2, 3, 4, 5]
    assert [len(r["speeches"]) for r in data["rounds"]] == [3, 3, 3, 3, 1]
    assert (len(data["risks"]), len(data["defects"])) == (15, 9)
    assert all(each["support"] for each in (*data["risks"], *data["defects"]))
    assert len(data["points"]) == 9
    assert [d["id"] for d in data["disputes"]] == [r["dispute"] for r in data["rulings"]]
    assert [t["week"] for t in data["plan"]] == [f"W{n}" for n in range(1, 9)]
    assert len(data["top_risks"]) == 3
    assert data["force_arbitrate"] is True
    assert [c["round"] for c in data["convergence"]] == [1, 2, 3, 4]
    assert set(data["convergence"][1]) >= {
        "overlap",
        "consensus_points",
        "divergence",
        "convergence_score",
    }
    assert data["actionability"] == {"percent": 100.0, "goal": 90}
    assert data["skipped_rounds"] == []


@pytest.mark.requirement("B-56")
def test_the_markdown_report_has_five_rounds_and_the_plan() -> None:
    state = hold(five_rounds())
    _, text = files(state)
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[:7] == [
        "## Decision",
        "## Experts",
        "## Round 1: Independent Proposal",
        "## Round 2: Cross-Reference",
        "## Round 3: Deep Critique",
        "## Round 4: Debate & Revise",
        "## Round 5: Host Summary",
    ]
    assert "> | W8 | step 8 | Team 8 | paper 8 | 8 days | Friday of W8 |" in text
    for speech in state.speeches:
        assert (f"turn {speech.turn_id}" in text) is (speech.stage != "clerk")


@pytest.mark.requirement("B-46", "X-08", "B-56")
def test_the_report_says_which_rounds_were_skipped_and_why() -> None:
    state = hold(five_rounds(chinese=True), ZH_TOPIC, agents=ZH_AGENTS)
    data, text = files(state)
    assert [s["round"] for s in data["skipped_rounds"]] == ["R4"]
    assert text.count("*Skipped: R4 skipped: divergence 0.00 is below 0.05.*") == 1
    assert "## Round 5: Host Summary" in text
    assert "**R4 Debate & Revise skipped:**" in procedure_spec("five-round").deliver(state, "1")


@pytest.mark.requirement("B-53")
def test_an_extracted_summary_is_marked_so_everywhere() -> None:
    state = hold(five_rounds({HOST: DEAD}))
    data, text = files(state)
    assert data["verdict"]["method"] == "extractive"
    assert "*Extracted from the rounds, not written by a model.*" in text
    assert "(extracted, not written by a model)" in procedure_spec("five-round").deliver(state, "1")


@pytest.mark.requirement("B-19")
def test_a_plan_below_the_goal_says_so_in_the_report() -> None:
    state = hold(five_rounds({HOST: lambda r: arbitration(r).replace("| Team 1 |", "| TBD |")}))
    data, text = files(state)
    assert data["actionability"]["percent"] == 87.5
    assert (
        "88 % of the tasks have an owner, a deliverable and a date, below the goal of 90 %" in text
    )


@pytest.mark.requirement("I-32")
def test_the_lone_dissenter_is_in_the_delivery_and_in_the_reports() -> None:
    state = hold(five_rounds())
    told = procedure_spec("five-round").deliver(state, "1")
    assert "- Engineering Expert, round 4: Build it." in told
    data, _ = files(state)
    assert data["verdict"]["dissent"][0]["participant"] == IDS[0]


@pytest.mark.requirement("B-55", "B-59", "I-18", "I-19")
@pytest.mark.parametrize(
    "topic", [TOPIC, ZH_TOPIC, "../../etc/passwd proposal?", "Plan: a/b\\c * <x>", "🚀🚀 proposal"]
)
def test_files_have_safe_names_in_their_place(tmp_path: Path, topic: str) -> None:
    state = hold(five_rounds(), topic, depth="pre-ac")
    written = write_outputs(state, tmp_path)
    assert [p.suffix for p in written] == [".json", ".md"]
    assert all(p.parent == tmp_path / "data" / "roundtable" for p in written)
    again = write_outputs(state, tmp_path)
    assert not set(again) & set(written)


@pytest.mark.requirement("B-59")
def test_files_appear_only_in_the_folder_that_was_chosen(tmp_path: Path) -> None:
    state = hold(five_rounds(), depth="pre-ac")
    (tmp_path / "workspace").mkdir()
    write_outputs(state, tmp_path / "workspace", folder=tmp_path / "reports" / "mine")
    assert sorted(
        p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()
    ) == [
        "reports/mine/smart-customer-service-technical-proposal.json",
        "reports/mine/smart-customer-service-technical-proposal.md",
    ]


def test_a_failed_discussion_leaves_no_report() -> None:
    state = hold(five_rounds({"": DEAD}))
    assert procedure_spec("five-round").outputs(state, NOW) == ()
    assert procedure_spec("five-round").deliver(state, "1") == ""


@pytest.mark.requirement("I-20")
def test_no_report_shows_what_looks_like_a_key() -> None:
    key = "sk-ant-abcdefghijklmnop1234"
    state = hold(five_rounds({HOST: lambda r: arbitration(r) + f"\n{key}"}), f"{TOPIC} {key}")
    data, text = files(state)
    assert key not in text
    assert key not in json.dumps(data)
    assert key not in procedure_spec("five-round").deliver(state, "1")


@pytest.mark.requirement("B-65")
def test_a_chinese_report_counts_the_same() -> None:
    state = hold(five_rounds(chinese=True), ZH_TOPIC, agents=ZH_AGENTS, strict_rounds=True)
    found = statistics(state)
    assert (found.risks, found.defects, found.weeks, found.actionability_pct) == (15, 9, 8, 100)
    assert found.suggestions == 3
