"""Who agrees with whom: a square of cells, each with its figure, darker the more they agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...core.convergence import HIGHEST_SCORE, agreement_pct
from ..opinion_map import OpinionMap
from .canvas import (
    AGREE,
    Canvas,
    column_heading,
    fitted,
    heading_room,
    number,
    overhang,
    plain,
    width,
)

CELL = 44.0
MARGIN = 10
LONGEST = 170.0
"""The room for a name before its row."""
Figure = tuple[float, str]
"""How dark a cell is, 0 to 1, and what stands in it."""


def agreement_matrix_svg(shown: OpinionMap, picture_id: str = "agreement-matrix") -> str:
    """On how many of the points that both took sides on each two participants hold the same."""
    people = shown.participants

    def cell(row: str, column: str) -> Figure | None:
        share = shown.agreement(row, column) if row != column else None
        return None if share is None else (share, f"{share:.0%}".removesuffix("%"))

    return _square(
        Canvas(picture_id, "Agreement between participants, in percent of common points", ""),
        people,
        {who: plain(shown.names[who]) or who for who in people},
        cell,
        "percent",
        symmetric=True,
    )


def scores_svg(
    matrix: Mapping[str, Mapping[str, int]],
    names: Mapping[str, str] | None = None,
    picture_id: str = "score-matrix",
) -> str:
    """The agreement scores, 1 to 5: the row's participant scores the column's."""
    names = names or {}
    people = list(dict.fromkeys([*matrix, *(peer for row in matrix.values() for peer in row)]))
    whole = agreement_pct([score for row in matrix.values() for score in row.values()])
    told = "not known" if whole.value is None else f"{whole.value:.0f} %"

    def cell(row: str, column: str) -> Figure | None:
        score = matrix.get(row, {}).get(column)
        return None if score is None else ((score - 1) / (HIGHEST_SCORE - 1), str(score))

    return _square(
        Canvas(picture_id, f"Agreement scores, 1 to 5; together {told}", ""),
        people,
        {who: plain(names.get(who, who)) or who for who in people},
        cell,
        "of 5",
        symmetric=False,
    )


def _square(
    canvas: Canvas,
    people: Sequence[str],
    names: Mapping[str, str],
    cell: Callable[[str, str], Figure | None],
    unit: str,
    *,
    symmetric: bool,
) -> str:
    if len(people) < 2:
        canvas.description = "There is nothing to compare: it takes two participants."
        canvas.text(MARGIN, 26, "No agreement to show: it takes two participants.")
        return canvas.drawn(2 * MARGIN + 360, 40)
    high, turned = heading_room([names[who] for who in people], CELL)
    left = MARGIN + min(LONGEST, max(width(name) for name in names.values())) + 8
    top = MARGIN + high
    said: list[str] = []
    for n, who in enumerate(people):
        column_heading(canvas, names[who], left + (n + 0.5) * CELL, top, CELL, turned=turned)
        y = top + n * CELL
        label = fitted(names[who], LONGEST)
        canvas.text(left - 8, y + CELL / 2 + 4.5, label, anchor="end", whole=names[who])
        for place, other in enumerate(people):
            _cell(canvas, cell(who, other), left + place * CELL, y)
        seen = people[n + 1 :] if symmetric else [each for each in people if each != who]
        known = [(names[o], found[1]) for o in seen if (found := cell(who, o)) is not None]
        if known:
            figures = ", ".join(f"{other} {figure}" for other, figure in known)
            said.append(f"{names[who]}: {figures}.")
    canvas.description = " ".join([f"Figures in {unit}." if said else "No figures.", *said])
    side = len(people) * CELL
    ends = [
        left + (n + 0.5) * CELL + overhang(names[who], turned=turned)
        for n, who in enumerate(people)
    ]
    return canvas.drawn(max(left + side, *ends) + MARGIN, top + side + MARGIN)


def _cell(canvas: Canvas, figure: Figure | None, x: float, y: float) -> None:
    if figure is None:
        canvas.add(
            f'<path d="M{number(x + CELL / 2 - 4)} {number(y + CELL / 2)}h8" '
            'stroke="currentColor" stroke-opacity="0.4"/>'
        )
        return
    share, words = figure
    # Never so dark that the figure on it could not be read, in a light page or a dark one.
    canvas.rect(
        x + 1, y + 1, CELL - 2, CELL - 2, fill=AGREE, opacity=0.08 + 0.47 * share, kind="rt-cell"
    )
    canvas.text(x + CELL / 2, y + CELL / 2 + 4.5, words, anchor="middle")
