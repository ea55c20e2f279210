"""What a document is: by its content, since a name can say anything."""

from __future__ import annotations

import codecs
import re
from importlib.util import find_spec
from pathlib import PurePath
from typing import Literal

from ..core.extras import install
from .read import NoDocument, OtherEncoding, Unreadable

Kind = Literal["text", "html", "pdf", "office"]

EXTRA = install("documents")
_LIBRARIES: dict[Kind, tuple[str, ...]] = {
    "pdf": ("pypdf",),
    "office": ("docx", "pptx", "openpyxl"),
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*")
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"(\xb5/\xfd")
_OLD = {".doc": ".docx", ".xls": ".xlsx", ".ppt": ".pptx"}
ARCHIVE = "is an archive; unpack it and give what it holds"
DOCUMENTS = (
    ".pdf", ".docx", ".docm", ".doc", ".pptx", ".pptm", ".ppt", ".xlsx", ".xlsm", ".xlsb", ".xls",
    ".odt", ".odp", ".ods", ".rtf",
)  # fmt: skip
"""How the names of documents end: whoever has one in a folder may miss it."""
PAGES = (".html", ".htm", ".xhtml")


def kind_of(name: str, data: bytes) -> Kind:
    """What to read it as. Unreadable says what it is, if that is nothing that can be read."""
    head = data[:1024]
    if b"%PDF-" in head:
        return _available("pdf", "PDF")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _available("office", "Word, PowerPoint and Excel")
    if head.startswith(_OLE):
        if _ENCRYPTED in data:
            raise Unreadable("is protected by a password; save it without one")
        newer = _OLD.get(PurePath(name).suffix.lower(), ".docx, .xlsx or .pptx")
        raise Unreadable(f"is in an old Office format; save it as {newer}")
    if head.startswith(_PICTURES) or head[4:12] in (b"ftypheic", b"ftypavif"):
        raise NoDocument("is a picture; give its text")
    if head.startswith(_PACKED):
        raise NoDocument(ARCHIVE)
    if head.startswith(rb"{\rtf"):
        raise Unreadable("is rich text; save it as .docx or as plain text")
    suffix = PurePath(name).suffix.lower()
    opening = head.lstrip(codecs.BOM_UTF8 + b" \t\r\n")[:15].lower()
    if suffix in PAGES or opening.startswith((b"<!doctype html", b"<html")):
        return "html"
    return "text"


def _available(kind: Kind, said: str) -> Kind:
    if any(find_spec(library) is None for library in _LIBRARIES[kind]):
        raise Unreadable(f"needs the extra that reads {said}: {EXTRA}")
    return kind


_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""What no text has, whatever its encoding."""


def decoded(data: bytes) -> str:
    """A text file's text. Unreadable if it is none."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            raise Unreadable("is damaged: it begins as UTF-16 text and does not go on so") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in data:
            raise NoDocument("is no text, and no kind of document that can be read") from None
        kind = NoDocument if _CONTROLS.search(data) else OtherEncoding
        raise kind(
            f"is not UTF-8 text (byte {error.start}); convert it to UTF-8 text first"
        ) from None
    if "\0" in text:
        raise NoDocument("is no text, and no kind of document that can be read")
    return text
