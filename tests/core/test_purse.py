"""A purse: what may be spent in a month."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from roundtable.core.errors import Forbidden
from roundtable.core.purse import OPENING, Purse, renews

NOVEMBER = datetime(2026, 11, 17, tzinfo=UTC)
DECEMBER = datetime(2026, 12, 2, tzinfo=UTC)


def test_what_is_set_aside_counts_until_it_is_known_what_it_cost() -> None:
    purse = Purse().with_set_aside("rt_1", 6.0, 10.0, NOVEMBER)
    assert purse.gone(NOVEMBER) == 6.0
    with pytest.raises(Forbidden, match=r"\$4\.00 are left. It renews on 2026-12-01"):
        purse.with_set_aside("rt_2", 5.0, 10.0, NOVEMBER)
    purse = purse.settled("rt_1", 1.5, NOVEMBER)
    assert (purse.gone(NOVEMBER), purse.running) == (1.5, {})
    assert purse.settled("rt_1", 1.5, NOVEMBER) == purse


def test_what_nobody_can_price_counts_as_much_as_was_set_aside() -> None:
    purse = Purse().with_set_aside("rt_1", 6.0, 10.0, NOVEMBER).settled("rt_1", None, NOVEMBER)
    assert purse.gone(NOVEMBER) == 6.0


def test_a_new_month_begins_with_a_full_purse() -> None:
    purse = Purse(month="2026-11", spent=9.0).with_set_aside("rt_1", 1.0, 10.0, NOVEMBER)
    assert purse.gone(DECEMBER) == 0.0
    purse = purse.with_set_aside("rt_2", 10.0, 10.0, DECEMBER)
    # What was opened in the old month counts there, also if it ends in the new one.
    assert purse.settled("rt_1", 1.0, DECEMBER).gone(DECEMBER) == 10.0


def test_what_came_to_nothing_is_given_back() -> None:
    place = f"{OPENING}x"
    purse = Purse().with_set_aside(place, 6.0, 10.0, NOVEMBER)
    assert purse.given_back(place).gone(NOVEMBER) == 0.0
    assert list(purse.renamed(place, "rt_1").running) == ["rt_1"]
    # Whoever died in between holds nothing back after the month.
    assert purse.with_set_aside("rt_2", 1.0, 10.0, DECEMBER).running.keys() == {"rt_2"}


def test_of_a_discussion_that_goes_on_only_what_is_new_counts() -> None:
    purse = Purse().with_set_aside("rt_1", 3.0, 10.0, NOVEMBER, before=2.0)
    assert purse.settled("rt_1", 4.5, NOVEMBER).gone(NOVEMBER) == 2.5


def test_it_renews_with_the_next_month() -> None:
    assert renews(NOVEMBER) == datetime(2026, 12, 1, tzinfo=UTC)
    assert renews(DECEMBER) == datetime(2027, 1, 1, tzinfo=UTC)
