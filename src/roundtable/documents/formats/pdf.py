"""PDF, page by page."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

from pypdf import PdfReader
from pypdf.errors import DependencyError, LimitReachedError, PyPdfError

from ..limits import MOST_PAGES
from ..read import Unreadable, listed
from ..worker import Found, Part

BOMB = "a decompression bomb"


def read_pdf(data: bytes, found: Found) -> None:
    logging.disable()  # its warnings are about the file's maker
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not _opened(reader):
            raise Unreadable("is protected by a password; save it without one")
        count = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable("is damaged or not a PDF") from error
    empty: list[int] = []
    broken: list[int] = []
    bombs: list[int] = []

    def pages() -> Iterator[Part]:
        for number in range(1, min(count, MOST_PAGES) + 1):
            try:
                page = reader.pages[number - 1]
                # Of a page without fonts nothing is unpacked, however much it holds.
                if not (text := page.extract_text().strip()) and (drawn := page.get_contents()):
                    drawn.get_data()
            except MemoryError:
                raise
            except LimitReachedError:
                bombs.append(number)
                continue
            except Exception:  # one broken page is no broken document
                broken.append(number)
                continue
            if text:
                yield f"page {number}", text
            else:
                empty.append(number)

    found.add(pages())
    if not found.parts:
        if not count:
            raise Unreadable("has no pages")
        if bombs:
            raise Unreadable(f"unpacks to far more than a page holds ({BOMB})")
        if broken:
            raise Unreadable("is damaged: no page can be read")
        raise Unreadable("holds no text: it seems to be scanned; run text recognition (OCR) first")
    if count > MOST_PAGES:
        found.lines.append(f"has {count:,} pages, and the first {MOST_PAGES:,} were read")
    if empty:
        found.lines.append(f"has no text on page {listed(empty)}: pictures, or scanned")
    if bombs:
        told = f"unpacks on page {listed(bombs)} to far more than a page holds ({BOMB})"
        found.lines.append(told)
    if broken:
        found.lines.append(f"is damaged on page {listed(broken)}")


def _opened(reader: PdfReader) -> bool:
    """Many are encrypted only against being changed, and open with an empty password."""
    try:
        return bool(reader.decrypt(""))
    except (DependencyError, NotImplementedError):
        return False
