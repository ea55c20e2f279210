"""Excerpts: what is kept of a text that is too long, by a rule that anybody can follow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.excerpt import excerpt

MARK = re.compile(r"\n?\[\.\.\. ([\d,]+) characters left out \.\.\.\]\n?")
QUESTION = "What does the zeppelin penalty clause cost?"
FILLER = "The weather was as usual, and nobody had anything to say about it. " * 12


@settings(deadline=None)
@given(st.text(max_size=900), st.integers(-5, 700), st.booleans())
def test_an_excerpt_never_exceeds_its_limit(text: str, limit: int, end: bool) -> None:
    found = excerpt(text, QUESTION, limit, end=end)
    assert len(found) <= max(0, limit)
    assert found == text or len(text) > limit


@given(st.integers(300, 3_000), st.integers(200, 299))
@pytest.mark.requirement("I-13", "I-30")
def test_an_excerpt_says_exactly_how_much_is_missing(length: int, limit: int) -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(length))
    found = excerpt(text, QUESTION, limit)
    left_out = sum(int(each.replace(",", "")) for each in MARK.findall(found))
    assert left_out + len(MARK.sub("", found)) == length


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["👨‍👩‍👧‍👦", "1️⃣", "कि", "🇩🇪", "a"]), min_size=90, max_size=300),
    st.integers(120, 400),
    st.booleans(),
)
def test_an_excerpt_never_cuts_through_a_grapheme(parts: list[str], limit: int, end: bool) -> None:
    text = "".join(parts)
    starts = {0}
    for part in parts:
        starts.add(max(starts) + len(part))
    found = excerpt(text, QUESTION, limit, end=end)
    at = 0
    pieces = MARK.split(found)
    for piece, gap in zip(pieces[::2], [*pieces[1::2], "0"], strict=True):
        assert at in starts
        at += len(piece)
        assert at in starts or found.endswith("…")
        at += int(gap.replace(",", ""))


def pages(count: int, telling: int, words: str = "The zeppelin clause costs 5 euros.") -> str:
    return "\n\n".join(
        f"[page {n}]\n{words if n == telling else FILLER}" for n in range(1, count + 1)
    )


@pytest.mark.parametrize("limit", [400, 700, 1_500, 4_000, 20_000])
def test_the_passage_that_answers_is_kept_with_its_page_however_little_room(limit: int) -> None:
    found = excerpt(pages(200, telling=137), QUESTION, limit)
    assert "[page 137]\nThe zeppelin clause costs 5 euros." in found


def test_what_stands_beside_the_passage_that_answers_comes_before_what_tells_nothing() -> None:
    answer = f"The zeppelin penalty is settled here. {'It is a long story. ' * 50}It is 5 euros."
    text = f"{FILLER}\n\n" * 60 + f"{answer}\n\n" + f"{FILLER}\n\n" * 60
    assert "It is 5 euros." in excerpt(text, QUESTION, 4_000)


def test_a_passage_stands_under_its_own_sheet_and_page_and_no_other() -> None:
    sheets = "\n\n".join(
        f"[sheet {name}]\n" + "\n".join(f"{n}: {name} | row {n}" for n in range(1, 900))
        for name in ("First", "Two")
    )
    text = sheets.replace("700: Two | row 700", "700: Two | zeppelin penalty")
    found = excerpt(text, QUESTION, 3_000)
    before = found[: found.index("zeppelin penalty")]
    assert before.rindex("[sheet Two]") > before.rindex("[sheet First]")
    assert not re.search(r"\| row \d+\n\[sheet Two\]\n\n?\[sheet", found)

    paper = f"[page 1]\n{FILLER}\n\n[page 2]\n{FILLER}\n## Costs\nThe zeppelin costs 5."
    found = excerpt(paper, QUESTION, 700)
    assert found.index("[page 2]") < found.index("## Costs") < found.index("The zeppelin costs 5.")


def test_no_heading_is_shown_without_anything_under_it() -> None:
    found = excerpt(pages(200, telling=137), QUESTION, 4_000)
    assert not re.search(
        r"\[page \d+\]\s*\[\.\.\. [\d,]+ characters left out \.\.\.\]\s*\[page", found
    )


def test_of_a_speech_its_end_is_kept_as_well() -> None:
    speech = "I begin. " + FILLER * 9 + "\n\nPosition: buy tea."
    found = excerpt(speech, "", 900, end=True)
    assert found.startswith("I begin.")
    assert found.endswith("Position: buy tea.")
