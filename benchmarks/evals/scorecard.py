"""The rows that evals print: what we reach, beside what is reached without us."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


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
    tolerance: float = 0.0
    """How far a goal may be missed before the row fails."""
    untouched: bool = False
    """Whether nothing was tuned on these rows."""
    note: str = ""

    @property
    def ok(self) -> bool:
        if self.ours is None:
            return self.at_least is None and self.at_most is None
        if self.at_least is not None and self.ours < self.at_least - self.tolerance:
            return False
        return self.at_most is None or self.ours <= self.at_most + self.tolerance

    @property
    def short(self) -> bool:
        """Whether the goal is missed, within its tolerance or not."""
        return not replace(self, tolerance=0.0).ok

    @property
    def goal(self) -> str:
        if self.at_least is None and self.at_most is None:
            return ""
        bound = f"≤ {self.at_most:g}" if self.at_least is None else f"≥ {self.at_least:g}"
        return f"{bound} ± {self.tolerance:g}" if self.tolerance else bound


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
        _kept(score),
        " · ".join(
            part
            for part in (
                "nothing tuned here" if score.untouched else "",
                score.published,
                score.note,
            )
            if part
        ),
    )


def _kept(score: Score) -> str:
    """A row without a goal is for information and can fail nothing."""
    if not score.goal:
        return "info"
    if not score.ok:
        return "MISSED"
    return "short" if score.short else "ok"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 1 and value == round(value) else f"{value:.3f}"
