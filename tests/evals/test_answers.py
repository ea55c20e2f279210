"""Recorded answers: our default is not below plain majority, and grading is like the recorded."""

from __future__ import annotations

import pytest

pytest.importorskip("wordllama", reason="wordllama is not installed")

from benchmarks.evals import answers, judges
from benchmarks.evals.answers import (
    AnswerSet,
    credit,
    default_credits,
    graded,
    interval,
    majority_credits,
    mean,
    models_of,
    questions_of,
    without_quotes,
)
from benchmarks.evals.data import DEFAULT, Data

WITH_DATA = pytest.mark.skipif(
    not DEFAULT.is_dir(), reason=f"the measured data is not at {DEFAULT}"
)


@WITH_DATA
@pytest.mark.requirement("Z-03")
@pytest.mark.parametrize("each", answers.SETS, ids=lambda each: each.name)
def test_the_default_is_not_below_plain_majority(each: AnswerSet) -> None:
    rows = Data().rows("answers", each.file)
    if not rows:
        pytest.skip(f"{each.file} is not there")
    questions, models = questions_of(each, rows), models_of(rows)
    ours = mean(default_credits(questions, models))
    assert ours >= mean(majority_credits(questions, models)) - 1e-9


@WITH_DATA
@pytest.mark.requirement("Z-07")
def test_stopping_when_the_first_are_unanimous_saves_calls_and_texts_do_not_vote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answers, "PANELS", 4)
    scores = answers.run(Data(limit=12))
    same = [score for score in scores if score.metric.startswith("exact match")]
    assert {score.ours for score in same} == {1.0}
    saved = [score.ours for score in scores if score.metric.startswith("calls saved")]
    assert len(saved) == 2 * len(answers.SETS)
    assert all(share is not None and share > 0 for share in saved)
    by_text = [score for score in scores if score.embedding is not None]
    assert by_text
    for score in by_text:
        assert score.ours is not None
        assert score.embedding is not None
        assert score.ours >= score.embedding


@WITH_DATA
@pytest.mark.requirement("Z-03")
def test_weighted_judges_are_not_below_the_sum_of_their_votes() -> None:
    scores = judges.run(Data())
    assert len(scores) == 4
    assert all(score.ok for score in scores)


def test_answers_are_compared_as_the_grading_does() -> None:
    assert graded(" 1,234 ") == graded("1234")
    assert graded("$\\boxed{17}$") == "\\boxed{17}"
    assert graded("\\boxed{17}") == graded("17")
    assert graded("True") == graded("true")
    assert graded("[10, 8]") == "[108]"
    assert graded("'no'") != graded("no")
    assert graded(None) is graded("  ") is None
    assert without_quotes("'No'") == without_quotes("no")
    assert without_quotes("''") == ""
    assert without_quotes(None) is None


def test_a_tie_is_worth_its_share_and_intervals_are_the_same_every_time() -> None:
    assert credit(["A", "B"], "A") == 0.5
    assert credit([], "A") == 0
    assert interval([0.0, 1.0] * 20) == interval([0.0, 1.0] * 20)


def test_without_data_nothing_is_measured() -> None:
    nowhere = Data(DEFAULT / "nowhere")
    assert answers.run(nowhere) == []
    assert judges.run(nowhere) == []
