"""Seats of which only a slug is known have names that people read."""

from __future__ import annotations

from roundtable.core.naming import name_of

from .tables import opened, seat, told


def test_a_slug_is_shown_as_a_name_and_stays_an_id() -> None:
    state = told([opened([seat("product-manager"), seat("Ann-Kathrin")])])
    assert name_of(state, "product-manager") == "Product Manager"
    assert name_of(state, "ann-kathrin") == "Ann-Kathrin"
    assert [each.id for each in state.participants] == ["product-manager", "ann-kathrin"]
