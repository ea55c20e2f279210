"""The report of a discussion as one HTML file that needs nothing else.

No script, no font, no image from anywhere: a strict policy in its head forbids them all. What
others wrote passes `safe_markdown` or is escaped.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from typing import assert_never

from ..core.state import State
from ..core.text import count_words, first_sentences
from ..core.visible import visible
from .report import report
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
from .safe_markdown import Labels, Surroundings, linked, reference, to_html

LONG, LONG_AMONG_MANY, MANY = 3_000, 700, 30
"""Characters from which on a speech is folded; sooner in a report of many speeches."""

_LANGUAGES = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
)
_TAG = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_POSITIONS = {"✓": "agree", "✗": "disagree", "?": "unsure"}


def html_report(state: State, delivered: str) -> str:
    """Everything there is to know of a discussion. `delivered` is the verdict in its procedure's
    words."""
    return "".join(_Page(report(state, delivered)).document())


class _Page:
    """One report being written."""

    def __init__(self, whole: Report) -> None:
        self._report = whole
        labels = Labels.of(whole.labels)
        self._cites = Surroundings(whole.links, labels=labels)
        self._verifies = Surroundings(whole.links, whole.speeches, whole.own, labels)
        self._long = LONG_AMONG_MANY if len(whole.speeches) > MANY else LONG

    def document(self) -> Iterator[str]:
        digest = b64encode(sha256(STYLE.encode()).digest()).decode()
        policy = (
            f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        )
        title = _text(self._report.title)
        yield (
            "<!doctype html>\n"
            '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{title} · Roundtable</title>\n"
            f"<style>{STYLE}</style>\n</head>\n<body>\n"
            '<a class="skip" href="#verdict">Skip to the verdict</a>\n'
            "<header>\n"
            f'<h1 dir="auto"{_lang(self._report.title, "")}>{title}</h1>\n'
            f"{self._facts()}</header>\n"
        )
        yield from self._contents()
        yield "<main>\n"
        for section in self._report.sections:
            yield from self._section(section)
        yield f"</main>\n<footer><p>{_text(self._report.footer)}</p></footer>\n</body>\n</html>\n"

    def _facts(self) -> str:
        rows = "".join(
            f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>\n"
            for name, value in self._report.facts
        )
        return f'<dl class="facts">\n{rows}</dl>\n'

    def _contents(self) -> Iterator[str]:
        yield '<nav aria-label="Contents">\n<ul>\n'
        for section in self._report.sections:
            yield f'<li><a href="#{section.id}">{_text(section.title)}</a>'
            below = [part for part in section.parts if isinstance(part, Subsection)]
            if below:
                links = " ".join(
                    f'<a href="#{part.id}" aria-label="{_text(part.title)}">{_text(part.short)}</a>'
                    for part in below
                )
                yield f' <span class="rounds">{links}</span>'
            yield "</li>\n"
        yield "</ul>\n</nav>\n"

    def _section(self, section: Section) -> Iterator[str]:
        head = f"{section.id}-head"
        yield f'<section id="{section.id}" aria-labelledby="{head}">\n'
        yield f'<h2 id="{head}">{_text(section.title)}</h2>\n'
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
                caption = f"<figcaption>{_text(part.caption)}</figcaption>"
                yield (
                    f'<figure><div class="scroll" tabindex="0" role="region" '
                    f'aria-label="{_text(part.caption)}">{part.draw()}</div>{caption}</figure>\n'
                )
            case Speech():
                yield from self._speech(part)
            case Subsection():
                yield f'<section class="round" id="{part.id}" aria-labelledby="{part.id}-head">\n'
                yield f'<h3 id="{part.id}-head">{_text(part.title)}</h3>\n'
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
        lang = _lang(text, self._report.language)
        return (
            f'<div class="words" dir="{_direction(text)}"{lang}>\n'
            f"{to_html(text, below=below, around=around)}</div>\n"
        )

    def _grid(self, grid: Grid, within: str) -> Iterator[str]:
        label = _text(grid.caption or within)
        if grid.folded:
            rows = f"{len(grid.rows)} row{'s' if len(grid.rows) != 1 else ''}"
            yield f'<details><summary>{label} <span class="more">{rows}</span></summary>\n'
        yield f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">\n'
        yield '<table class="grid">\n'
        if grid.caption and not grid.folded:
            yield f"<caption>{_text(grid.caption)}</caption>\n"
        heads = "".join(
            f'<th scope="col"{_kind(grid, n)} dir="auto">{_text(head)}</th>'
            for n, head in enumerate(grid.header)
        )
        yield f"<thead><tr>{heads}</tr></thead>\n<tbody>\n"
        for place, row in enumerate(grid.rows):
            mark = f' id="{_text(grid.anchors[place])}"' if grid.anchors else ""
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
        yield f'<article class="speech {seat}" id="{_text(place)}">\n<header>\n'
        icon = f'<span aria-hidden="true">{_text(speech.emoji)}</span> ' if speech.emoji else ""
        yield (
            f"<h4>{icon}<bdi>{_text(speech.name)}</bdi> <small>{_text(speech.stage)}</small></h4>\n"
        )
        about = [
            f'<bdi dir="ltr"><a href="{_text(reference(place))}">{_text(speech.turn)}</a></bdi>',
            f"<bdi>{_text(speech.model)}</bdi>",
        ]
        if speech.at is not None:
            exact, short = speech.at.isoformat(timespec="seconds"), speech.at.strftime("%H:%M:%S")
            about.append(f'<time datetime="{exact}">{short} UTC</time>')
        about += [f'<bdi class="mark">{_text(mark)}</bdi>' for mark in speech.marks]
        yield f'<p class="about">{" · ".join(about)}</p>\n</header>\n'
        if speech.failure is not None:
            yield self._alert(Alert(f"No speech: {speech.failure.text}", speech.failure.remedy))
        else:
            by = speech.turn.rpartition("/")[2]
            words = self._words(speech.text, below=4, around=self._verifies.not_by(by))
            if len(speech.text) > self._long:
                yield self._folded(speech.text, words)
            else:
                yield words
        yield "</article>\n"

    def _folded(self, text: str, words: str) -> str:
        prose = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        lang = _lang(prose, self._report.language)
        return (
            f'<details><summary><span class="more">All {count_words(text):,} words</span> '
            f'<span class="opening" dir="auto"{lang}>{_text(first_sentences(prose, 2, 280))}'
            f"</span></summary>\n{words}</details>\n"
        )


def _text(text: str) -> str:
    return escape(visible(text))


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


def _direction(text: str) -> str:
    """Which way the text as a whole runs: as its first letter does."""
    for char in text:
        match unicodedata.bidirectional(char):
            case "L":
                return "ltr"
            case "R" | "AL":
                return "rtl"
            case _:
                pass
    return "ltr"


def _lang(text: str, declared: str) -> str:
    """The language as an attribute, so that fonts and voices suit it. The writing itself is the
    better witness; a declared one counts where the letters say nothing."""
    sample = text[:2_000]
    for name, letters in _LANGUAGES:
        if len(letters.findall(sample)) * 5 > sum(c.isalpha() for c in sample):
            return f' lang="{name}"'
    if _TAG.fullmatch(declared) and declared != "en":
        return f' lang="{declared}"'
    return ""
