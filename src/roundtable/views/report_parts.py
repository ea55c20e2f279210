"""What a report is made of, whatever form it is written in.

Every text here is untrusted, free of secrets, and not yet escaped: each form escapes for itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ..core.naming import line as line
from ..core.visible import shown
from .emphasis import without_emphasis

if TYPE_CHECKING:
    from .decision import Decision
    from .safe_markdown import Labels


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown that somebody wrote."""

    text: str
    verdict: bool = False
    """Its quotations are to be verified against the speeches."""
    work: bool = False
    """A work in its fence: it stays as it was written."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of the program's own, with others' words in it: text, not Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Alert:
    """What a reader must not miss, and what to do about it."""

    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of plain text. The first cell of a row names it."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    """The columns that hold numbers."""
    wide: tuple[int, ...] = ()
    """The columns that hold sentences and need room for them."""
    folded: bool = False
    """Whether it is a detail that a form may hide until it is asked for."""
    anchors: tuple[str, ...] = ()
    """The ids of the rows, where something may point at them."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, for forms that can show one. What it shows stands in a table too."""

    draw: Callable[[], str]
    """Gives it as SVG. Forms that show none never ask."""
    caption: str


@dataclass(frozen=True, slots=True)
class Speech:
    """One turn: what was said, or why nothing was."""

    turn: str
    name: str
    emoji: str
    seat: int | None
    """The place at the table, counted from 0; None is the host."""
    stage: str
    model: str
    at: datetime | None
    marks: tuple[str, ...]
    """Flags, repairs, substitutions: what a reader has to know of these words."""
    text: str
    failure: Alert | None = None


@dataclass(frozen=True, slots=True)
class Subsection:
    id: str
    title: str
    short: str
    """Its title where there is little room."""
    parts: tuple[Speech, ...]


Part = Prose | Line | Alert | Grid | Picture | Speech | Subsection


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A whole discussion, ready to be written down."""

    title: str
    facts: tuple[tuple[str, str], ...]
    """What matters most, in a few words each: a name and its value."""
    sections: tuple[Section, ...]
    language: str
    links: Mapping[str, str]
    """What the text may cite (turns, points), each with the id of its place in the report."""
    labels: Labels
    """What people call the turns."""
    speeches: dict[str, str]
    """What participants said, by turn: the words that a quotation must be found in."""
    own: dict[str, str]
    """By participant, what stands in the verdict in its own words: dissents, extracts."""
    footer: str
    decision: Decision
    """What it begins with, where a form can show it."""
    seats: dict[str, int]
    """The places at the table by participant, counted from 0."""
    made: tuple[Section, ...] = ()
    """How it was made: what stands behind all others."""


def anchor(kind: str, name: str) -> str:
    """The id of a turn's or a point's place. An id must not contain white space."""
    return f"{kind}-{'_'.join(name.split())}"


_HEADED = re.compile(r"^#{1,6}\s+(?:Position\b:?\s*)?")
_CUT_MARK = re.compile(r"^\*\*(?=\w)|\s+\*\*\d*[.)]?$|(?<=[\w.!?:])\*\*(?![\w*/(])")
"""What a cut left of an emphasis, with the number of a list behind it: it says nothing alone."""


def unmarked(text: str) -> str:
    """What somebody holds, in one line without marks of Markdown."""
    return _CUT_MARK.sub("", without_emphasis(_HEADED.sub("", line(text)))).strip()


def clean(text: str) -> str:
    """Words as they may be shown: no secrets, nothing that cannot be written."""
    return shown(text)
