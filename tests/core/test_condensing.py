"""Documents that do not fit: what is kept of them, by a rule that anybody can follow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.condensing import (
    CODE,
    LEFT_OUT,
    SPREAD,
    condensed,
    condensed_note,
    listed,
    room_taken,
    tokens_of,
)
from roundtable.core.fence import fence
from roundtable.core.text import estimate_tokens
from roundtable.core.values import Material, Participant, SpeakerRef

QUESTION = "Should we migrate the billing service?"

SEATS = [
    Participant(
        id="a",
        name="Ann",
        role="expert",
        speakers=(SpeakerRef(model="x/y", family="y", context_window=8192),),
    )
]


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
    assert [(each.source, each.text) for each in found.shown] == [
        (each.source, each.text) for each in context
    ]
    assert found.cuts == ()


def test_the_passage_that_answers_is_kept_with_its_page_and_the_beginning() -> None:
    long = report(200, telling=137)
    found = condensed(material(long, "short"), QUESTION, 6000)

    text = found.shown[0].text
    assert "[page 137]\nBilling cannot be migrated before May." in text
    assert text.startswith("[page 1]\nThe weather")
    assert re.search(r"\[\.\.\. [\d,]+ characters left out \.\.\.\]", text)
    assert found.shown[0].whole == long, "of which a shorter excerpt can be made"
    assert found.shown[1].text == "short"
    [cut] = found.cuts
    assert (cut.name, cut.whole, cut.shown) == ("0.txt", len(long), len(text))
    assert 4000 < sum(estimate_tokens(m.text) for m in found.shown) <= 6000


@pytest.mark.parametrize("question", ["Tea or coffee?", "What about the zeppelin penalty?"])
def test_of_many_short_documents_each_is_shown_from_its_beginning(question: str) -> None:
    told = [
        f"Report {n} of the yard. {'Nothing of note was seen. ' * 7}The zeppelin penalty was "
        f"{n} euros. {'Nobody was there to hear it. ' * 5}"
        for n in range(300)
    ]
    documents = tuple(Material(source=f"{n}.md", text=text) for n, text in enumerate(told))
    found = condensed(documents, question, room_taken(documents) * 2 // 3)
    whole = {each.source: each.text for each in documents}
    cut = [each for each in found.shown if each.source in whole and each.text != whole[each.source]]
    assert len(cut) > 100
    assert all(each.text.startswith(f"Report {each.source[:-3]} of the yard.") for each in cut)
    if "zeppelin" in question:
        assert all("The zeppelin penalty" in each.text for each in cut)


def test_short_documents_stay_whole_and_the_others_share_alike() -> None:
    found = condensed(material(report(90, 5), "short " * 50, report(300, 250)), QUESTION, 8000)
    one, short, two = (len(each.text) for each in found.shown)
    assert short == 300
    assert 0.8 < one / two < 1.25


@settings(deadline=None, max_examples=60)
@given(
    texts=st.lists(
        st.text(alphabet="ab .\n#[]中é", max_size=4000).map(lambda text: text * 3), max_size=4
    ),
    room=st.integers(700, 3000),
)
def test_whatever_is_shown_stands_in_the_whole_text_in_order(texts: list[str], room: int) -> None:
    context = material(*texts)
    found = condensed(context, "Is ab better than 中?", room)
    assert [m.source for m in found.shown] == [m.source for m in context]
    assert sum(tokens_of(fence(each, "123456789abc")) for each in found.shown) <= room
    for shown, whole in zip(found.shown, context, strict=True):
        at = 0
        for piece in re.split(r"\n?\[\.\.\. [\d,]+ characters left out \.\.\.\]\n?", shown.text):
            at = whole.text.find(piece, at)
            assert at >= 0
            at += len(piece)
    assert condensed(context, "Is ab better than 中?", room) == found


def test_of_too_many_documents_those_are_shown_that_have_to_do_with_the_question() -> None:
    files = [f"def part_{n}():\n    return {n}\n" * 40 for n in range(300)]
    files[211] = "BILLING = 'migrate the service in May'\n" + files[211]
    found = condensed(material(*files), QUESTION, 1400)
    names = [each.source for each in found.shown]
    assert "211.txt" in names
    assert "BILLING = 'migrate the service in May'" in found.shown[names.index("211.txt")].text
    # The experts hear that there are others, and whoever reads the note how many.
    assert names[-1] == LEFT_OUT
    assert f"{301 - len(names)} documents left out" in found.shown[-1].text
    assert sum(tokens_of(fence(each, "123456789abc")) for each in found.shown) <= 1400
    assert sum(1 for cut in found.cuts if cut.shown == 0) == 301 - len(names)
    assert listed(found.cuts).count(";") == 8


def test_a_question_in_other_words_is_shown_all_parts_and_the_note_claims_no_more() -> None:
    long = report(200, telling=137)
    for question, code, told in (
        (QUESTION, CODE, "the beginning and passages that share most words with the question: "),
        (
            "How long before we can leave this agreement?",
            SPREAD,
            "the beginning and passages from all parts, for the question shares hardly a word "
            "with these documents: ",
        ),
    ):
        found = condensed(material(long), question, 6000)
        note = condensed_note(found.cuts, SEATS)
        assert note.code == code
        assert told in note.text
        assert ("own words" in note.remedy) == (code == SPREAD)
        pages = [int(n) for n in re.findall(r"\[page (\d+)\]", found.shown[0].text)]
        tenths = {(n - 1) // 20 for n in pages}
        assert (len(tenths) == 10) == (code == SPREAD), "from every tenth of it"


def test_the_note_says_which_documents_share_no_words_with_the_question() -> None:
    found = condensed(material(report(90, 5), "nothing " * 9000), QUESTION, 6000)
    told = condensed_note(found.cuts, SEATS).text
    assert "and of 1.txt passages from all parts, for the question shares hardly a word" in told
