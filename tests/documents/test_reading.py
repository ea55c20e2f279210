"""One document: what is read of it, and what is said of one that cannot be read."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from roundtable.documents import reading
from roundtable.documents.read import Read, Unreadable
from roundtable.documents.reading import read_document
from roundtable.documents.worker import Found

from .samples import (
    HTML,
    OLE,
    docx,
    drawn_pptx,
    formed_docx,
    packed,
    pdf,
    pdf_bomb,
    pptx,
    wide_xlsx,
    with_document,
    with_part,
    xlsx,
)

pytest.importorskip("pypdf", reason="the extra `documents` is not installed")


def read(name: str, data: bytes) -> Read:
    return asyncio.run(read_document(name, data))


def test_pages_slides_and_sheets_are_numbered_so_that_they_can_be_cited() -> None:
    assert read("plan.pdf", pdf("Costs rise.", "Risk falls.")).text == (
        "[page 1]\nCosts rise.\n\n[page 2]\nRisk falls."
    )
    assert read("deck.pptx", pptx()).text == (
        "[slide 1]\n# Roadmap\nQuarter one: CI\nNotes: Nobody has measured it.\n\n"
        "[slide 2]\nin a table |"
    )
    assert read("budget.xlsx", xlsx()).text == (
        "[sheet Budget]\n1: Item | Cost\n2: CI | 1200.5\n3: Total | =SUM(B2:B2)\n"
        "7:  |  |  |  | far away\n\n[sheet Margins, hidden]\n1: nobody sees this"
    )


def test_a_word_file_is_read_in_its_order_with_what_other_programs_put_between() -> None:
    assert read("plan.docx", docx()).text.split("\n\n") == [
        "# Migration plan",
        "# Costs",
        "The move costs 40,000 euros.",
        "In a control.",
        "Put in.",
        "Beside a box.",
        "In a box.",
        "- Buy time",
        "Year | Cost\n2027 | 40,000",
    ]


def test_a_page_is_read_as_its_reader_sees_it() -> None:
    assert read("page.html", HTML).text == (
        "The site\n\n# Hello & welcome\n\nOne bold word.\n\n- first\n- second\n\n"
        "a | b\n1 | 2\n\nEnd."
    )


def test_raised_lowered_and_struck_out_words_of_a_page_do_not_run_into_their_neighbours() -> None:
    page = """<p>10<sup>6</sup> users, H<sub>2</sub>O, the 1<sup>st</sup>, x<sup>n+1</sup>,
        log<sub>10</sub>5, <span style="color: red; text-decoration: line-through">7</span>
        <p><del>Price 100</del><ins>90 euros</ins> <math><msup><mn>2</mn><mn>8</mn></msup></math>
        <details><summary>Level 5</summary>000 people</details>
        <select><option>10</option><option>20</select><label>Rate 3</label><button>Buy</button>
        <dialog>Unseen</dialog><fieldset><legend>Legend</legend>Field</fieldset>"""
    assert " ".join(read("page.html", page.encode()).text.split()) == (
        "10^6 users, H_2O, the 1st, x^(n+1), log_10 5, ~~7~~ ~~Price 100~~ 90 euros 2^8 "
        "Level 5 000 people 10 20 Rate 3 Buy Legend Field"
    )


def test_nothing_that_word_marks_by_form_alone_becomes_another_number() -> None:
    assert read("plan.docx", formed_docx()).text == (
        "We expect 10^12 users of H_2O, the 1st for ~~100~~ 90 euros.(a+b)^(n+1)"
    )


def test_a_deck_is_read_with_its_charts_and_says_what_is_hidden_and_what_holds_no_text() -> None:
    found = read("deck.pptx", drawn_pptx())
    assert found.text == (
        "[slide 1]\n# Revenue\nChart:\n | Loss | Gain\n2025 | -4200000 | 3\n2026 |  | 4\n\n"
        "[slide 3, hidden]\n# Old price 10^6"
    )
    assert found.lines == ("has no text on slide 2: pictures, or nothing",)


def test_a_sheet_is_read_to_its_last_column() -> None:
    first, second = read("days.xlsx", wide_xlsx()).text.splitlines()[1:]
    assert first.endswith(" | 364 | 365")
    assert second == "2: 10^6 | … | XFD: far away"


def test_a_table_within_a_word_table_is_read_once_and_what_is_hidden_is_not() -> None:
    library = pytest.importorskip("docx")
    document = library.Document()
    table = document.add_table(2, 2)
    table.cell(0, 0).text = "outer"
    inner = table.cell(0, 1).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "left", "right"
    table.cell(1, 0).text = "last"
    paragraph = document.add_paragraph("Seen. ")
    paragraph.add_run("Unseen.").font.hidden = True
    paragraph.add_run("Seen too.").font.hidden = False
    ghost = document.styles.add_style("Ghost", library.enum.style.WD_STYLE_TYPE.CHARACTER)
    ghost.font.hidden = True
    paragraph.add_run("Unseen by style.", style="Ghost")
    data = io.BytesIO()
    document.save(data)

    text = read("plan.docx", data.getvalue()).text

    assert text.split("\n\n") == ["outer | \nleft | right\nlast | ", "Seen. Seen too."]


@pytest.mark.parametrize(("name", "text"), [("plan.pdf", docx), ("plan.txt", pptx)])
def test_the_content_says_what_a_file_is_and_not_its_name(
    name: str, text: Callable[[], bytes]
) -> None:
    assert "#" in read(name, text()).text


def test_what_is_missing_of_a_document_is_said_beside_its_text() -> None:
    found = read("plan.pdf", pdf("Costs.", "", "Risk."))
    assert found.lines == ("has no text on page 2: pictures, or scanned",)
    assert "[page 3]" in found.text


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("empty.pdf", lambda: b"", "is empty"),
        ("scanned.pdf", lambda: pdf("", ""), "seems to be scanned"),
        ("locked.pdf", lambda: pdf("x", password="secret"), "password"),
        ("cut.pdf", lambda: pdf("x")[:150], "damaged"),
        ("noise.pdf", lambda: b"%PDF-1.7\n" + bytes(range(256)) * 20, "damaged"),
        ("cut.docx", lambda: docx()[:3000], "not whole"),
        ("locked.docx", lambda: OLE + "EncryptedPackage".encode("utf-16-le"), "password"),
        ("old.xls", lambda: OLE, "save it as .xlsx"),
        ("some.zip", lambda: packed([("a.txt", b"a")]), "is an archive"),
        ("text.odt", lambda: packed([("mimetype", b"x"), ("content.xml", b"<a/>")]), "save it as"),
        ("photo.jpg", lambda: b"\xff\xd8\xff\xe0" + bytes(99), "is a picture"),
        ("latin.txt", lambda: "Größe".encode("latin-1"), "not UTF-8 text"),
        ("blank.txt", lambda: b" \n\t\n", "holds no text"),
        ("many.docx", lambda: packed([(f"{n}.xml", b"") for n in range(10_001)]), "10,001 files"),
        ("bomb.pdf", lambda: pdf_bomb(fonts=True), "a decompression bomb"),
        ("bomb.pdf", lambda: pdf_bomb(fonts=False), "a decompression bomb"),
        ("bomb.docx", lambda: packed([("word/document.xml", bytes(310_000_000))]), "300 MB"),
        ("wrong.docx", lambda: packed([("word/document.xml", b"<a><b></a>")]), "damaged"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_gets_one_plain_line(
    name: str, data: Callable[[], bytes], why: str
) -> None:
    with pytest.raises(Unreadable, match=why) as refused:
        read(name, data())
    assert "\n" not in str(refused.value)


TRAP = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'


@pytest.mark.parametrize(
    ("xml", "why"),
    [
        (b'<?xml version="1.0"?>' + TRAP.encode(), "entities"),
        (f'<?xml version="1.0" encoding="UTF-16"?>{TRAP}'.encode("utf-16"), "entities"),
        ("\ufeff".encode("utf-16-be") + TRAP.encode("utf-16-be"), "entities"),
        (f"<!--{'x' * 9000}-->{TRAP}".encode(), "entities"),
        (b'<?xml version="1.0" encoding="UTF-7"?>+ADw-!DOCTYPE a+AD4-<a/>', "damaged|encoding"),
        (TRAP.encode("utf-32"), "damaged"),
    ],
)
def test_entities_are_refused_before_anything_is_parsed(xml: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read("trap.docx", with_document(docx(), xml))


def test_what_an_element_of_a_page_hides_is_not_read() -> None:
    page = """<body style="visibility: hidden"><p>Seen 1.</p>
        <div style="color: red; DISPLAY : none !important">Unseen <b>a</b><div>b</div> c</div>
        <p hidden>Unseen d<p>Seen 2.
        <ul><li hidden>Unseen e<li>Seen 3.<li style="visibility:hidden">Unseen f</ul>
        <span style="font-size:0px">Unseen g</span><span style="font-size:0.9em">Seen 4.</span>
        <h2 style="opacity: 0">Unseen h</h2><img hidden>Seen 5.</i>
        <span aria-hidden="true">Seen 6.</span><input style="display:none">Seen 7.
        <table><tr><td>Seen 8.<td hidden>Unseen i<tr><td>Seen 9.</table></body>"""
    text = read("page.html", page.encode()).text
    assert [n for n in range(1, 10) if f"Seen {n}." in text] == list(range(1, 10))
    assert "Unseen" not in text


def test_a_document_that_is_locked_against_changes_alone_can_be_read() -> None:
    assert "Costs." in read("plan.pdf", pdf("Costs.", password="")).text


def test_one_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(Unreadable, match=r"within 0\.001 s"):
        asyncio.run(read_document("plan.pdf", pdf("Costs."), seconds=0.001))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by the system on Linux")
@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("x = bytearray(3_000_000_000)", "too much memory"),
        ("import os; os.kill(os.getpid(), 11)", "is damaged, or takes too much"),
        ("open('/tmp/roundtable-worker', 'w').write('x'); raise ValueError", "is damaged"),
        ("import os; raise ValueError(os.environ['OPENAI_API_KEY'])", r"is damaged \(KeyError\)"),
    ],
)
def test_the_process_that_reads_has_little_memory_no_files_and_no_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str, why: str
) -> None:
    """As a library would act that was taken over by what it reads."""
    (tmp_path / "taken_over.py").write_text(
        "import sys\nfrom roundtable.documents import worker\n"
        f"def read(data, found):\n    {act}\n"
        "worker._reader = lambda kind, data: read\nsys.exit(worker.main('pdf'))\n"
    )
    monkeypatch.setattr(reading, "WORKER", "taken_over")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(reading.__file__).parents[2]}")
    with pytest.raises(Unreadable, match=why):
        read("plan.pdf", pdf("Costs."))
    assert (
        not Path("/tmp/roundtable-worker").exists()
        or not Path("/tmp/roundtable-worker").stat().st_size
    )


def test_without_the_extra_a_document_says_which_one_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("roundtable.documents.kinds.find_spec", lambda _: None)
    for data in (pdf("x"), docx()):
        with pytest.raises(Unreadable, match=r"roundtable-council\[documents\]"):
            read("plan", data)
    assert read("page.html", HTML).text  # needs nothing


def test_a_worker_that_answers_nonsense_costs_one_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken_over.py").write_text(f"print({json.dumps([1, 2])!r})")
    monkeypatch.setattr(reading, "WORKER", "taken_over")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(Unreadable, match="damaged"):
        read("plan.pdf", pdf("Costs."))


def test_a_sheet_of_any_length_is_read_from_its_beginning_and_no_further_than_is_kept() -> None:
    rows = "".join(f'<row r="{n}"><c><v>{n}</v></c></row>' for n in range(1, 20_011))
    # It does not tell its size, and whoever looked for its end would stumble.
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"<sheetData>{rows}</sheetDat"
    )
    found = read("long.xlsx", with_part(xlsx(), "xl/worksheets/sheet1.xml", sheet.encode()))
    assert "\n20000: 20000\n" in found.text
    assert "20001: " not in found.text
    assert "[sheet Margins, hidden]" in found.text
    assert found.lines == ("has more than 20,000 rows in sheet Budget; the first were read",)


def test_what_was_read_in_time_of_a_document_that_takes_too_long_is_kept() -> None:
    found = Found(seconds=-1)
    found.add(iter([("page 1", "Costs."), ("page 2", "Risk."), ("page 3", "More.")]))
    assert found.parts == ["[page 1]\nCosts."]
    assert found.lines == ["was read up to page 2: more takes too long"]
    assert found.full
