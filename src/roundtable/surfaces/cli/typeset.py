"""Lines of text in the form in which a terminal shows them: paragraphs, lists, tables, headings.

Each takes words that may be anybody's, and gives lines that fit the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...views.emphasis import without_emphasis
from ...views.outgoing import outgoing_words
from .screen import READABLE, Screen, Style, cells, cut, for_screen, padded, wrapped

NARROW = 40
"""Cells below which nothing stands side by side."""
LAST_COLUMN = 24
"""Cells that the last column of a table needs to be read; with less each row is a line."""
GAP = 2
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*$")
_ITEM = re.compile(r"(?P<deep>\s*)(?P<mark>[-*+•]|\d{1,3}[.)])\s+(?P<text>.+)")


class Sheet:
    """Lines being set for a screen, from top to bottom."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._width = min(screen.width, READABLE)
        self.lines: list[str] = []

    def blank(self) -> None:
        """An empty line, unless there is one, or nothing above it."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def heading(self, text: str) -> None:
        self.blank()
        self._put(self._words(text), "bold", "", "")

    def paragraph(self, text: str, style: Style = "", indent: int = 0) -> None:
        self._put(self._words(text), style, " " * indent, " " * indent)

    def item(self, text: str, mark: str, style: Style = "", indent: int = 2) -> None:
        """A paragraph that hangs from a mark of ours."""
        sign = self._screen.sign(mark)
        first = f"{' ' * indent}{sign} "
        self._put(self._words(text), style, first, " " * cells(first))

    def entry(
        self, figure: str, text: str, remark: str, wide: int, about: str = "", *, below: str = ""
    ) -> None:
        """A figure, what it stands for, and a remark beside it; `about` says first what it is
        about, and what is no remark on that stands `below`. On a narrow screen what follows the
        figure stands below it."""
        screen = self._screen
        figure, text = self._words(figure), self._words(text)
        beside = self._width >= NARROW
        indent = 2 + wide + GAP if beside else 4
        room = max(8, self._width - indent)
        body: list[tuple[str, Style]]
        body = [(line, "dim") for line in wrapped(cut(self._words(about), 2 * room), room)]
        body += [(line, "bold") for line in wrapped(text, room)]
        size = cells(body[-1][0]) if body else 0
        rest = self._words(remark)
        # A short remark stands in the same line.
        if rest and size + 2 + cells(rest) <= room:
            lines = [screen.paint(line, style) for line, style in body]
            lines[-1] += f"  {rest}"
        else:
            lines = [screen.paint(line, style) for line, style in body]
            lines += wrapped(rest, room)
        lines += wrapped(self._words(below), room)
        beside = beside and cells(figure) <= wide + GAP - 1  # a long one stands above
        first = padded(f"  {figure}", indent) if beside else ""
        if not beside:
            self.lines.append(f"  {figure}")
        for n, line in enumerate(lines):
            self.lines.append((first if n == 0 and beside else " " * indent) + line)

    def beside(self, parts: Sequence[str], style: Style) -> None:
        """What it was and what to type next in one line, or each in its own where they do not
        fit."""
        told = [self._words(each) for each in parts]
        first, *rest = told
        after = [each.removeprefix("roundtable ") if n else each for n, each in enumerate(rest)]
        joined = f"{first}   {self._screen.sign(' · ').join(after)}"
        if cells(joined) <= self._width:
            self.lines.append(self._screen.paint(joined, style))
            return
        for each in told:
            self._put(each, style, "", "  ")

    def kept(self, text: str, indent: int = 4) -> None:
        """Lines as they are, such as those of a program: only what is too long is broken. So far
        from the margin that Markdown takes them for code, too."""
        for line in for_screen(text).split("\n"):
            whole = self._screen.sign(line.expandtabs(4).rstrip())
            room = self._width - indent
            while cells(whole) > room:
                part = cut(whole, room, "")
                self.lines.append(" " * indent + part)
                whole = whole[len(part) :].lstrip(" ")
            self.lines.append((" " * indent + whole).rstrip())

    def prose(self, text: str, indent: int = 2) -> None:
        """Markdown of somebody's, as words: headings, lists and code keep their lines."""
        code = False
        for line in self._leaving(text).split("\n"):
            bare = line.strip()
            if bare.startswith(("```", "~~~")):
                code = not code
            elif code or bare.startswith("|"):
                self.kept(line, indent + 2)
            elif not bare:
                self.blank()
            elif heading := _HEADING.match(bare):
                self.blank()
                self.paragraph(without_emphasis(heading[1]), "bold", indent)
            elif item := _ITEM.match(line):
                deep = min(3, len(item["deep"].expandtabs(2)) // 2)
                mark = item["mark"] if item["mark"][0].isdigit() else "•"
                self.item(without_emphasis(item["text"]), mark, indent=indent + 2 * deep)
            else:
                self.paragraph(without_emphasis(line), indent=indent)

    def rows(
        self, rows: Sequence[Sequence[str]], widest: Sequence[int], styles: Sequence[Style]
    ) -> None:
        """A table without lines; on a narrow screen each row as a hanging paragraph. The last
        column takes what room is left. Empty columns are left out."""
        used = [n for n in range(len(widest)) if any(row[n] for row in rows)]
        told = [[self._words(row[n]) for n in used] for row in rows]
        looks = [styles[n] for n in used]
        sizes = [
            min(max(cells(row[at]) for row in told), widest[n]) for at, n in enumerate(used[:-1])
        ]
        sizes.append(self._width - 2 - sum(sizes) - GAP * len(sizes))
        if sizes[-1] < LAST_COLUMN:
            for row in told:
                self._hanging(row)
            return
        for row in told:
            self.lines += self._side_by_side(row, sizes, looks)

    def _hanging(self, row: Sequence[str]) -> None:
        *heads, text = row
        head = " ".join(each for each in heads if each)
        self._put(f"{head}: {text}" if head else text, "", "  ", "    ")

    def _side_by_side(
        self, row: Sequence[str], sizes: Sequence[int], looks: Sequence[Style]
    ) -> Iterator[str]:
        columns = [wrapped(text, size) for text, size in zip(row, sizes, strict=True)]
        for at in range(max(map(len, columns), default=0)):
            parts = [
                self._screen.paint(padded(column[at] if at < len(column) else "", size), look)
                if size and (at < len(column) or n < len(columns) - 1)
                else ""
                for n, (column, size, look) in enumerate(zip(columns, sizes, looks, strict=True))
            ]
            last = columns[-1][at] if at < len(columns[-1]) else ""
            parts[-1] = self._screen.paint(last, looks[-1])
            yield ("  " + (" " * GAP).join(parts)).rstrip()

    def _words(self, text: str) -> str:
        """Anybody's words on one line."""
        return self._screen.words(self._leaving(text))

    def _leaving(self, text: str) -> str:
        """A terminal shows what was said. What is piped may be kept, and be shown as Markdown."""
        return for_screen(text) if self._screen.person else outgoing_words(text)

    def _put(self, text: str, style: Style, first: str, then: str) -> None:
        room = max(8, self._width - max(cells(first), cells(then)))
        for n, line in enumerate(wrapped(text, room)):
            self.lines.append((then if n else first) + self._screen.paint(line, style))
