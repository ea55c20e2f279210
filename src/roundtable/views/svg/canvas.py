"""The canvas: shapes and letters as SVG text, escaped, and letters cut to the room there is.

Nobody can measure letters without a font, so their width is estimated, on the wide side.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from ...core.text import clip
from ...core.visible import shown

AGREE, DISAGREE = "#1b8a6b", "#c2571a"
"""Told apart by people who do not see red and green, and dark enough for white strokes on them."""
SIZE = 13
"""Of the letters, in pixels."""
LONGEST_TURNED = 150
"""The room for a name above a column, where names are turned."""


def plain(text: str) -> str:
    """Untrusted words on one line: without secrets, without what XML cannot hold, and without the
    characters that turn the direction of everything after them."""
    kept = (
        c
        for c in shown(text)
        if c.isspace() or unicodedata.category(c)[0] != "C" or c in "\u200c\u200d"
    )
    return " ".join("".join(kept).split())


def width(text: str, size: float = SIZE) -> float:
    """About how much room the text takes."""
    return sum(_advance(char) for char in text) * size


def _advance(char: str) -> float:
    if unicodedata.combining(char) or char in "\u200c\u200d\ufe0f":
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.02
    if char in "iljt.,:;'|!()[] ":
        return 0.36
    return 0.78 if char.isupper() or char in "mwMW%@—…" else 0.6


def fitted(text: str, room: float, size: float = SIZE) -> str:
    """As much of the text as fits, with an ellipsis where it is cut."""
    if width(text, size) <= room:
        return text
    # No more than the narrowest letters fit: a text may be very long.
    keep = min(len(text), int(room / (0.36 * size)) + 2)
    while keep > 1 and width(clip(text, keep), size) > room:
        keep -= 1
    return clip(text, keep)


def wrapped(text: str, room: float, lines: int, size: float = SIZE) -> list[str]:
    """The text in at most so many lines; words are kept whole where they fit into one."""
    found: list[str] = []
    rest = text
    while rest and len(found) < lines - 1 and width(rest, size) > room:
        cut = _break(rest, room, size)
        found.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [*found, fitted(rest, room, size)] if rest or not found else found


def _break(text: str, room: float, size: float) -> int:
    """Where to break: at the last space that fits, or between letters if that is far off."""
    used, last, fits = 0.0, 0, len(text)
    for place, char in enumerate(text):
        used += _advance(char) * size
        if char.isspace():
            last = place
        if used > room:
            fits = place
            break
    if last > fits / 2:
        return last
    while fits > 1 and unicodedata.combining(text[fits]):
        fits -= 1
    return max(1, fits)


@dataclass(slots=True)
class Canvas:
    """A drawing under way. `id` must be unique on the page it is put on."""

    id: str
    title: str
    description: str
    parts: list[str] = field(default_factory=list)

    def add(self, part: str) -> None:
        self.parts.append(part)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        anchor: str = "start",
        size: float = SIZE,
        bold: bool = False,
        faint: bool = False,
        turn: float = 0,
        whole: str = "",
        kind: str = "",
    ) -> None:
        """Letters on a line. `whole` is told on hovering, and to readers, where words were cut."""
        more = [f'class="{kind}"'] if kind else []
        if anchor != "start":
            more.append(f'text-anchor="{anchor}"')
        if size != SIZE:
            more.append(f'font-size="{number(size)}"')
        if bold:
            more.append('font-weight="600"')
        if faint:
            more.append('opacity="0.7"')
        if turn:
            more.append(f'transform="rotate({number(turn)} {number(x)} {number(y)})"')
        told = f"<title>{escape(whole)}</title>" if whole and whole != words else ""
        rest = "".join(f" {each}" for each in more)
        self.add(
            f'<text x="{number(x)}" y="{number(y)}"{rest} unicode-bidi="plaintext">'
            f"{told}{escape(words)}</text>"
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, opacity: float = 0.25) -> None:
        self.add(
            f'<path d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}" stroke="currentColor" '
            f'stroke-opacity="{number(opacity)}"/>'
        )

    def rect(
        self,
        x: float,
        y: float,
        wide: float,
        high: float,
        *,
        fill: str,
        opacity: float,
        kind: str = "",
    ) -> None:
        named = f' class="{kind}"' if kind else ""
        self.add(
            f'<rect{named} x="{number(x)}" y="{number(y)}" width="{number(wide)}" '
            f'height="{number(high)}" rx="3" fill="{fill}" fill-opacity="{number(opacity)}"/>'
        )

    def drawn(self, wide: float, high: float) -> str:
        """The whole picture."""
        w, h = number(wide), number(high)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" '
            f'height="{h}" role="img" aria-labelledby="{escape(self.id)}-t {escape(self.id)}-d" '
            'font-family="system-ui, sans-serif" '
            f'font-size="{SIZE}" fill="currentColor" class="rt-picture">'
            f'<title id="{escape(self.id)}-t">{escape(self.title)}</title>'
            f'<desc id="{escape(self.id)}-d">{escape(self.description)}</desc>'
            f"{''.join(self.parts)}</svg>"
        )


def number(value: float) -> str:
    """A coordinate with one decimal at most: the same everywhere, and short."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    all_of_them: Sequence[str] = list(words)
    if len(all_of_them) < 2:
        return "".join(all_of_them)
    return f"{', '.join(all_of_them[:-1])} and {all_of_them[-1]}"


def heading_room(names: Sequence[str], column: float) -> tuple[float, bool]:
    """How high the names above columns are, and whether they must be turned to fit."""
    if all(width(name) <= 2 * (column - 8) for name in names) and column >= 72:
        return 2 * SIZE + 8, False
    longest = max((width(fitted(name, LONGEST_TURNED)) for name in names), default=0)
    return longest * 0.71 + 16, True


def overhang(name: str, *, turned: bool) -> float:
    """How far a heading reaches to the right of the middle of its column."""
    return 16 + width(fitted(name, LONGEST_TURNED)) * 0.71 if turned else 0.0


def column_heading(
    canvas: Canvas, name: str, x: float, bottom: float, column: float, *, turned: bool
) -> None:
    """A name above a column, level in two lines or turned."""
    if turned:
        canvas.text(x + 4, bottom - 6, fitted(name, LONGEST_TURNED), turn=-45, whole=name)
        return
    lines = wrapped(name, column - 8, 2)
    for n, words in enumerate(lines):
        y = bottom - 6 - (len(lines) - 1 - n) * (SIZE + 2)
        canvas.text(x, y, words, anchor="middle", whole=name)
