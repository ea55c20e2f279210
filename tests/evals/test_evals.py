"""The evals: they run on a slice of the real data, and what they promise holds on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.evals import debates, pairs
from benchmarks.evals.__main__ import main
from benchmarks.evals.data import DEFAULT, Data
from benchmarks.evals.scorecard import Score, table

pytest.importorskip("wordllama", reason="wordllama is not installed")

WITH_DATA = pytest.mark.skipif(
    not DEFAULT.is_dir(), reason=f"the measured data is not at {DEFAULT}"
)


@WITH_DATA
@pytest.mark.requirement("Z-02")
def test_the_extractor_is_right_where_it_answers() -> None:
    scores = pairs.run(Data(limit=500))
    assert scores
    assert [score.dataset for score in scores if not score.ok] == []
    for score in scores:
        if score.at_least is not None:
            assert score.ours is not None
            assert score.majority is not None
            assert score.ours > score.majority
            assert score.coverage is not None
            assert score.coverage > 0


@WITH_DATA
@pytest.mark.requirement("Z-02", "B-42")
def test_no_debate_with_opposite_final_answers_is_called_a_consensus() -> None:
    scores = debates.run(Data(limit=60))
    assert [score for score in scores if not score.ok] == []
    wrong = [score for score in scores if score.metric.endswith("opposite called consensus")]
    assert len(wrong) == 3
    assert {score.ours for score in wrong} == {0.0}


def test_absent_data_is_named_and_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path / "nowhere")]) == 0
    assert "nothing is measured" in capsys.readouterr().out
    assert main(["pairs", "debates", "--data", str(tmp_path)]) == 0
    assert "no data for it" in capsys.readouterr().out


def test_an_unknown_eval_is_refused_with_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["tarot"])
    assert "pairs, debates" in capsys.readouterr().err


def test_the_scorecard_says_which_goals_are_missed() -> None:
    good = Score("set", "precision", 10, 0.9, at_least=0.8)
    bad = Score("set", "false consensus", 10, 1.0, at_most=0)
    assert (good.ok, bad.ok) == (True, False)
    assert "MISSED" in table([good, bad])
    assert Score("set", "told", 10, None).ok
