"""The opinion map as a picture: points by participants, camp by camp, with what bridges them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ..opinion_map import Camp, Cell, MapPoint, OpinionMap
from .canvas import (
    AGREE,
    DISAGREE,
    SIZE,
    Canvas,
    column_heading,
    heading_room,
    listed,
    number,
    overhang,
    plain,
    width,
    wrapped,
)

LABELS = 300
"""The room for the words of a point."""
ROW = 36
MARGIN = 10
MOST_POINTS = 16
"""More rows than this are no picture; the rest is counted below it."""
Section = tuple[str, Sequence[MapPoint]]


def opinion_map_svg(shown: OpinionMap, picture_id: str = "opinion-map") -> str:
    """The picture. Without points or participants it says so in words."""
    people = shown.participants
    names = {who: plain(shown.names[who]) or who for who in people}
    canvas = Canvas(picture_id, "Opinion map", _described(shown, names))
    if not people or not shown.points:
        canvas.text(MARGIN, 26, f"No opinion map: {shown.reason or 'nobody took a stance'}.")
        return canvas.drawn(2 * MARGIN + 420, 40)
    _shapes(canvas)
    column = 84.0 if len(people) <= 5 else 44.0
    high, turned = heading_room([names[who] for who in people], column)
    camps_high = 30 if len(shown.camps) > 1 else 0
    left = MARGIN + LABELS + 12
    top = MARGIN + camps_high + high
    centre = {who: left + (n + 0.5) * column for n, who in enumerate(people)}
    sections, hidden = _sections(shown)
    rows = sum(len(points) for _, points in sections)
    bottom = top + rows * ROW + len(sections) * 26
    _camps(canvas, shown.camps, people, centre, column, bottom)
    for who in people:
        column_heading(canvas, names[who], centre[who], top, column, turned=turned)
    _between(canvas, shown, centre)
    right = left + len(people) * column + 8
    y = top
    for title, points in sections:
        canvas.line(MARGIN, y + 3, right, y + 3)
        canvas.text(MARGIN, y + 20, title, bold=True, size=12)
        y += 26
        for point in points:
            _row(canvas, point, people, names, centre, y)
            y += ROW
    if hidden:
        y += 20
        canvas.text(MARGIN, y, f"and {hidden} more points", faint=True, size=12)
    y = _legend(canvas, y + 30, bool(shown.bridges))
    edge = max(right, *(centre[w] + overhang(names[w], turned=turned) for w in people))
    least = 780 if shown.bridges else 620
    return canvas.drawn(max(edge + MARGIN, least), y + MARGIN)


def _sections(shown: OpinionMap) -> tuple[list[Section], int]:
    """What divides, what bridges or is shared, what is open: the clearest first, cut to fit."""
    several = len(shown.camps) > 1
    apart = [p for p in shown.points if not p.bridge]
    divided = [p for p in apart if p.standing == "disputed"]
    joint = [p for p in shown.points if p.bridge]
    shared = [p for p in apart if p.standing in ("agreed", "held")]
    rejected = [p for p in apart if p.standing in ("rejected", "withdrawn")]
    rest = [p for p in apart if p.standing == "open"]
    found: list[Section] = [
        ("What divides them" if several else "Disagreement", divided),
        ("What bridges the camps", joint),
        ("Held in common", shared),
        ("Open", rest),
        ("Given up", rejected),
    ]
    room = MOST_POINTS
    # A bridge is what a reader looks for: it keeps its place when there is too much of the rest.
    kept: dict[str, list[MapPoint]] = {}
    for title, points in sorted(found, key=lambda each: each[0] != "What bridges the camps"):
        kept[title] = sorted(points, key=lambda p: -len(p.stances))[: max(0, room)]
        room -= len(kept[title])
    order = {point.id: n for n, point in enumerate(shown.points)}
    sections: list[Section] = [
        (title, sorted(kept[title], key=lambda p: order[p.id])) for title, _ in found if kept[title]
    ]
    return sections, len(shown.points) - sum(len(points) for _, points in sections)


def _camps(
    canvas: Canvas,
    camps: Sequence[Camp],
    people: Sequence[str],
    centre: Mapping[str, float],
    column: float,
    bottom: float,
) -> None:
    if len(camps) < 2:
        return
    for n, camp in enumerate(camps):
        places = [centre[who] for who in people if who in camp.members]
        start, end = min(places) - column / 2 + 2, max(places) + column / 2 - 2
        canvas.rect(start, MARGIN, end - start, bottom - MARGIN, fill="currentColor",
                    opacity=0.06, kind=f"rt-camp rt-camp-{n + 1}")  # fmt: skip
        name = f"Camp {camp.label}" if end - start >= 56 else camp.label
        canvas.text((start + end) / 2, MARGIN + 17, name, anchor="middle", bold=True, size=12)


def _between(canvas: Canvas, shown: OpinionMap, centre: Mapping[str, float]) -> None:
    """An arrow above whoever bridges two camps, below the label if it belongs to one of them."""
    for bridge in shown.bridges:
        inside = shown.camp_of(bridge.participant) is not None
        told = f"bridges camps {bridge.between[0]} and {bridge.between[1]}"
        _use(canvas, "bridge", centre[bridge.participant], MARGIN + (24 if inside else 14), told)


def _row(
    canvas: Canvas,
    point: MapPoint,
    people: Sequence[str],
    names: Mapping[str, str],
    centre: Mapping[str, float],
    y: float,
) -> None:
    whole = plain(point.text) or point.id
    lines = wrapped(whole, LABELS - 8, 2, 12.5)
    cut = lines[-1].endswith("…")
    first = y + ROW / 2 + 4 - (len(lines) - 1) * 7.5
    for n, words in enumerate(lines):
        canvas.text(MARGIN, first + n * 15, words, size=12.5, whole=whole if cut else "")
    for who in people:
        cell = point.stances.get(who)
        told = f"{names[who]}: {_told(cell)}"
        _mark(canvas, cell, centre[who], y + ROW / 2, told)


def _told(cell: Cell | None) -> str:
    if cell is None:
        return "no stance"
    said = f" ({plain(cell.text)})" if cell.text else ""
    return f"{cell.position}{said}{', changed its mind' if cell.moved else ''}"


def _shapes(canvas: Canvas) -> None:
    """Agree is a disc with a tick, disagree a square with a cross, partly a half disc, unsure an
    empty ring. A corner marks a change of mind, a two-headed arrow a bridge."""
    shapes = {
        "agree": f'<circle r="11" fill="{AGREE}"/><path d="M-5 .5l3.5 4l6.5 -8" fill="none" '
        'stroke="#fff" stroke-width="2.2"/>',
        "disagree": f'<rect x="-10" y="-10" width="20" height="20" rx="2" fill="{DISAGREE}"/>'
        '<path d="M-4.5 -4.5l9 9m0 -9l-9 9" fill="none" stroke="#fff" stroke-width="2.2"/>',
        "partly": '<circle r="10" fill="none" stroke="currentColor" stroke-width="1.4"/>'
        f'<path d="M0 -10a10 10 0 0 0 0 20z" fill="{AGREE}"/>',
        "unsure": '<circle r="10" fill="none" stroke="currentColor" stroke-width="1.4" '
        'stroke-dasharray="3 2.5"/><text y="4.5" text-anchor="middle">?</text>',
        "none": '<path d="M-4 0h8" stroke="currentColor" stroke-opacity=".4"/>',
        "moved": '<path d="M8 -14h7v7z"/>',
        "bridge": '<path d="M-15 0h30m-5 -4l5 4l-5 4m-20 -8l-5 4l5 4" fill="none" '
        'stroke="currentColor" stroke-width="1.6"/>',
    }
    drawn = "".join(
        f'<g id="{escape(canvas.id)}-{name}" class="rt-{name}">{shape}</g>'
        for name, shape in shapes.items()
    )
    canvas.add(f"<defs>{drawn}</defs>")


def _use(canvas: Canvas, shape: str, x: float, y: float, told: str = "") -> None:
    title = f"<title>{escape(told)}</title>" if told else ""
    canvas.add(
        f'<use href="#{escape(canvas.id)}-{shape}" x="{number(x)}" y="{number(y)}">{title}</use>'
    )


def _mark(canvas: Canvas, cell: Cell | None, x: float, y: float, told: str) -> None:
    if cell is None:
        _use(canvas, "none", x, y, told)
        return
    _use(canvas, cell.position, x, y, told)
    if cell.moved:
        _use(canvas, "moved", x, y)


def _legend(canvas: Canvas, y: float, bridged: bool) -> float:
    entries = [
        ("agree", "agree"),
        ("disagree", "disagree"),
        ("partly", "partly"),
        ("unsure", "unsure"),
        ("none", "no stance"),
        ("moved", "changed its mind"),
        *([("bridge", "bridges two camps")] if bridged else []),
    ]
    x = MARGIN + 11.0
    for shape, words in entries:
        # The corner is drawn beside a mark, not in its middle.
        _use(canvas, shape, x - 4 if shape == "moved" else x, y + 11 if shape == "moved" else y)
        canvas.text(x + 20, y + 4.5, words, size=12)
        x += 20 + width(words, 12) + 30
    return y + SIZE


def _described(shown: OpinionMap, names: Mapping[str, str]) -> str:
    """The picture in words."""
    if not shown.points or not shown.participants:
        return f"There is nothing to draw: {shown.reason or 'nobody took a stance'}."
    said = [f"{len(shown.points)} points and {len(names)} participants."]
    if len(shown.camps) > 1:
        said += [
            f"Camp {camp.label}: {listed(names[who] for who in camp.members)}."
            for camp in shown.camps
        ]
    else:
        said.append(f"There are no camps: {shown.reason}.")
    said += [
        f"{names[bridge.participant]} bridges camps {bridge.between[0]} and {bridge.between[1]}."
        for bridge in shown.bridges
    ]
    for point in shown.points[:MOST_POINTS]:
        sides = [
            f"{position}: {listed(names[w] for w in names if _holds(point, w, position))}"
            for position in ("agree", "partly", "disagree", "unsure")
            if any(_holds(point, w, position) for w in names)
        ]
        bridge = " (a bridge)" if point.bridge else ""
        said.append(f"{plain(point.text) or point.id}{bridge}: {'; '.join(sides) or 'no stance'}.")
    return " ".join(said)


def _holds(point: MapPoint, who: str, position: str) -> bool:
    cell = point.stances.get(who)
    return cell is not None and cell.position == position
