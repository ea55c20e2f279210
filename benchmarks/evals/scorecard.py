"""The rows that evals print: what we reach, beside what is reached without us."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """One figure of one data set, with everything that it must be compared with."""

    dataset: str
    metric: str
    n: int
    ours: float | None
    coverage: float | None = None
    """The share of rows on which we answer at all; None where that is all of them."""
    majority: float | None = None
    """What always giving the commonest answer reaches."""
    embedding: float | None = None
    """What one cosine and one threshold reach, on all rows."""
    embedding_covered: float | None = None
    """The same on the rows of which it is surest, as many as we answer."""
    published: str = ""
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def ok(self) -> bool:
        if self.ours is None:
            return self.at_least is None
        if self.at_least is not None and self.ours < self.at_least:
            return False
        return self.at_most is None or self.ours <= self.at_most

    @property
    def goal(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return "" if self.at_most is None else f"≤ {self.at_most:g}"


HEADINGS = (
    "data set", "metric", "n", "ours", "coverage", "majority", "cosine", "cos@cov", "goal", "",
    "published / note",
)  # fmt: skip


def table(scores: Iterable[Score]) -> str:
    """The scorecard as aligned text."""
    rows = [HEADINGS, *(_cells(score) for score in scores)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i in (0, 1, 9, 10) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _cells(score: Score) -> tuple[str, ...]:
    has_goal = bool(score.goal)
    return (
        score.dataset,
        score.metric,
        str(score.n),
        _number(score.ours),
        _number(score.coverage),
        _number(score.majority),
        _number(score.embedding),
        _number(score.embedding_covered),
        score.goal,
        ("ok" if score.ok else "MISSED") if has_goal else "",
        " · ".join(part for part in (score.published, score.note) if part),
    )


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 1 and value == round(value) else f"{value:.3f}"
