"""The result document: everything a program may want to know, as plain JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roundtable.core.state import State
from roundtable.views.result import result
from tests.procedures import adaptive_table, deliberation_table, meeting_table
from tests.procedures.deliberation_table import (
    ONE,
    QUESTION,
    ROUND_1,
    SPLIT,
    THREE,
    TWO,
    synthesis,
)
from tests.procedures.everywhere import obedient
from tests.procedures.test_faults_everywhere import CASES

FLIPPED = {ONE: ("o1", "o2"), TWO: ("o2", "o2"), THREE: ("o1", "o2")}


def document(state: State) -> dict[str, Any]:
    """As it arrives: through JSON and back."""
    found: dict[str, Any] = json.loads(json.dumps(result(state), allow_nan=False))
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_procedure_has_the_same_keys(name: str) -> None:
    found = document(CASES[name].ask(obedient))
    assert found.keys() >= {
        "points",
        "stances",
        "scores",
        "rounds",
        "ballots",
        "tallies",
        "ending",
        "control_group",
        "changes_of_mind",
        "conformity",
        "checks",
        "notes",
    }
    assert [row["round"] for row in found["rounds"]] == list(range(1, len(found["rounds"]) + 1))
    seats = set(CASES[name].seats)
    assert all(set(row["spoke"]) == seats and row["missing"] == [] for row in found["rounds"])


@pytest.mark.requirement("Z-02", "Z-03", "Z-04")
def test_a_vote_that_talk_turned_has_its_control_group_and_its_changes() -> None:
    found = document(deliberation_table.deliberate(FLIPPED, topic=QUESTION))
    first, last = found["tallies"]
    assert (first["round"], first["first_choices"]) == (1, {"o1": 2, "o2": 1})
    assert (last["round"], last["first_choices"]) == (2, {"o2": 3})
    assert set(map(tuple, last["winners"].values())) == {("o2",)}
    assert last["options"] == {"o1": "yes", "o2": "no"}
    assert found["control_group"] == {
        "round": 1,
        "without_talk": ["o1"],
        "after_talk": ["o2"],
        "talk_changed_the_result": True,
    }
    moved = [c for c in found["changes_of_mind"] if c["on"] == "vote"]
    assert [(c["participant"], c["before"], c["after"], c["round"]) for c in moved] == [
        (ONE, "o1", "o2", 2),
        (THREE, "o1", "o2", 2),
    ]
    assert all(c["capitulation"] for c in moved), "they named no argument"
    assert (found["end"]["end"], found["end"]["agreement"]) == ("hollow", 1.0)
    assert (found["ending"]["end"], found["ending"]["by"]) == ("hollow", "votes")
    assert found["ending"]["agreement"] == found["end"]["agreement"]


def test_without_a_second_vote_nothing_is_said_of_talk() -> None:
    found = document(deliberation_table.deliberate(topic=QUESTION, options={"quick": True}))
    assert found["control_group"] == {
        "round": 1,
        "without_talk": ["o1"],
        "after_talk": None,
        "talk_changed_the_result": None,
    }


@pytest.mark.requirement("Z-02")
def test_points_carry_their_stances_and_rounds_their_measures() -> None:
    stances = ["p1: disagree", "p2: agree"]
    said = {
        "choice": "o2",
        "stances": [
            dict(zip(("id", "stance"), s.split(": "), strict=True)) | {"text": "dear"}
            for s in stances
        ],
    }
    found = document(deliberation_table.deliberate({**SPLIT, TWO: ("o2", said)}, topic=QUESTION))
    point = found["points"][0]
    assert (point["id"], point["raised_by"], point["turn_id"]) == ("p1", ONE, ROUND_1[0])
    assert point["stances"][ONE]["position"] == "agree"
    assert point["stances"][TWO] == {
        "position": "disagree",
        "text": "dear",
        "round": 2,
        "turn_id": f"2/critique/{TWO}",
    }
    assert (point["standing"], point["rejected_by"]) == ("disputed", [TWO])
    # Who is asked about a point is known to its prompt alone.
    assert "asked" not in point
    assert TWO in point["spoke_since"]
    second = found["rounds"][1]
    assert "critique" in second["stages"]
    assert second["disagreement_points"] >= 1
    assert second["agreement"] == found["end"]["agreement"]
    assert {s["point_id"] for s in found["stances"]} >= {"p1", "p2", "p3"}


@pytest.mark.requirement("A-62", "A-63")
def test_scores_are_a_matrix_with_its_percentage() -> None:
    table = adaptive_table.adaptive(
        {"critique/analyst": adaptive_table.undeclared("Nonsense.\n\nSCORES:\n- Advocate: lots")}
    )
    (scores,) = document(adaptive_table.hold(table))["scores"]
    assert scores["round"] == 2
    assert scores["matrix"]["advocate"] == {"devils-advocate": 4, "analyst": 4, "contrarian": 4}
    assert set(scores["inferred"]) == {"analyst"}
    assert scores["consensus_pct"] == pytest.approx(80)


@pytest.mark.requirement("Z-08")
def test_the_verdicts_citations_and_quotations_are_checked() -> None:
    answer = f"As one says, “the view of {ONE} in plain words” [{ROUND_1[0]}]. A “mere term”."
    turns: dict[str, Any] = {"synthesis": synthesis(Answer=answer)}
    checks = document(deliberation_table.deliberate(turns=turns, topic=QUESTION))["checks"]
    assert checks["cited_turns"] == [ROUND_1[0]]
    assert checks["unknown_turns"] == []
    assert checks["quotations"] == [
        {"words": f"the view of {ONE} in plain words", "turn_id": ROUND_1[0]}
    ]
    assert checks["dissent_kept"] == 1


def test_a_meeting_shows_the_convergence_of_each_round() -> None:
    said = meeting_table.said
    turns: dict[str, Any] = {
        "1/discussion/arch": said("NEW: One database is enough"),
        "1/discussion/back": said("AGREE p1: yes"),
        "1/discussion/prod": said("DISAGREE p1: no"),
    }
    state = meeting_table.hold(meeting_table.meeting(turns), options={"max_rounds": 1})
    found = document(state)
    (row,) = found["rounds"]
    assert (row["consensus_points"], row["disagreement_points"], row["new_points"]) == (0, 1, 1)
    assert row["convergence_score"] == 0
    assert (found["ending"]["by"], found["ending"]["end"]) == ("votes", None)


def test_a_discussion_that_never_began_has_no_positions_and_no_checks() -> None:
    state = deliberation_table.deliberate(turns={"answer": deliberation_table.DEAD}, topic=QUESTION)
    found = document(state)
    assert found["status"] == "failed"
    assert (found["ending"], found["control_group"], found["checks"]) == (None, None, None)
    assert found["rounds"][0]["missing"] == [ONE, TWO, THREE]
