"""Marks of direction: they stay where writing has them, and reverse nothing where it has not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.visible import visible

LRM, RLM, ALM = "\u200e", "\u200f", "\u061c"
MARKS = LRM + RLM + ALM


@pytest.mark.parametrize(
    "text",
    [
        f"אני אוהב Java{RLM}!",
        f"{RLM}שלום, {RLM}3 : 0{RLM} בסוף",
        f"שפת C++{LRM}, ועוד 3",
        f"النتيجة {ALM}3 : 0{ALM}، انتهى",
        f"قال: «C#{LRM} لغة» ثم سكت{RLM}.",
        f"The word שלום{LRM}, 3 times",
        f"First line\n{RLM}سطر ثان{RLM} (2)",
        "می\u200cخواهم",
    ],
)
def test_marks_that_the_letters_of_a_line_call_for_stay(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{RLM}3 : 0{RLM}", "3 : 0"),
        (f"{ALM}12-3{LRM}", "12-3"),
        (f"{RLM}Postgres, not MongoDB", "Postgres, not MongoDB"),
        (f"Score {RLM}3 : 0{RLM} in the end", "Score 3 : 0 in the end"),
        (f"Score {RLM}3 : 0{RLM} for the home team (א)", "Score 3 : 0 for the home team (א)"),
        (f"{LRM}שלום, 3 : 0", "שלום, 3 : 0"),
        (f"{RLM}3 : 0{RLM}\nשלום", "3 : 0\nשלום"),
        (f"שלום{RLM}{LRM}{RLM}{LRM}.", f"שלום{RLM}."),
        (f"שלום{RLM}\u200d{LRM}\u200d{RLM}.", f"שלום{RLM}\u200d\u200d."),
        (f"投票{RLM}3 : 0", "投票3 : 0"),
    ],
)
def test_marks_that_no_letter_calls_for_are_left_out(text: str, left: str) -> None:
    assert visible(text) == left


def test_overrides_and_isolates_are_still_written_out() -> None:
    assert visible(f"a\u202eb{RLM}\u2066") == "a\\u202eb\\u2066"


@given(st.text(alphabet=f"ab1 .:\n\u200d\u200b\u202eאبש3{MARKS}", max_size=40))
def test_what_is_visible_stays_as_it_is_and_no_line_begins_as_a_mark_says(text: str) -> None:
    clean = visible(text)
    assert visible(clean) == clean
    for line in clean.split("\n"):
        head = next((each for each in line if each in "abuאبש" or each in MARKS), "")
        if head and head in MARKS:
            assert head != LRM
            assert next(each for each in line if each.isalpha()) in "אبש"
