"""Word: paragraphs, headings, lists and tables in their order, with text boxes, charts and
footnotes. What is formatted as hidden is left out: whoever reads the document does not see it."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from docx import Document
from docx.opc.exceptions import OpcError
from docx.oxml import parse_xml

from ..read import Unreadable
from ..worker import Found, Part
from .charts import chart_lines
from .marks import END, LOWERED, RAISED, STRUCK, marked

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_PLACED = {f"{_M}sup": RAISED, f"{_M}sub": LOWERED}
_VERTICAL = {"superscript": RAISED, "subscript": LOWERED}
_LEFT_OUT = (f"{_W}txbxContent", f"{_W}pPr", f"{_W}del", f"{_W}moveFrom", _FALLBACK)
_LEVEL = re.compile(r"heading (\d)")
_GROUP = 40
"""Lines that are handed on at once."""


@dataclass(frozen=True, slots=True)
class _Beside:
    """What a document keeps beside its text, by the ids that stand there: of the styles what they
    are called, which of them hide and what others mark; and the parts that hold charts."""

    names: Mapping[str, str]
    hidden: Collection[str]
    marks: Mapping[str, str]
    parts: Mapping[str, Any]


def read_docx(data: bytes, found: Found) -> None:
    try:
        document = Document(io.BytesIO(data))
        beside = _beside(document)
        notes = [
            rel.target_part.blob
            for rel in document.part.rels.values()
            if rel.reltype.endswith(("/footnotes", "/endnotes")) and not rel.is_external
        ]
    except (OpcError, KeyError, ValueError, AttributeError) as error:
        raise Unreadable("is damaged, or no Word document") from error
    found.add(_together(_blocks(document.element.body, beside)))
    for blob in notes:
        lines = [text for text in _blocks(parse_xml(blob), beside) if text]
        if lines:
            found.add(iter([("footnotes", "\n".join(lines))]))


def _beside(document: Any) -> _Beside:
    formed = {each.style_id: each.element.find(f"{_W}rPr") for each in document.styles}
    return _Beside(
        {each.style_id: (each.name or "").lower() for each in document.styles},
        frozenset(name for name, form in formed.items() if _hides(form, "rStyle", (), False)),
        {name: mark for name, form in formed.items() if (mark := _mark(form))},
        document.part.related_parts,
    )


def _together(lines: Iterator[str]) -> Iterator[Part]:
    group: list[str] = []
    for line in lines:
        group.append(line)
        if len(group) == _GROUP:
            yield "", "\n\n".join(group)
            group = []
    if group:
        yield "", "\n\n".join(group)


def _blocks(element: Any, beside: _Beside) -> Iterator[str]:
    """Whatever lies between (content controls, sections, revisions) is gone through."""
    for child in element:
        if child.tag == f"{_W}p":
            if text := _text(child, beside).strip():
                yield _styled(child, text, beside)
            for box in child.iter(f"{_W}txbxContent"):
                if not _within_fallback(box):
                    yield from _blocks(box, beside)
            for chart in child.iter(f"{_C}chart"):
                if next(chart.iterancestors(f"{_W}p")) is child and not _within_fallback(chart):
                    yield from _drawn(chart, beside)
        elif child.tag == f"{_W}tbl":
            if rows := "\n".join(_rows(child, beside)):
                yield rows
        elif isinstance(child.tag, str) and child.tag not in (f"{_W}sectPr", _FALLBACK):
            yield from _blocks(child, beside)


def _drawn(chart: Any, beside: _Beside) -> Iterator[str]:
    """The numbers of a chart that hangs on a paragraph."""
    part = beside.parts.get(chart.get(f"{_R}id", ""))
    try:
        if part is not None and (lines := "\n".join(chart_lines(parse_xml(part.blob)))):
            yield lines
    except (ValueError, SyntaxError):  # one broken chart is no broken document
        return


def _styled(paragraph: Any, text: str, beside: _Beside) -> str:
    properties = paragraph.find(f"{_W}pPr")
    if properties is None:
        return text
    style = properties.find(f"{_W}pStyle")
    name = beside.names.get(style.get(f"{_W}val", ""), "") if style is not None else ""
    if name == "title":
        return f"# {text}"
    if level := _LEVEL.match(name):
        return f"{'#' * min(6, int(level[1]))} {text}"
    if properties.find(f"{_W}numPr") is not None or name.startswith("list"):
        return f"- {text}"
    return text


def _rows(table: Any, beside: _Beside) -> Iterator[str]:
    """Row by row; the rows of a table that lies in a cell follow the row of that cell."""
    for row in _own(table, f"{_W}tr"):
        columns = list(_own(row, f"{_W}tc"))
        cells = [
            " ".join(" ".join(_text(each, beside) for each in _own(cell, f"{_W}p")).split())
            for cell in columns
        ]
        if any(cells):
            yield " | ".join(cells)
        for cell in columns:
            for inner in _own(cell, f"{_W}tbl"):
                yield from _rows(inner, beside)


def _own(element: Any, tag: str) -> Iterator[Any]:
    """What lies in an element under this tag, but not what lies in a table within it, nor twice
    what is there a second time for older programs."""
    for child in element:
        if child.tag == tag:
            yield child
            if tag == f"{_W}p":  # boxes hang on paragraphs, and hold some of their own
                yield from _own(child, tag)
        elif isinstance(child.tag, str) and child.tag not in (f"{_W}tbl", _FALLBACK):
            yield from _own(child, tag)


def _text(paragraph: Any, beside: _Beside) -> str:
    """Its own words, without what was deleted or is hidden and without the boxes that hang on it;
    what is raised, lowered or struck out is marked."""
    parts: list[str] = []

    def walk(element: Any, unseen: bool) -> None:
        for child in element:
            if child.tag in (f"{_W}t", f"{_M}t"):
                parts.append("" if unseen else child.text or "")
            elif child.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
                parts.append("\t" if child.tag == f"{_W}tab" else "\n")
            elif child.tag == f"{_W}r":
                formed = child.find(f"{_W}rPr")
                mark = _mark(formed) or beside.marks.get(_styled_as(formed, "rStyle"), "")
                around(child, _hides(formed, "rStyle", beside.hidden, unseen), mark)
            elif child.tag in _PLACED:
                around(child, unseen, _PLACED[child.tag])
            elif child.tag == f"{_M}d":
                opens, closes = _delimiters(child)
                parts.append(opens)
                walk(child, unseen)
                parts.append(closes)
            elif child.tag not in _LEFT_OUT:
                if child.tag == f"{_M}den":
                    parts.append(" / ")
                walk(child, unseen)

    def around(element: Any, unseen: bool, mark: str) -> None:
        parts.append(mark)
        walk(element, unseen)
        parts.append(END if mark else "")

    walk(paragraph, _styled_as(paragraph.find(f"{_W}pPr"), "pStyle") in beside.hidden)
    return marked("".join(parts))


def _mark(properties: Any) -> str:
    """What the form of a run says of its text."""
    if properties is None:
        return ""
    if any(_is_on(properties.find(f"{_W}{name}")) for name in ("strike", "dstrike")):
        return STRUCK
    place = properties.find(f"{_W}vertAlign")
    return "" if place is None else _VERTICAL.get(place.get(f"{_W}val", ""), "")


def _delimiters(formula: Any) -> tuple[str, str]:
    found = (formula.find(f"{_M}dPr/{_M}{name}") for name in ("begChr", "endChr"))
    opens, closes = (None if each is None else each.get(f"{_M}val", "") for each in found)
    return "(" if opens is None else opens, ")" if closes is None else closes


def _hides(properties: Any, style: str, hidden: Collection[str], otherwise: bool) -> bool:
    """Whether properties make hidden what they are for: by themselves, or else by a style."""
    if properties is None:
        return otherwise
    vanish = properties.find(f"{_W}vanish")
    if vanish is not None:
        return _is_on(vanish)
    return otherwise or _styled_as(properties, style) in hidden


def _is_on(switch: Any) -> bool:
    on = switch is not None and switch.get(f"{_W}val", "true").lower()
    return on not in (False, "0", "false", "off")


def _styled_as(properties: Any, style: str) -> str:
    found = properties.find(f"{_W}{style}") if properties is not None else None
    return "" if found is None else found.get(f"{_W}val", "")


def _within_fallback(element: Any) -> bool:
    return any(each.tag == _FALLBACK for each in element.iterancestors())
