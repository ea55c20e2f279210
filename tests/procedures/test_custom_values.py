"""What counts of declared values, what is not guessed at, and the figures that code makes."""

from __future__ import annotations

import statistics as reference

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.declaration_form import Form
from roundtable.procedures.custom.model import Extract
from roundtable.procedures.custom.results import shown, statistics
from roundtable.procedures.custom.values import Read, asked_value

NUMBER = Extract(name="v", kind="number")
CHOICE = Extract(name="v", kind="choice", choices=("Yes", "No", "Yes, but later"))
LIST = Extract(name="v", kind="list")


def declared(extract: Extract, value: object) -> Read | None:
    """What counts of a declared value; None if it has to be asked for again."""
    form = Form(keys=("values",), values={"v": asked_value(extract)})
    reading = form.read_fields({"values": {"v": value}})
    assert (reading.declaration is None) is bool(reading.problems)
    return reading.declaration.values["v"] if reading.declaration else None


@pytest.mark.requirement("I-27")
@pytest.mark.parametrize(
    ("given_value", "value"),
    [
        (42, 42.0),
        (3.5, 3.5),
        (-7, -7.0),
        (0, 0.0),
        ("42", 42.0),
        ("-3.5", -3.5),
        # a range is no number, nor is anything that would have to be guessed
        ("30 to 50", None),
        ("about 42", None),
        ("1,200", None),
        ("twelve", None),
        (True, None),
        (None, None),
        ([42], None),
        ("9" * 500, None),
        (1e99, None),
        ("…", None),
    ],
)
def test_a_number_is_declared_as_one(given_value: object, value: float | None) -> None:
    assert declared(NUMBER, given_value) == value


@pytest.mark.requirement("I-27")
def test_a_number_out_of_bounds_is_none() -> None:
    bounded = Extract(name="v", kind="number", min=0, max=10)
    assert [declared(bounded, n) for n in (-1, 0, 10, 11)] == [None, 0.0, 10.0, None]


@pytest.mark.requirement("I-27")
@pytest.mark.parametrize(
    ("given_value", "value"),
    [
        ("Yes", "Yes"),
        ("yes.", "Yes"),
        ("Yes, but later", "Yes, but later"),
        ("I vote no", None),
        ("Yes or no", None),
        ("", None),
        (1, None),
    ],
)
def test_a_choice_is_one_of_its_choices(given_value: object, value: str | None) -> None:
    assert declared(CHOICE, given_value) == value


@pytest.mark.requirement("I-27")
@pytest.mark.parametrize(
    ("given_value", "value"),
    [
        (["one", "two"], ("one", "two")),
        ("one", ("one",)),
        (["one", "one", ""], ("one",)),
        ([], None),
        (None, None),
        ([f"{n} x" for n in range(99)], tuple(f"{n} x" for n in range(20))),
    ],
)
def test_a_list_is_its_texts(given_value: object, value: Read | None) -> None:
    assert declared(LIST, given_value) == value


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_reading_never_fails(value: object) -> None:
    for extract in (NUMBER, CHOICE, LIST):
        declared(extract, value)


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
