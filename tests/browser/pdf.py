"""The words of a PDF that Chromium printed: enough of the format to read what is on a page."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

_OBJECT = re.compile(rb"(\d+) 0 obj\b(.*?)\bendobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_FONT = re.compile(rb"/(F\d+) (\d+) 0 R")
_CHARS = re.compile(rb"beginbfchar(.*?)endbfchar", re.DOTALL)
_RANGES = re.compile(rb"beginbfrange(.*?)endbfrange", re.DOTALL)
_HEX = re.compile(rb"<([0-9A-Fa-f]*)>")
_SHOWN = re.compile(rb"/(F\d+) [\d.]+ Tf|\[(.*?)\] ?TJ|<([0-9A-Fa-f]*)> ?Tj|\bT[dm]\b", re.DOTALL)


def page_count(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


def words(pdf: bytes) -> str:
    """All letters of a printed document without white space, which a PDF has only as places."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    fonts: dict[bytes, dict[int, str]] = {}
    for body in objects.values():
        for name, number in _FONT.findall(body):
            unicode = re.search(rb"/ToUnicode (\d+) 0 R", objects.get(int(number), b""))
            if unicode:
                fonts[name] = _letters(_read(objects[int(unicode[1])]))
    shown = (_read(body) for body in objects.values() if b" Tf" in _read(body))
    return "".join(letter for text in shown for letter in _said(text, fonts))


def _read(body: bytes) -> bytes:
    stream = _STREAM.search(body)
    if stream is None:
        return b""
    try:
        return zlib.decompress(stream[1]) if b"FlateDecode" in body else stream[1]
    except zlib.error:
        return b""


def _letters(table: bytes) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in _CHARS.findall(table):
        codes = _HEX.findall(part)
        found.update(
            (int(code, 16), _text(text)) for code, text in zip(codes[::2], codes[1::2], strict=True)
        )
    for part in _RANGES.findall(table):
        codes = _HEX.findall(part)
        for first, last, text in zip(codes[::3], codes[1::3], codes[2::3], strict=True):
            for step in range(int(last, 16) - int(first, 16) + 1):
                found[int(first, 16) + step] = chr(int(text, 16) + step)
    return found


def _text(code: bytes) -> str:
    return bytes.fromhex(code.decode()).decode("utf-16-be")


def _said(text: bytes, fonts: dict[bytes, dict[int, str]]) -> Iterator[str]:
    letters: dict[int, str] = {}
    for match in _SHOWN.finditer(text):
        if match[1]:
            letters = fonts.get(match[1], {})
            continue
        for code in _HEX.findall(match[2]) if match[2] else [match[3] or b""]:
            glyphs = (int(code[at : at + 4], 16) for at in range(0, len(code), 4))
            yield from (letters.get(glyph, "").strip() for glyph in glyphs)
