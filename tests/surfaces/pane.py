"""A page of a terminal, as far as the program uses one: what stands on it after some output.

It knows the codes that the live view writes, and none else: whatever else comes is an error, for a
terminal would do something that nobody here meant.
"""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells, split_graphemes

_CODE = re.compile(r"\x1b\[(?P<numbers>\??[\d;]*)(?P<letter>[A-Za-z])")
_HARMLESS = frozenset({"m", "h", "l"})


class Page:
    """Everything that was written, lines that scrolled away included. Unlike a real terminal it has
    no lower edge, so that nothing is lost."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.lines: list[str] = [""]
        self.redraws = 0
        self._row = 0
        self._column = 0

    def feed(self, text: str) -> None:
        at = 0
        while at < len(text):
            char = text[at]
            if code := _CODE.match(text, at):
                self._obey(code["numbers"], code["letter"])
                at = code.end()
                continue
            assert char >= " " or char in "\r\n\t", (
                f"a code that nobody meant: {text[at : at + 12]!r}"
            )
            assert not "\x7f" <= char <= "\x9f", f"a code of eight bits: {char!r}"
            if char == "\n":
                self._down()
            elif char == "\r":
                self._column = 0
            else:
                end = min(
                    [n for n in (text.find(c, at) for c in "\x1b\r\n") if n >= 0] or [len(text)]
                )
                self._put(text[at:end])
                at = end
                continue
            at += 1

    def narrow(self, columns: int) -> None:
        """As most terminals do: longer lines are broken anew, and the cursor stays in its place."""
        assert self._column == 0, "where else it would be, terminals do not agree on"
        rows: list[str] = []
        for at, line in enumerate(self.lines):
            if at == self._row:
                row = len(rows)
            rows += chop_cells(line, columns) or [""]
        self.lines, self.columns, self._row = rows, columns, row

    def _obey(self, numbers: str, letter: str) -> None:
        count = int(numbers or "1") if numbers.isdecimal() or not numbers else 0
        match letter:
            case "A":
                assert count <= self._row, "above the first line"
                self._row -= count
                self.redraws += 1
            case "B":
                self._row = min(self._row + count, len(self.lines) - 1)
            case "K" if numbers == "2":
                self.lines[self._row] = ""
            case "J":
                assert numbers == "", "only what is below is taken away"
                self.lines[self._row] = _cut(self.lines[self._row], self._column)
                del self.lines[self._row + 1 :]
            case _:
                assert letter in _HARMLESS, f"a code that nobody meant: {letter}"

    def _down(self) -> None:
        self._row += 1
        self._column = 0
        if self._row == len(self.lines):
            self.lines.append("")

    def _put(self, text: str) -> None:
        for start, end, size in split_graphemes(text)[0]:
            if self._column + size > self.columns:
                self._down()
            line = _cut(self.lines[self._row], self._column)
            rest = _cut_front(self.lines[self._row], self._column + size)
            padding = " " * (self._column - cell_len(line))
            self.lines[self._row] = line + padding + text[start:end] + rest
            self._column += size


def _cut(line: str, column: int) -> str:
    kept, used = "", 0
    for start, end, size in split_graphemes(line)[0]:
        if used + size > column:
            break
        kept, used = kept + line[start:end], used + size
    return kept


def _cut_front(line: str, column: int) -> str:
    used = 0
    for start, _, size in split_graphemes(line)[0]:
        if used >= column:
            return line[start:]
        used += size
    return ""
