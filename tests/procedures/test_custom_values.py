"""What code reads from speeches, what it refuses to guess, and the figures it makes."""

from __future__ import annotations

import statistics as reference

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.procedures.custom.model import Extract
from roundtable.procedures.custom.results import shown, statistics
from roundtable.procedures.custom.values import Read, read

NUMBER = Extract(name="n", kind="number", section="A")
CHOICE = Extract(name="c", kind="choice", section="A", choices=("Yes", "No", "Yes, but later"))
LIST = Extract(name="l", kind="list", section="A")


def under(body: str) -> str:
    return f"## A\n{body}\n\n## B\n77 other words"


@pytest.mark.requirement("I-27")
@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("42", 42.0),
        ("**42**", 42.0),
        ("About 42 weeks.", 42.0),
        ("42 (between 30 and 50)", 42.0),
        ("1,200", 1200.0),
        ("1'200.5", 1200.5),
        ("1 200", 1200.0),
        ("1\u202f200\u00a0000", 1_200_000.0),
        ("≈ 42, at most 50", 42.0),
        ("About 42, at most 50", 42.0),
        ("3.5", 3.5),
        ("3,5", 3.5),
        ("1.234.567", 1234567.0),
        ("1.234,5", 1234.5),
        ("-7", -7.0),
        ("−7 °C", -7.0),
        ("$1,000", 1000.0),
        ("-$5", -5.0),
        ("12 %", 12.0),
        ("1.5 million", 1.5e6),
        ("20k", 20_000.0),
        ("3 bn", 3e9),
        ("2e3", 2000.0),
        ("\n\n  9\nand more", 9.0),
        # a range is no number, nor is anything that would have to be guessed
        ("30 to 50", None),
        ("30-50", None),
        ("In 2027 it will be 42", None),
        ("30 – 50 weeks", None),
        ("30...50", None),
        ("$3 – $5", None),
        ("1.2.3", None),
        ("12,34,56", None),
        ("nothing", None),
        ("", None),
        ("twelve", None),
        ("Q3", None),
        ("NaN", None),
        ("inf", None),
        ("9" * 500, None),
        ("1e99", None),
    ],
)
def test_a_number_is_read_where_it_is_one(body: str, value: float | None) -> None:
    assert read(NUMBER, under(body), ("A", "B")) == value


@pytest.mark.requirement("I-27")
def test_a_number_out_of_bounds_is_none() -> None:
    bounded = Extract(name="n", kind="number", section="A", min=0, max=10)
    found = [read(bounded, under(str(n)), ("A", "B")) for n in (-1, 0, 10, 11)]
    assert found == [None, 0.0, 10.0, None]


@pytest.mark.requirement("I-27")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Reasons first.\n**Estimate:** 12 weeks", 12.0),
        ("- estimate: 12", 12.0),
        ("ESTIMATE 12", 12.0),
        ("Estimate:\n12", 12.0),
        ("My estimate is 12", None),
    ],
)
def test_a_number_is_found_in_a_line_by_its_beginning(text: str, value: float | None) -> None:
    assert read(Extract(name="n", kind="number", line="Estimate:"), text, ()) == value


@pytest.mark.requirement("I-27")
@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("Yes", "Yes"),
        ("yes.", "Yes"),
        ("**No**", "No"),
        ("I vote no, firmly", "No"),
        ("Yes, but later", "Yes, but later"),
        ("I say: yes but later!", "Yes, but later"),
        ("Yes or no, who knows", None),
        ("Nobody knows", None),
        ("", None),
    ],
)
def test_a_choice_is_read_where_only_one_can_be_meant(body: str, value: str | None) -> None:
    assert read(CHOICE, under(body), ("A", "B")) == value


@pytest.mark.requirement("I-27")
@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("- one\n- two", ("one", "two")),
        ("1. one\n2) two", ("one", "two")),
        ("one\n\none", ("one",)),
        ("none", None),
        ("", None),
        ("\n".join(f"- {n} x" for n in range(99)), tuple(f"{n} x" for n in range(20))),
    ],
)
def test_a_list_is_its_lines(body: str, value: Read | None) -> None:
    assert read(LIST, under(body), ("A", "B")) == value


@given(st.text(max_size=300))
def test_reading_never_fails(text: str) -> None:
    for extract in (NUMBER, CHOICE, LIST, Extract(name="n", kind="number", line="Estimate")):
        read(extract, text, ("A", "B"))
        read(extract, under(text), ("A", "B"))


@pytest.mark.requirement("I-29")
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_the_quartiles_are_those_of_the_textbook(numbers: list[float]) -> None:
    found = statistics(numbers)
    assert found is not None
    wanted = reference.quantiles(numbers, n=4, method="inclusive")
    assert [found.q1, found.median, found.q3] == pytest.approx(wanted, abs=1e-6)
    assert found.minimum <= found.q1 <= found.median <= found.q3 <= found.maximum


def test_of_nothing_there_are_no_figures_and_of_one_there_is_no_spread() -> None:
    assert statistics([]) is None
    one = statistics([5.0])
    assert one is not None
    assert (one.median, one.spread("relative"), one.spread("absolute")) == (5.0, 0.0, 0.0)


def test_a_spread_around_zero_has_no_relative_size() -> None:
    around = statistics([-2.0, -1.0, 0.0, 1.0, 2.0])
    assert around is not None
    assert (around.spread("relative"), around.spread("absolute")) == (None, 2.0)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (20.0, "20"),
        (17.5, "17.5"),
        (14.25, "14.25"),
        (1234567.0, "1,234,567"),
        (12345.67, "12,346"),
        (0.00001, "0.000010"),
        (1 / 3, "0.3333"),
        (-2.5, "-2.5"),
    ],
)
def test_figures_are_written_as_people_write_them(number: float, text: str) -> None:
    assert shown(number) == text
