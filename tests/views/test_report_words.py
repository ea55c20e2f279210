"""The report calls things as the page does."""

from __future__ import annotations

import pytest

from roundtable.views.report_decision import initials


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Precedent", "PR"),
        ("Numbers", "NU"),
        ("product-manager", "PM"),
        ("Head of Finance", "HF"),
        ("李明", "李"),
        ("  ", "?"),
    ],
)
def test_initials_are_those_of_the_page(name: str, letters: str) -> None:
    assert initials(name) == letters
