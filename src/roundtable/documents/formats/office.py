"""Office files: archives of XML. Looked at before anything of them is parsed."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import IO
from xml.parsers import expat

from ..kinds import ARCHIVE
from ..limits import MOST_MEMBERS, MOST_UNPACKED
from ..read import NoDocument, Unreadable
from ..worker import Found

_PIECE = 4096
_ENCODINGS = ("utf-8", "utf-16", "us-ascii", "ascii", "iso-8859-1", "windows-1252")
"""What office programs write, and what every reader of XML takes for the same characters."""
_OPEN = ("content.xml", "mimetype")


def office_reader(file: BytesIO) -> Callable[[bytes, Found], None]:
    """Who reads it. Unreadable for what is no office file, or a trap."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            _refuse_traps(archive)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, EOFError):
        raise Unreadable("is damaged: the file is not whole") from None
    if "word/document.xml" in names:
        from .docx import read_docx

        return read_docx
    if "ppt/presentation.xml" in names:
        from .pptx import read_pptx

        return read_pptx
    if "xl/workbook.xml" in names:
        from .xlsx import read_xlsx

        return read_xlsx
    if "xl/workbook.bin" in names:
        raise Unreadable("is a binary workbook; save it as .xlsx")
    if names.issuperset(_OPEN):
        raise Unreadable("is an OpenDocument file; save it as .docx, .xlsx or .pptx")
    raise NoDocument(ARCHIVE)


def _refuse_traps(archive: zipfile.ZipFile) -> None:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise Unreadable(f"holds {len(members):,} files, which no document needs")
    if any(each.flag_bits & 1 for each in members):
        raise Unreadable("is protected by a password; save it without one")
    if sum(each.file_size for each in members) > MOST_UNPACKED:
        raise Unreadable(f"unpacks to more than {MOST_UNPACKED // 1_000_000} MB")
    for each in members:
        with archive.open(each) as part:
            _refuse_declared(part, xml=each.filename.endswith((".xml", ".rels")))


def _refuse_declared(part: IO[bytes], *, xml: bool) -> None:
    """Unreadable for XML that declares anything before its first element, whatever it is encoded
    in and however far down; a part of another name is looked at if it begins like XML."""
    piece = part.read(_PIECE)
    if not piece or not (xml or piece.lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n").startswith(b"<")):
        return
    prolog = _Prolog()
    try:
        while piece:
            prolog.parser.Parse(piece, False)
            piece = part.read(_PIECE)
    except _Begun:
        return
    except expat.ExpatError:
        if xml:
            raise Unreadable("is damaged: its XML cannot be read") from None


class _Begun(Exception):
    """The first element: nothing can be declared any more."""


class _Prolog:
    """What stands before the first element, read as XML is: a search for words would miss those in
    another encoding."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.XmlDeclHandler = self._encoded
        self.parser.StartDoctypeDeclHandler = self._declared
        self.parser.StartElementHandler = self._begun

    def _encoded(self, version: str, encoding: str | None, standalone: int) -> None:  # noqa: ARG002 - the parser's
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            raise Unreadable("holds XML in an encoding that no office program writes")

    def _declared(self, *_: object) -> None:
        raise Unreadable("declares XML entities, as no office program does")

    def _begun(self, *_: object) -> None:
        raise _Begun
