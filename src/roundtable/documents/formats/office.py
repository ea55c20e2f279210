"""Office files: archives of XML. Looked at before anything of them is parsed."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from io import BytesIO

from ..limits import MOST_MEMBERS, MOST_UNPACKED
from ..read import Unreadable
from ..worker import Found

_DECLARED = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_HEAD = 4096
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
    raise Unreadable("is an archive; unpack it and give what it holds")


def _refuse_traps(archive: zipfile.ZipFile) -> None:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise Unreadable(f"holds {len(members):,} files, which no document needs")
    if any(each.flag_bits & 1 for each in members):
        raise Unreadable("is protected by a password; save it without one")
    if sum(each.file_size for each in members) > MOST_UNPACKED:
        raise Unreadable(f"unpacks to more than {MOST_UNPACKED // 1_000_000} MB")
    for each in members:
        if each.filename.endswith((".xml", ".rels")):
            with archive.open(each) as part:
                if _DECLARED.search(part.read(_HEAD)):
                    raise Unreadable("declares XML entities, as no office program does")
