"""Documents as people have them, made by the libraries that read them, and some that nobody should
open."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence

import pytest

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf_bomb(*, fonts: bool) -> bytes:
    """One page that unpacks to 80 MB; where it names no fonts, a reader has no reason to unpack."""
    packer = zlib.compressobj(9)
    piece = b"BT /F1 9 Tf (The price is 4217 euros.) Tj ET\n" * 25_000
    drawn = b"".join(packer.compress(piece) for _ in range(80)) + packer.flush()
    resources = b"/Resources << /Font << /F1 3 0 R >> >>" if fonts else b""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R %b >>" % resources,
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(drawn), drawn),
    ]
    data = b"%PDF-1.4\n"
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 6\n0000000000 65535 f \n%btrailer << /Size 6 /Root 1 0 R >>\n" % table
    return data + end + b"startxref\n%d\n%%%%EOF\n" % len(data)


def pdf(*pages: str, password: str | None = None) -> bytes:
    """One with a line on each page; "" is a page without text, as a scanner leaves it."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{4 + 2 * n} 0 R' for n in range(len(pages)))}] "
        f"/Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else "q Q"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    data, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{each}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer "
    end += f"<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    data += end.encode()
    if password is None:
        return data
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(io.BytesIO(data)))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    return saved(writer, "write")


def saved(document: object, how: str = "save") -> bytes:
    into = io.BytesIO()
    getattr(document, how)(into)
    return into.getvalue()


def docx() -> bytes:
    """With what other programs put between the paragraphs: a content control, a revision, a box."""
    library = pytest.importorskip("docx")
    from docx.oxml import parse_xml

    document = library.Document()
    document.add_heading("Migration plan", 0)
    document.add_heading("Costs", 1)
    document.add_paragraph("The move costs 40,000 euros.")
    document.add_paragraph("Buy time", style="List Bullet")
    table = document.add_table(2, 2)
    for place, text in enumerate(("Year", "Cost", "2027", "40,000")):
        table.cell(*divmod(place, 2)).text = text
    odd = (
        "<w:sdt{0}><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p>"
        "</w:sdtContent></w:sdt>",
        "<w:p{0}><w:ins><w:r><w:t>Put in.</w:t></w:r></w:ins><w:del><w:r>"
        "<w:delText>Taken out.</w:delText></w:r></w:del></w:p>",
        "<w:p{0}><w:r><w:t>Beside a box.</w:t><mc:AlternateContent><mc:Choice><w:txbxContent>"
        "<w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback>"
        "<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>",
    )
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    for place, xml in enumerate(odd, 3):
        document.element.body.insert(
            place, parse_xml(xml.format(f' xmlns:w="{WORD}" xmlns:mc="{mc}"'))
        )
    return saved(document)


def pptx() -> bytes:
    library = pytest.importorskip("pptx")
    from pptx.util import Inches

    deck = library.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Roadmap"
    first.placeholders[1].text = "Quarter one: CI"
    first.notes_slide.notes_text_frame.text = "Nobody has measured it."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    inch = Inches(1)
    second.shapes.add_table(1, 2, inch, inch, inch, inch).table.cell(0, 0).text = "in a table"
    return saved(deck)


def xlsx() -> bytes:
    library = pytest.importorskip("openpyxl")
    book = library.Workbook()
    book.active.title = "Budget"
    for row in (["Item", "Cost"], ["CI", 1200.5], ["Total", "=SUM(B2:B2)"]):
        book.active.append(row)
    book.active["E7"] = "far away"
    hidden = book.create_sheet("Margins")
    hidden["A1"] = "nobody sees this"
    hidden.sheet_state = "hidden"
    return saved(book)


def formed_docx() -> bytes:
    """Words that say something by their form alone, and a formula."""
    library = pytest.importorskip("docx")
    from docx.oxml import parse_xml

    document = library.Document()
    paragraph = document.add_paragraph("We expect 10")
    for each in "12":  # Word cuts words in two as it likes
        paragraph.add_run(each).font.superscript = True
    paragraph.add_run(" users of H")
    paragraph.add_run("2").font.subscript = True
    paragraph.add_run("O, the 1")
    paragraph.add_run("st").font.superscript = True
    paragraph.add_run(" for ")
    paragraph.add_run("100").font.strike = True
    paragraph.add_run("90 euros.")
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    paragraph._p.append(
        parse_xml(
            f'<m:oMath xmlns:m="{math}"><m:sSup><m:e><m:d><m:e><m:r><m:t>a+b</m:t></m:r></m:e>'
            "</m:d></m:e><m:sup><m:r><m:t>n+1</m:t></m:r></m:sup></m:sSup></m:oMath>"
        )
    )
    moved = "<w:moveFrom xmlns:w='{0}'><w:r><w:t>Moved away.</w:t></w:r></w:moveFrom>"
    paragraph._p.append(parse_xml(moved.format(WORD)))
    return saved(document)


def drawn_pptx() -> bytes:
    """A chart, a slide that holds nothing to read, and a hidden one with a raised digit."""
    library = pytest.importorskip("pptx")
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = library.Presentation()
    told = CategoryChartData()
    told.categories = ["2025", "2026"]
    told.add_series("Loss", (-4200000, None))
    told.add_series("Gain", (3, 4))
    inch = Inches(1)
    kind = XL_CHART_TYPE.COLUMN_CLUSTERED
    first = deck.slides.add_slide(deck.slide_layouts[5])
    first.shapes.title.text = "Revenue"
    first.shapes.add_chart(kind, inch, inch, inch, inch, told)
    deck.slides.add_slide(deck.slide_layouts[6])
    last = deck.slides.add_slide(deck.slide_layouts[5])
    last.element.set("show", "0")
    last.shapes.title.text = "Old price 10"
    run = last.shapes.title.text_frame.paragraphs[0].add_run()
    run.text = "6"
    run._r.get_or_add_rPr().set("baseline", "30000")
    return saved(deck)


def wide_xlsx() -> bytes:
    """A year side by side, something far to the right, and a raised digit."""
    library = pytest.importorskip("openpyxl")
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    book = library.Workbook()
    book.active.append([*range(1, 366)])
    book.active["A2"] = CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "6"))
    book.active["XFD2"] = "far away"
    return saved(book)


def packed(members: Sequence[tuple[str, bytes]]) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return into.getvalue()


def with_document(data: bytes, xml: bytes) -> bytes:
    """A Word file with another document in it."""
    return with_part(data, "word/document.xml", xml)


def with_part(data: bytes, part: str, xml: bytes) -> bytes:
    """An office file with another part of this name in it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return packed(
            [(name, xml if name == part else archive.read(name)) for name in archive.namelist()]
        )


HTML = b"""<!doctype html><title>The site</title><style>x{}</style><body>
<h1>Hello &amp; welcome</h1>
<p>One <b>bold</b> word.<ul><li>first<li>second</ul><table><tr><th>a<th>b<tr><td>1<td>2</table>
<script>alert(1)</script><!-- nobody reads this --><p>End."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
