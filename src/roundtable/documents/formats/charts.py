"""The numbers of a chart, as office programs keep them beside what they draw: a small table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MOST_POINTS = 5_000
"""Of one series."""


def chart_lines(chart: Any) -> Iterator[str]:
    """The title and the rows of a chart's XML: one for each category, with the value of each
    series. Nothing for a chart that keeps no numbers."""
    title = chart.find(f"{_C}chart/{_C}title")
    named = "" if title is None else " ".join("".join(_texts(title)).split())
    for plot in chart.iterfind(f"{_C}chart/{_C}plotArea/*"):
        series = list(plot.iterfind(f"{_C}ser"))
        values = [_points(each, "val", "yVal") for each in series]
        if not any(values):
            continue
        yield f"Chart: {named}" if named else "Chart:"
        beside = [_points(each, "cat", "xVal") for each in series]
        names = [" ".join(" ".join(_texts(each.find(f"{_C}tx"))).split()) for each in series]
        if all(each == beside[0] for each in beside):
            yield " | ".join(["", *names])
            for at in sorted({at for each in values for at in each} | set(beside[0])):
                told = (each.get(at, "") for each in values)
                yield " | ".join([beside[0].get(at, ""), *told])
        else:  # each has its own, as points in a plane have
            for name, where, what in zip(names, beside, values, strict=True):
                yield from (f"{name} | {where.get(at, '')} | {what[at]}" for at in sorted(what))


def _texts(element: Any) -> Iterator[str]:
    if element is not None:
        yield from (each.text or "" for each in element.iter(f"{_C}v", f"{_A}t"))


def _points(series: Any, *names: str) -> dict[int, str]:
    """What a series keeps under one of these names, by its number; levels of categories are
    joined."""
    found: dict[int, str] = {}
    for name in names:
        for point in series.iterfind(f"{_C}{name}//{_C}pt"):
            at, value = int(point.get("idx", "0")), " ".join(_texts(point)).strip()
            if at < _MOST_POINTS:
                found[at] = f"{value}, {found[at]}" if at in found else value
    return found
