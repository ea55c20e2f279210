"""Convergence over rounds: agreement on the question, agreed points and stability, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..opinion_map import RoundMap
from .canvas import AGREE, DISAGREE, SIZE, Canvas, number

LEFT, TOP, HIGH, STEP = 52.0, 20.0, 150.0, 84.0
MARGIN = 10


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    colour: str
    dashes: str
    square: bool
    values: tuple[float | None, ...]


def convergence_chart_svg(rounds: Sequence[RoundMap], picture_id: str = "convergence") -> str:
    """The chart, with the counts of points below each round. They are never blended into one."""
    lines = [
        _Line("agreement", AGREE, "", False, tuple(r.agreement for r in rounds)),
        _Line("points", "currentColor", "2 3", False, tuple(r.score for r in rounds)),
        _Line("stability", DISAGREE, "6 4", True, tuple(r.stability for r in rounds)),
    ]
    canvas = Canvas(picture_id, "Convergence over rounds", _described(rounds))
    if all(value is None for line in lines for value in line.values):
        canvas.text(MARGIN, 26, "No convergence to show: nobody's stances can be compared.")
        return canvas.drawn(2 * MARGIN + 420, 40)
    # Many rounds stand closer together, so that the picture stays one.
    step = min(STEP, 640 / max(1, len(rounds) - 1))
    xs = [LEFT + 20 + n * step for n in range(len(rounds))]
    right = xs[-1] + 14
    for share in (0.0, 0.5, 1.0):
        y = _y(share)
        canvas.line(LEFT, y, right, y, 0.2)
        canvas.text(LEFT - 6, y + 4, f"{share:.0%}", anchor="end", size=11, faint=True)
    for line in lines:
        _draw(canvas, line, xs)
    _names(canvas, lines, right)
    base = TOP + HIGH
    every = max(1, round(34 / step))
    for n, (x, each) in enumerate(zip(xs, rounds, strict=True)):
        if n % every == 0 or n == len(rounds) - 1:
            canvas.text(x, base + 20, str(each.round), anchor="middle", size=12)
            counts = f"{each.consensus} / {each.disagreement}"
            if step >= 44:
                canvas.text(x, base + 37, counts, anchor="middle", size=11, faint=True)
    canvas.text(MARGIN, base + 20, "round", size=11, faint=True)
    if step >= 44:
        canvas.text(
            MARGIN, base + 56, "below each round: points agreed / disputed", size=11, faint=True
        )
    return canvas.drawn(max(right + 100, 300), base + 56 + MARGIN)


def _y(share: float) -> float:
    return TOP + HIGH * (1 - share)


def _draw(canvas: Canvas, line: _Line, xs: Sequence[float]) -> None:
    places = [(x, _y(v)) for x, v in zip(xs, line.values, strict=True) if v is not None]
    if not places:
        return
    path = "L".join(f"{number(x)} {number(y)}" for x, y in places)
    dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
    canvas.add(
        f'<path class="rt-{line.name}" d="M{path}" fill="none" stroke="{line.colour}" '
        f'stroke-width="2.2"{dashes}/>'
    )
    for x, y in places:
        canvas.add(
            f'<rect class="rt-{line.name}" x="{number(x - 4)}" y="{number(y - 4)}" width="8" '
            f'height="8" fill="{line.colour}"/>'
            if line.square
            else f'<circle class="rt-{line.name}" cx="{number(x)}" cy="{number(y)}" r="4.5" '
            f'fill="{line.colour}"/>'
        )


def _names(canvas: Canvas, lines: Sequence[_Line], right: float) -> None:
    """The lines' names at their right ends, moved apart where they would overlap."""
    ends = [
        (_y(known[-1]), line)
        for line in lines
        if (known := [v for v in line.values if v is not None])
    ]
    last = -100.0
    for y, line in sorted(ends, key=lambda end: end[0]):
        last = max(y, last + SIZE + 3)
        canvas.text(right + 4, last + 4, line.name, size=12)


def _described(rounds: Sequence[RoundMap]) -> str:
    said = []
    for each in rounds:
        steady = "" if each.stability is None else f", stability {each.stability:.0%}"
        agreed = "not known" if each.agreement is None else f"{each.agreement:.0%}"
        settled = "" if each.score is None else f", {each.score:.0%} of the points agreed"
        said.append(
            f"Round {each.round}: agreement {agreed}{settled}{steady}; "
            f"points: {each.consensus} agreed, {each.disagreement} disputed, {each.new} new."
        )
    return " ".join(said) or "There were no rounds."
