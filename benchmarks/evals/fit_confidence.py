"""Fit the constants of `core/confidence.py`: `python -m benchmarks.evals.fit_confidence`.

Prints them; they are copied by hand, rounded to two digits, so that a change is seen in review.
Only questions that are not kept untouched are used.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from .answers import SETS, models_of, questions_of
from .confidence import Case, cases, fit, matrix, truth, untouched, weights
from .data import DEFAULT, Data


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT)
    data = Data(parser.parse_args(arguments).data)
    known = [c for c in cases(data) if c.facts.seated > 1 and not untouched(c)]
    if not known:
        print(f"No data at {data.root}: nothing is fitted.")
        return 0
    names = ("BASE", "INDEPENDENT", "MOVED", "EFFECTIVE", "TYPE open", "TYPE yes_no")
    fitted = fit(known)
    for name, value in zip(names, fitted, strict=True):
        print(f"{name} = {value:.2f}")
    print(f"BAND = {_spread(known, fitted):.2f}")
    for kind, share in _alone(data, known).items():
        print(f"ALONE {kind} = {share:.2f}")
    return 0


def _spread(known: list[Case], fitted: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """How far four of five sets lie from the fit at most, in log odds."""
    found = []
    for source in sorted({c.source for c in known}):
        inside = [c for c in known if c.source == source]
        x, y, w = matrix(inside), truth(inside), weights(inside)
        shift = 0.0
        for _ in range(40):  # a little ridge, for sets that are nearly all right
            p = 1 / (1 + np.exp(-(x @ fitted + shift)))
            shift += ((w * (y - p)).sum() - shift) / ((w * p * (1 - p)).sum() + 1)
        print(f"  {source}: {shift:+.2f}")
        found.append(abs(shift))
    return float(np.quantile(found, 0.8))


def _alone(data: Data, known: list[Case]) -> dict[str, float]:
    """How often one model alone was right, each set of recorded answers alike."""
    shares: dict[str, list[float]] = {}
    allowed = {c.question for c in known}
    for each in SETS:
        rows = None if each.suffix else data.rows("answers", each.file)
        if not rows:
            continue
        right = [
            question.answers.get(model) == question.gold
            for question in questions_of(each, rows)
            if str(question.row["id"]) in allowed
            for model in models_of(rows)
        ]
        kind = "choice" if each.file == "mmlu_pro" else "open"
        shares.setdefault(kind, []).append(sum(right) / len(right))
    return {kind: sum(each) / len(each) for kind, each in shares.items()}


if __name__ == "__main__":
    sys.exit(main())
