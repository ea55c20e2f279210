"""Documents that do not fit: what is kept of them, by a rule that anybody can follow."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.condensing import condensed
from roundtable.core.text import estimate_tokens
from roundtable.core.values import Material

QUESTION = "Should we migrate the billing service?"


def report(pages: int, telling: int) -> str:
    filler = "The weather was as usual, and nobody had anything to say about it. " * 8
    return "\n\n".join(
        f"[page {n}]\n" + ("Billing cannot be migrated before May." if n == telling else filler)
        for n in range(1, pages + 1)
    )


def material(*texts: str) -> tuple[Material, ...]:
    return tuple(Material(source=f"{n}.txt", text=text) for n, text in enumerate(texts))


def test_what_fits_stays_as_it_is() -> None:
    context = material("short", "also short")
    found = condensed(context, QUESTION, 1000)
    assert found.materials == context
    assert found.cuts == ()


def test_the_passage_that_answers_is_kept_with_its_page_and_the_beginning() -> None:
    long = report(200, telling=137)
    found = condensed(material(long, "short"), QUESTION, 6000)

    text = found.materials[0].text
    assert "[page 137]\nBilling cannot be migrated before May." in text
    assert text.startswith("[page 1]\nThe weather")
    assert re.search(r"\[\.\.\. [\d,]+ characters left out \.\.\.\]", text)
    assert found.materials[1].text == "short"
    [cut] = found.cuts
    assert (cut.source, cut.whole, cut.shown) == ("0.txt", len(long), len(text))
    assert 4000 < sum(estimate_tokens(m.text) for m in found.materials) <= 6000


def test_short_documents_stay_whole_and_the_others_share_alike() -> None:
    found = condensed(material(report(90, 5), "short " * 50, report(300, 250)), QUESTION, 8000)
    one, short, two = (len(each.text) for each in found.materials)
    assert short == 300
    assert 0.8 < one / two < 1.25


@settings(deadline=None, max_examples=60)
@given(
    texts=st.lists(
        st.text(alphabet="ab .\n#[]中é", max_size=4000).map(lambda text: text * 3), max_size=4
    ),
    room=st.integers(200, 3000),
)
def test_whatever_is_shown_stands_in_the_whole_text_in_order(texts: list[str], room: int) -> None:
    context = material(*texts)
    found = condensed(context, "Is ab better than 中?", room)
    assert [m.source for m in found.materials] == [m.source for m in context]
    for shown, whole in zip(found.materials, context, strict=True):
        at = 0
        for piece in re.split(r"\n?\[\.\.\. [\d,]+ characters left out \.\.\.\]\n?", shown.text):
            at = whole.text.find(piece, at)
            assert at >= 0
            at += len(piece)
    assert condensed(context, "Is ab better than 中?", room) == found
