"""Word: paragraphs, headings, lists and tables in their order, with text boxes and footnotes. What
is formatted as hidden is left out: whoever reads the document does not see it."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator
from typing import Any

from docx import Document
from docx.opc.exceptions import OpcError
from docx.oxml import parse_xml

from ..read import Unreadable
from ..worker import Found, Part

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LEVEL = re.compile(r"heading (\d)")
_GROUP = 40
"""Lines that are handed on at once."""


def read_docx(data: bytes, found: Found) -> None:
    try:
        document = Document(io.BytesIO(data))
        styles = {style.style_id: (style.name or "").lower() for style in document.styles}
        hidden = frozenset(
            style.style_id
            for style in document.styles
            if _hides(style.element.find(f"{_W}rPr"), "rStyle", (), False)
        )
        notes = [
            rel.target_part.blob
            for rel in document.part.rels.values()
            if rel.reltype.endswith(("/footnotes", "/endnotes")) and not rel.is_external
        ]
    except (OpcError, KeyError, ValueError, AttributeError) as error:
        raise Unreadable("is damaged, or no Word document") from error
    found.add(_together(_blocks(document.element.body, styles, hidden)))
    for blob in notes:
        lines = [text for text in _blocks(parse_xml(blob), styles, hidden) if text]
        if lines:
            found.add(iter([("footnotes", "\n".join(lines))]))


def _together(lines: Iterator[str]) -> Iterator[Part]:
    group: list[str] = []
    for line in lines:
        group.append(line)
        if len(group) == _GROUP:
            yield "", "\n\n".join(group)
            group = []
    if group:
        yield "", "\n\n".join(group)


def _blocks(element: Any, styles: dict[str, str], hidden: Collection[str]) -> Iterator[str]:
    """Whatever lies between (content controls, sections, revisions) is gone through."""
    for child in element:
        if child.tag == f"{_W}p":
            if text := _text(child, hidden).strip():
                yield _styled(child, text, styles)
            for box in child.iter(f"{_W}txbxContent"):
                if not _within_fallback(box):
                    yield from _blocks(box, styles, hidden)
        elif child.tag == f"{_W}tbl":
            if rows := "\n".join(_rows(child, hidden)):
                yield rows
        elif isinstance(child.tag, str) and child.tag not in (f"{_W}sectPr", _FALLBACK):
            yield from _blocks(child, styles, hidden)


def _styled(paragraph: Any, text: str, styles: dict[str, str]) -> str:
    properties = paragraph.find(f"{_W}pPr")
    if properties is None:
        return text
    style = properties.find(f"{_W}pStyle")
    name = styles.get(style.get(f"{_W}val", ""), "") if style is not None else ""
    if name == "title":
        return f"# {text}"
    if level := _LEVEL.match(name):
        return f"{'#' * min(6, int(level[1]))} {text}"
    if properties.find(f"{_W}numPr") is not None or name.startswith("list"):
        return f"- {text}"
    return text


def _rows(table: Any, hidden: Collection[str]) -> Iterator[str]:
    """Row by row; the rows of a table that lies in a cell follow the row of that cell."""
    for row in _own(table, f"{_W}tr"):
        columns = list(_own(row, f"{_W}tc"))
        cells = [
            " ".join(" ".join(_text(each, hidden) for each in _own(cell, f"{_W}p")).split())
            for cell in columns
        ]
        if any(cells):
            yield " | ".join(cells)
        for cell in columns:
            for inner in _own(cell, f"{_W}tbl"):
                yield from _rows(inner, hidden)


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


def _text(paragraph: Any, hidden: Collection[str]) -> str:
    """Its own words, without what was deleted or is hidden and without the boxes that hang on it.
    `hidden` are the ids of the styles that hide."""
    parts: list[str] = []

    def walk(element: Any, unseen: bool) -> None:
        for child in element:
            if child.tag == f"{_W}t":
                parts.append("" if unseen else child.text or "")
            elif child.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
                parts.append("\t" if child.tag == f"{_W}tab" else "\n")
            elif child.tag == f"{_W}r":
                walk(child, _hides(child.find(f"{_W}rPr"), "rStyle", hidden, unseen))
            elif child.tag not in (f"{_W}txbxContent", f"{_W}pPr", f"{_W}del", _FALLBACK):
                walk(child, unseen)

    walk(paragraph, _styled_as(paragraph.find(f"{_W}pPr"), "pStyle") in hidden)
    return "".join(parts)


def _hides(properties: Any, style: str, hidden: Collection[str], otherwise: bool) -> bool:
    """Whether properties make hidden what they are for: by themselves, or else by a style."""
    if properties is None:
        return otherwise
    vanish = properties.find(f"{_W}vanish")
    if vanish is not None:
        return vanish.get(f"{_W}val", "true").lower() not in ("0", "false", "off")
    return otherwise or _styled_as(properties, style) in hidden


def _styled_as(properties: Any, style: str) -> str:
    found = properties.find(f"{_W}{style}") if properties is not None else None
    return "" if found is None else found.get(f"{_W}val", "")


def _within_fallback(element: Any) -> bool:
    return any(each.tag == _FALLBACK for each in element.iterancestors())
