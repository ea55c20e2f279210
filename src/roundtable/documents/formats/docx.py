"""Word: paragraphs, headings, lists and tables in their order, with text boxes and footnotes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
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
        notes = [
            rel.target_part.blob
            for rel in document.part.rels.values()
            if rel.reltype.endswith(("/footnotes", "/endnotes")) and not rel.is_external
        ]
    except (OpcError, KeyError, ValueError, AttributeError) as error:
        raise Unreadable("is damaged, or no Word document") from error
    found.add(_together(_blocks(document.element.body, styles)))
    for blob in notes:
        lines = [text for text in _blocks(parse_xml(blob), styles) if text]
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


def _blocks(element: Any, styles: dict[str, str]) -> Iterator[str]:
    """Whatever lies between (content controls, sections, revisions) is gone through."""
    for child in element:
        if child.tag == f"{_W}p":
            if text := _text(child).strip():
                yield _styled(child, text, styles)
            for box in child.iter(f"{_W}txbxContent"):
                if not _within_fallback(box):
                    yield from _blocks(box, styles)
        elif child.tag == f"{_W}tbl":
            if rows := "\n".join(_rows(child)):
                yield rows
        elif isinstance(child.tag, str) and child.tag not in (f"{_W}sectPr", _FALLBACK):
            yield from _blocks(child, styles)


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


def _rows(table: Any) -> Iterator[str]:
    for row in table.iter(f"{_W}tr"):
        cells = [
            " ".join(" ".join(_text(each) for each in cell.iter(f"{_W}p")).split())
            for cell in row.iter(f"{_W}tc")
        ]
        if any(cells):
            yield " | ".join(cells)


def _text(paragraph: Any) -> str:
    """Its own words, without what was deleted and without the boxes that hang on it."""
    parts: list[str] = []

    def walk(element: Any) -> None:
        for child in element:
            if child.tag == f"{_W}t":
                parts.append(child.text or "")
            elif child.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
                parts.append("\t" if child.tag == f"{_W}tab" else "\n")
            elif child.tag not in (f"{_W}txbxContent", f"{_W}pPr", f"{_W}del", _FALLBACK):
                walk(child)

    walk(paragraph)
    return "".join(parts)


def _within_fallback(element: Any) -> bool:
    return any(each.tag == _FALLBACK for each in element.iterancestors())
