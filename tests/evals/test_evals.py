"""The evals: they run on a slice of the real data, and what they promise holds on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.evals import confidence, debates, voters
from benchmarks.evals.__main__ import main
from benchmarks.evals.data import DEFAULT, Data
from benchmarks.evals.scorecard import Score, table
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.standing import DecisionStanding

pytest.importorskip("wordllama", reason="wordllama is not installed")

WITH_DATA = pytest.mark.skipif(
    not DEFAULT.is_dir(), reason=f"the measured data is not at {DEFAULT}"
)


@WITH_DATA
@pytest.mark.requirement("Z-02", "B-42")
def test_no_debate_recorded_as_divided_is_called_a_consensus() -> None:
    scores = debates.run(Data(limit=60))
    assert [score for score in scores if not score.ok] == []
    wrong = [score for score in scores if score.metric == "opposite called consensus"]
    assert len(wrong) == 4
    assert {score.ours for score in wrong} == {0.0}


@WITH_DATA
@pytest.mark.requirement("Z-02")
def test_the_rows_on_debates_fail_for_a_program_that_sees_agreement_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = debates.end_of

    def agreed(*rounds: Any, **how: Any) -> DecisionStanding:
        return replace(named(*rounds, **how), end="consensus", delivered="b")

    monkeypatch.setattr(debates, "end_of", agreed)
    missed = {score.metric for score in debates.run(Data(limit=12)) if not score.ok}
    assert {"opposite called consensus", "position named = recorded majority"} <= missed


@pytest.mark.requirement("Z-02", "Z-25")
def test_recorded_answers_end_as_declared_votes_do() -> None:
    moved = [{"a": "x", "b": "x", "c": "y"}, {"c": "x"}]
    assert debates.end_of(moved).end == "consensus"
    assert debates.end_of(moved, argued=False).end == "hollow"
    assert debates.end_of(moved[:1]).end == "majority"
    unread = debates.end_of([*moved, {"b": None}])
    assert (unread.end, unread.answer, unread.abstained) == ("majority", "x", ("b",))
    assert debates.end_of([{"a": "x"}]).end is None


ROUNDS = st.lists(
    st.fixed_dictionaries(dict.fromkeys("abcd", st.sampled_from(["A", "B", "C", None]))),
    min_size=1,
    max_size=5,
)


@given(ROUNDS, st.permutations("abcd"))
def test_a_consensus_is_named_exactly_when_all_hold_the_same_at_the_end(
    rounds: list[dict[str, str | None]], order: list[str]
) -> None:
    found = debates.end_of(rounds)
    last = set(rounds[-1].values())
    assert (found.end == "consensus") == (len(last) == 1 and None not in last)
    other = debates.end_of([{who: each[who] for who in order} for each in rounds])
    assert (found.end, found.answer) == (other.end, other.answer)


@pytest.mark.requirement("Z-26")
def test_recorded_copies_of_one_model_are_one_voter() -> None:
    answers = [{"a": "x", "b": "x", "c": "y", "d": "z"}, {"d": "y"}]
    assert debates.end_of(answers).end == "impasse"
    copies = {"a": "one", "b": "one", "c": "two", "d": "three"}
    counted = debates.end_of(answers, models=copies)
    assert (counted.end, counted.answer) == ("majority", "y")


@WITH_DATA
@pytest.mark.requirement("Z-25")
def test_confidence_is_calibrated_on_questions_that_it_was_not_fitted_on() -> None:
    scores = confidence.run(Data())
    assert [score.metric for score in scores if not score.ok] == []
    assert {score.metric for score in scores if score.goal} == {
        "ECE, cross-validated by question",
        "Brier score, cross-validated by question",
        "constants differ from a new fit by",
        "ECE, questions never fitted on",
        "Brier score, questions never fitted on",
    }


@WITH_DATA
@pytest.mark.requirement("Z-26")
def test_panels_with_copies_of_a_model_are_never_below_plurality(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(voters, "PANELS", 5)
    scores = voters.run(Data())
    assert len(scores) == 16
    # Five panels of different models are too few to tell a gain from the draw.
    copied = [score for score in scores if not score.metric.startswith("seven")]
    assert [score for score in copied if not score.ok] == []


def test_a_goal_may_be_missed_by_its_tolerance_and_by_no_more() -> None:
    score = Score("set", "metric", 1, 0.065, at_most=0.06, tolerance=0.01)
    assert (score.ok, score.short, score.goal) == (True, True, "≤ 0.06 ± 0.01")
    assert "short" in table([score])
    missed = replace(score, ours=0.08)
    assert not missed.ok
    assert "MISSED" in table([missed])
    assert "info" in table([Score("set", "metric", 1, 0.5)])
    assert not Score("set", "metric", 0, None, at_most=0.0).ok


def test_absent_data_is_named_and_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path / "nowhere")]) == 0
    assert "nothing is measured" in capsys.readouterr().out
    assert main(["debates", "voters", "confidence", "--data", str(tmp_path)]) == 0
    assert "no data for it" in capsys.readouterr().out


def test_an_unknown_eval_is_refused_with_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["tarot"])
    assert "debates, answers" in capsys.readouterr().err


def test_the_scorecard_says_which_goals_are_missed() -> None:
    good = Score("set", "precision", 10, 0.9, at_least=0.8)
    bad = Score("set", "false consensus", 10, 1.0, at_most=0)
    assert (good.ok, bad.ok) == (True, False)
    assert "MISSED" in table([good, bad])
    assert Score("set", "told", 10, None).ok
