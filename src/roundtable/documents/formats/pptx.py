"""PowerPoint, slide by slide, with tables, charts, groups and the speaker's notes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from pptx import Presentation
from pptx.exc import PythonPptxError
from pptx.oxml import parse_xml
from pptx.shapes.graphfrm import GraphicFrame

from ..limits import MOST_PAGES
from ..read import Unreadable, listed
from ..worker import Found, Part
from .charts import chart_lines
from .marks import END, LOWERED, RAISED, STRUCK, marked

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"

_OTHERS = "a chart without numbers, a diagram or a file of another program"


def read_pptx(data: bytes, found: Found) -> None:
    try:
        slides = list(Presentation(io.BytesIO(data)).slides)
    except (PythonPptxError, KeyError, ValueError, AttributeError) as error:
        raise Unreadable("is damaged, or no presentation") from error
    empty: list[int] = []
    undrawn: list[int] = []

    def parts() -> Iterator[Part]:
        for number, slide in enumerate(slides[:MOST_PAGES], 1):
            unread: list[Any] = []
            lines = [line for line in _lines(slide.shapes, unread) if line.strip()]
            if unread:
                undrawn.append(number)
            frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
            if frame is not None and (notes := _written(frame).strip()):
                lines.append(f"Notes: {notes}")
            if lines:
                hidden = ", hidden" if slide.element.get("show") in ("0", "false") else ""
                yield f"slide {number}{hidden}", "\n".join(lines)
            elif not unread:
                empty.append(number)

    found.add(parts())
    if not found.parts:
        raise Unreadable("holds no text: its slides are empty, or pictures")
    if len(slides) > MOST_PAGES:
        found.lines.append(f"has {len(slides):,} slides, and the first {MOST_PAGES:,} were read")
    if empty:
        found.lines.append(f"has no text on slide {listed(empty)}: pictures, or nothing")
    if undrawn:
        found.lines.append(f"holds what cannot be read on slide {listed(undrawn)}: {_OTHERS}")


def _lines(shapes: Iterable[Any], unread: list[Any], depth: int = 0) -> Iterator[str]:
    """The lines of these shapes; those that hold what nobody can read are put into `unread`."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            if depth < 20:
                yield from _lines(shape.shapes, unread, depth + 1)
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:
                yield " | ".join(" ".join(_written(cell.text_frame).split()) for cell in row.cells)
        elif shape.has_text_frame:
            text = _written(shape.text_frame).strip()
            yield f"# {text}" if _is_title(shape) and "\n" not in text and text else text
        elif isinstance(shape, GraphicFrame):
            lines = list(_drawn(shape))
            yield from lines
            if not lines:
                unread.append(shape)


def _drawn(shape: Any) -> Iterator[str]:
    """What a frame says that is no table: a chart, or a diagram."""
    try:
        if shape.has_chart:
            yield from chart_lines(parse_xml(shape.chart_part.blob))
        for diagram in shape.element.iter(_DIAGRAM):
            drawn = parse_xml(shape.part.related_part(diagram.get(_RELATED)).blob)
            yield from (_paragraph(each) for each in drawn.iter(f"{_A}p"))
    except (KeyError, ValueError, SyntaxError):  # one broken drawing is no broken document
        return


def _written(frame: Any) -> str:
    return "\n".join(_paragraph(each._p) for each in frame.paragraphs)


def _paragraph(paragraph: Any) -> str:
    parts: list[str] = []
    for run in paragraph.iterchildren(f"{_A}r", f"{_A}br", f"{_A}fld"):
        if run.tag == f"{_A}br":
            parts.append("\n")
            continue
        mark = _mark(run.find(f"{_A}rPr"))
        parts += [mark, run.findtext(f"{_A}t") or "", END if mark else ""]
    return marked("".join(parts))


def _mark(properties: Any) -> str:
    """What the form of a run says of its text."""
    if properties is None:
        return ""
    if properties.get("strike", "noStrike") != "noStrike":
        return STRUCK
    baseline = properties.get("baseline", "0").rstrip("%")
    if baseline in ("", "0"):
        return ""
    return LOWERED if baseline.startswith("-") else RAISED


def _is_title(shape: Any) -> bool:
    return bool(shape.is_placeholder) and shape.placeholder_format.idx == 0
