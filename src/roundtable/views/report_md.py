"""The report of a discussion as one Markdown document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import assert_never

from markdown_it import MarkdownIt

from ..core.state import State
from ..core.visible import visible
from .outgoing import outgoing
from .report import report
from .report_parts import Alert, Grid, Line, Picture, Prose, Speech, Subsection

Words = Prose | Line | Alert | Grid | Speech | Subsection
_END = "END OF WHAT SOMEBODY ELSE WROTE"
_BLOCK = re.compile(r"^(\d{0,9})([#+\-=.)])")
_ACTIVE = re.compile(r"([\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_]))")


def markdown_report(state: State, delivered: str) -> str:
    """Everything there is to know of a discussion. `delivered` is the verdict in its procedure's
    words. What others wrote keeps its Markdown, but cannot reach out of its place."""
    whole = report(state, delivered)
    facts = " · ".join(f"{_escaped(name)}: {_escaped(value)}" for name, value in whole.facts)
    lines = [f"# {_escaped(whole.title)}", "", facts]
    told: list[str] = []
    for section in (*whole.sections, *whole.made):
        lines += ["", f"## {section.title}"]
        for part in section.parts:
            if isinstance(part, Prose) and part.work:
                # It is code in its fence, and what looks like a key may be part of it.
                told += [outgoing("\n".join(lines)), "", visible(part.text)]
                lines = []
            # Markdown has no pictures of its own; what they show stands in the tables.
            elif not isinstance(part, Picture):
                lines += ["", *_part(part)]
    lines += ["", "---", "", whole.footer]
    return "\n".join([*told, outgoing("\n".join(lines))]) + "\n"


def _part(part: Words) -> Iterator[str]:
    match part:
        case Prose():
            yield _contained(part.text)
        case Line():
            yield _sentence(part.text)
        case Alert():
            yield f"**{_escaped(part.text)}**"
            if part.remedy:
                yield ""
                yield _sentence(part.remedy)
        case Grid():
            yield from _grid(part)
        case Speech():
            yield from _speech(part)
        case Subsection():
            yield f"### {_escaped(part.title)}"
            for each in part.parts:
                yield ""
                yield from _speech(each)
        case _:
            assert_never(part)


def _grid(grid: Grid) -> Iterator[str]:
    if grid.caption:
        yield f"**{_escaped(grid.caption)}**"
        yield ""
    yield _row(grid.header)
    yield _row("--:" if column in grid.numbers else "---" for column in range(len(grid.header)))
    for row in grid.rows:
        yield _row(_escaped(cell) for cell in row)


def _row(cells: Iterator[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _speech(speech: Speech) -> Iterator[str]:
    about = [f"turn {speech.turn}", speech.model]
    if speech.at is not None:
        about.append(speech.at.strftime("%H:%M:%S UTC"))
    about += speech.marks
    yield f"#### {_escaped(f'{speech.emoji} {speech.name}: {speech.stage}'.strip())}"
    yield ""
    # Flags stand in brackets, which mean themselves: links are looked after with the whole.
    facts = _escaped(" · ".join(about)).replace(r"\[", "[").replace(r"\]", "]")
    yield f"*{facts}*"
    yield ""
    if speech.failure is not None:
        yield f"*No speech: {_escaped(speech.failure.text)}*"
        if speech.failure.remedy:
            yield ""
            yield _sentence(speech.failure.remedy)
    else:
        yield _quoted(speech.text)


def _quoted(text: str) -> str:
    """Headings, fences and HTML that are open stay within the quotation."""
    return "\n".join(f"> {line}" if line else ">" for line in text.splitlines())


def _contained(text: str) -> str:
    """A text of its own in the document: its headings below the document's. What would swallow
    the rest of the document, such as an open fence, is quoted as a whole."""
    last = _reader().parse(f"{text}\n\n{_END}")[-3:]
    if [token.level for token in last] != [0, 1, 0] or last[1].content != _END:
        return _quoted(text)
    lines = text.splitlines()
    for token in reversed(_reader().parse(text)):
        if token.type != "heading_open" or token.map is None:
            continue
        start, end = token.map
        words = " ".join(lines[start:end]).strip()
        if token.markup[0] != "#":
            words = " ".join(lines[start : end - 1]).strip()
        if token.level == 0:
            level = min(6, int(token.tag[1]) + 2)
            lines[start:end] = [f"{'#' * level} {words.lstrip('#').strip()}"]
    # A line break before a bold label means one; Markdown would join the lines.
    return re.sub(r"(?<=\S)\n(?=\*\*)", "  \n", "\n".join(lines))


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True})


def _sentence(text: str) -> str:
    """Text that means itself at the head of a line, where a mark would begin a block."""
    return _BLOCK.sub(r"\1\\\2", _escaped(text))


def _escaped(text: str) -> str:
    """Text that means itself, on one line and in a cell."""
    return _ACTIVE.sub(r"\\\1", " ".join(text.split()))
