"""PowerPoint, slide by slide, with tables, groups and the speaker's notes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from pptx import Presentation
from pptx.exc import PythonPptxError

from ..limits import MOST_PAGES
from ..read import Unreadable
from ..worker import Found, Part


def read_pptx(data: bytes, found: Found) -> None:
    try:
        slides = list(Presentation(io.BytesIO(data)).slides)
    except (PythonPptxError, KeyError, ValueError, AttributeError) as error:
        raise Unreadable("is damaged, or no presentation") from error
    empty: list[int] = []

    def parts() -> Iterator[Part]:
        for number, slide in enumerate(slides[:MOST_PAGES], 1):
            lines = [line for line in _lines(slide.shapes) if line.strip()]
            frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
            if frame is not None and (notes := frame.text.strip()):
                lines.append(f"Notes: {notes}")
            if lines:
                yield f"slide {number}", "\n".join(lines)
            else:
                empty.append(number)

    found.add(parts())
    if not found.parts:
        raise Unreadable("holds no text: its slides are empty, or pictures")
    if len(slides) > MOST_PAGES:
        found.lines.append(f"has {len(slides):,} slides, and the first {MOST_PAGES:,} were read")


def _lines(shapes: Iterable[Any], depth: int = 0) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            if depth < 20:
                yield from _lines(shape.shapes, depth + 1)
        elif getattr(shape, "has_table", False):
            for row in shape.table.rows:
                yield " | ".join(" ".join(cell.text.split()) for cell in row.cells)
        elif shape.has_text_frame:
            text = shape.text_frame.text.replace("\v", "\n").strip()
            yield f"# {text}" if _is_title(shape) and "\n" not in text and text else text


def _is_title(shape: Any) -> bool:
    return bool(shape.is_placeholder) and shape.placeholder_format.idx == 0
