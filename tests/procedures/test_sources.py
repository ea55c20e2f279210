"""Documents are sources like speeches: what a verdict quotes of them is looked up in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from roundtable.core.values import Verdict
from roundtable.core.verdict_check import NOT_FOUND
from roundtable.documents.gather import gather
from tests.documents.samples import pdf

from .deliberation_table import ROUND_1, SYNTHESIS, deliberate, synthesis, verdict_of

pytest.importorskip("pypdf", reason="the extra `documents` is not installed")

ON_PAGE_3 = "The fee rises to 4217 euros in the second year of the contract"


@pytest.fixture
def offer(tmp_path: Path) -> str:
    path = tmp_path / "offer.pdf"
    path.write_bytes(pdf("An offer.", "The fee is 3900 euros at first.", f"{ON_PAGE_3}."))
    return str(path)


def quoting(words: str, offer: str) -> Verdict:
    text = f"The offer says “{words}”; so does one of us [{ROUND_1[0]}]."
    context = gather([offer]).materials
    return verdict_of(deliberate(turns={SYNTHESIS: synthesis(Answer=text)}, context=context))


@pytest.mark.requirement("Z-29")
def test_a_quotation_of_the_third_page_of_a_pdf_is_found_there(offer: str) -> None:
    found = quoting(ON_PAGE_3, offer)
    assert found.flags == ()
    assert ON_PAGE_3 in found.answer


@pytest.mark.requirement("Z-29")
def test_a_quotation_of_a_document_whose_figure_was_changed_is_flagged(offer: str) -> None:
    found = quoting(ON_PAGE_3.replace("4217", "4127"), offer)
    assert found.answer.count(NOT_FOUND) == 1
    assert "4127" in found.findings[0].excerpt
    assert ON_PAGE_3 not in found.answer
