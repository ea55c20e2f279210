"""The report of a discussion as one HTML file that needs nothing else.

No script, no font, no image from anywhere: a strict policy in its head forbids them all. What
others wrote passes `safe_markdown` or is escaped.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import assert_never

from ..core.quotes import Sources
from ..core.state import State
from ..core.text import count_words, first_sentences
from .report import report
from .report_decision import DecisionHtml
from .report_parts import (
    Alert,
    Grid,
    Line,
    Part,
    Picture,
    Prose,
    Report,
    Section,
    Speech,
    Subsection,
    anchor,
)
from .report_style import SEATS, STYLE
from .report_text import direction, escaped, lang
from .safe_markdown import Surroundings, linked, reference, to_html

LONG, LONG_AMONG_MANY, MANY = 3_000, 700, 30
"""Characters from which on a speech is folded; sooner in a report of many speeches."""

_POSITIONS = {"✓": "agree", "✗": "disagree", "?": "unsure"}


def html_report(state: State, delivered: str) -> str:
    """Everything there is to know of a discussion. `delivered` is the verdict in its procedure's
    words."""
    return "".join(_Page(report(state, delivered)).document())


class _Page:
    """One report being written."""

    def __init__(self, whole: Report) -> None:
        self._report = whole
        self._cites = Surroundings(whole.links, labels=whole.labels)
        self._verifies = Surroundings(whole.links, Sources(whole.speeches), whole.own, whole.labels)
        self._not_by: dict[str, Surroundings] = {}
        self._long = LONG_AMONG_MANY if len(whole.speeches) > MANY else LONG

    def document(self) -> Iterator[str]:
        digest = b64encode(sha256(STYLE.encode()).digest()).decode()
        policy = (
            f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        )
        title = escaped(self._report.title)
        yield (
            "<!doctype html>\n"
            '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{title} · Roundtable</title>\n"
            f"<style>{STYLE}</style>\n</head>\n<body>\n"
            '<a class="skip" href="#decision">Skip to the decision</a>\n'
        )
        first = DecisionHtml(self._report.decision, self._report.seats, self._report.language)
        yield from first.header()
        yield from self._contents(first.sections)
        yield "<main>\n"
        yield from first.body()
        for section in self._report.sections:
            yield from self._section(section)
        yield '<section id="made" aria-labelledby="made-head">\n'
        yield f'<h2 id="made-head">How this was made</h2>\n{self._facts()}'
        for section in self._report.made:
            yield from self._section(section, level=3)
        yield "</section>\n"
        yield f"</main>\n<footer><p>{escaped(self._report.footer)}</p></footer>\n</body>\n</html>\n"

    def _facts(self) -> str:
        rows = "".join(
            f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>\n"
            for name, value in self._report.facts
        )
        return f'<dl class="facts">\n{rows}</dl>\n'

    def _contents(self, first: Sequence[tuple[str, str]]) -> Iterator[str]:
        yield '<nav aria-label="Contents">\n<ul>\n'
        for place, title in first:
            yield f'<li><a href="#{place}">{escaped(title)}</a></li>\n'
        for section in self._report.sections:
            yield f'<li><a href="#{section.id}">{escaped(section.title)}</a>'
            below = [part for part in section.parts if isinstance(part, Subsection)]
            if below:
                links = " ".join(
                    f'<a href="#{part.id}" aria-label="{escaped(part.title)}">'
                    f"{escaped(part.short)}</a>"
                    for part in below
                )
                yield f' <span class="rounds">{links}</span>'
            yield "</li>\n"
        yield '<li><a href="#made">How this was made</a> <span class="below">'
        yield " ".join(f'<a href="#{s.id}">{escaped(s.title)}</a>' for s in self._report.made)
        yield "</span></li>\n</ul>\n</nav>\n"

    def _section(self, section: Section, level: int = 2) -> Iterator[str]:
        head = f"{section.id}-head"
        yield f'<section id="{section.id}" aria-labelledby="{head}">\n'
        yield f'<h{level} id="{head}">{escaped(section.title)}</h{level}>\n'
        for part in section.parts:
            yield from self._part(part, section.title)
        yield "</section>\n"

    def _part(self, part: Part, within: str) -> Iterator[str]:
        match part:
            case Prose():
                around = self._verifies if part.verdict else self._cites
                yield self._words(part.text, below=2, around=around)
            case Line():
                yield f'<p dir="auto">{linked(part.text, self._cites)}</p>\n'
            case Alert():
                yield self._alert(part)
            case Grid():
                yield from self._grid(part, within)
            case Picture():
                caption = f"<figcaption>{escaped(part.caption)}</figcaption>"
                yield (
                    f'<figure><div class="scroll" tabindex="0" role="region" '
                    f'aria-label="{escaped(part.caption)}">{part.draw()}</div>{caption}</figure>\n'
                )
            case Speech():
                yield from self._speech(part)
            case Subsection():
                yield f'<section class="round" id="{part.id}" aria-labelledby="{part.id}-head">\n'
                yield f'<h3 id="{part.id}-head">{escaped(part.title)}</h3>\n'
                for each in part.parts:
                    yield from self._part(each, part.title)
                yield "</section>\n"
            case _:
                assert_never(part)

    def _alert(self, alert: Alert) -> str:
        remedy = f'<p dir="auto">{linked(alert.remedy, self._cites)}</p>' if alert.remedy else ""
        return (
            f'<div class="alert" role="note"><p dir="auto">'
            f"<strong>{linked(alert.text, self._cites)}</strong></p>{remedy}</div>\n"
        )

    def _words(self, text: str, *, below: int, around: Surroundings) -> str:
        tongue = lang(text, self._report.language)
        return (
            f'<div class="words" dir="{direction(text)}"{tongue}>\n'
            f"{to_html(text, below=below, around=around)}</div>\n"
        )

    def _grid(self, grid: Grid, within: str) -> Iterator[str]:
        label = escaped(grid.caption or within)
        if grid.folded:
            rows = f"{len(grid.rows)} row{'s' if len(grid.rows) != 1 else ''}"
            yield f'<details><summary>{label} <span class="more">{rows}</span></summary>\n'
        yield f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">\n'
        yield '<table class="grid">\n'
        if grid.caption and not grid.folded:
            yield f"<caption>{escaped(grid.caption)}</caption>\n"
        heads = "".join(
            f'<th scope="col"{_kind(grid, n)} dir="auto">{escaped(head)}</th>'
            for n, head in enumerate(grid.header)
        )
        yield f"<thead><tr>{heads}</tr></thead>\n<tbody>\n"
        for place, row in enumerate(grid.rows):
            mark = f' id="{escaped(grid.anchors[place])}"' if grid.anchors else ""
            yield f"<tr{mark}>"
            for n, cell in enumerate(row):
                words = linked(cell, self._cites)
                if n == 0:
                    yield f'<th scope="row" dir="auto">{words}</th>'
                else:
                    yield f"<td{_kind(grid, n) or _position(cell)}{_dir(cell)}>{words}</td>"
            yield "</tr>\n"
        yield "</tbody>\n</table></div>\n"
        if grid.folded:
            yield "</details>\n"

    def _speech(self, speech: Speech) -> Iterator[str]:
        place = anchor("turn", speech.turn)
        seat = "host" if speech.seat is None else f"seat{speech.seat % SEATS}"
        yield f'<article class="speech {seat}" id="{escaped(place)}">\n<header>\n'
        icon = f'<span aria-hidden="true">{escaped(speech.emoji)}</span> ' if speech.emoji else ""
        yield (
            f"<h4>{icon}<bdi>{escaped(speech.name)}</bdi> "
            f"<small>{escaped(speech.stage)}</small></h4>\n"
        )
        about = [
            f'<bdi dir="ltr"><a href="{escaped(reference(place))}">'
            f"{escaped(speech.turn)}</a></bdi>",
            f"<bdi>{escaped(speech.model)}</bdi>",
        ]
        if speech.at is not None:
            exact, short = speech.at.isoformat(timespec="seconds"), speech.at.strftime("%H:%M:%S")
            about.append(f'<time datetime="{exact}">{short} UTC</time>')
        about += [f'<bdi class="mark">{escaped(mark)}</bdi>' for mark in speech.marks]
        yield f'<p class="about">{" · ".join(about)}</p>\n</header>\n'
        if speech.failure is not None:
            yield self._alert(Alert(f"No speech: {speech.failure.text}", speech.failure.remedy))
        else:
            by = speech.turn.rpartition("/")[2]
            if by not in self._not_by:
                self._not_by[by] = self._verifies.not_by(by)
            words = self._words(speech.text, below=4, around=self._not_by[by])
            if len(speech.text) > self._long:
                yield self._folded(speech.text, words)
            else:
                yield words
        yield "</article>\n"

    def _folded(self, text: str, words: str) -> str:
        prose = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        tongue = lang(prose, self._report.language)
        return (
            f'<details><summary><span class="more">All {count_words(text):,} words</span> '
            f'<span class="opening" dir="auto"{tongue}>{escaped(first_sentences(prose, 2, 280))}'
            f"</span></summary>\n{words}</details>\n"
        )


def _kind(grid: Grid, column: int) -> str:
    if column in grid.numbers:
        return ' class="end"'
    return ' class="wide"' if column in grid.wide else ""


def _position(cell: str) -> str:
    """Colour beside the mark, which says the same without it."""
    held = _POSITIONS.get(cell[:1])
    return f' class="{held}"' if held else ""


def _dir(cell: str) -> str:
    """Only where it is needed: there are many cells."""
    return "" if cell.isascii() else ' dir="auto"'
