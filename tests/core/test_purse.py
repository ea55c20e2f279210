"""A purse: what may be spent in a month."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from roundtable.core.errors import Forbidden, MoneySetAside, TooBusy
from roundtable.core.purse import (
    OPENING,
    STALLED,
    Purse,
    SetAside,
    opening_place,
    renews,
    share_of,
    stalled_key,
)

NOVEMBER = datetime(2026, 11, 17, tzinfo=UTC)
DECEMBER = datetime(2026, 12, 2, tzinfo=UTC)


def test_what_is_set_aside_counts_until_it_is_known_what_it_cost() -> None:
    purse = Purse().with_set_aside("rt_1", 6.0, 10.0, NOVEMBER)
    assert purse.gone(NOVEMBER) == 6.0
    with pytest.raises(MoneySetAside, match=r"\$4\.00 are free .* this may cost \$5\.00"):
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


def test_raising_what_still_runs_forgets_nothing_of_what_it_cost() -> None:
    purse = Purse().with_set_aside("rt_1", 0.3, 2.0, NOVEMBER)
    for spent, most in ((0.05, 0.4), (0.2, 0.5), (0.4, 0.6)):
        purse = purse.with_set_aside("rt_1", most - spent, 2.0, NOVEMBER, before=spent)
        assert purse.gone(NOVEMBER) == pytest.approx(most)
    assert purse.settled("rt_1", 0.55, NOVEMBER).gone(NOVEMBER) == pytest.approx(0.55)


def test_what_goes_on_in_a_new_month_counts_there_from_then_on() -> None:
    purse = Purse().with_set_aside("rt_1", 3.0, 10.0, NOVEMBER)
    purse = purse.with_set_aside("rt_1", 2.0, 10.0, DECEMBER, before=1.5)
    assert purse.settled("rt_1", 2.5, DECEMBER).gone(DECEMBER) == pytest.approx(1.0)


def test_money_that_is_only_set_aside_is_refused_for_a_moment() -> None:
    purse = Purse(month="2026-11", spent=0.15).with_set_aside("rt_1", 0.05, 0.2, NOVEMBER)
    with pytest.raises(TooBusy) as told:
        purse.with_set_aside("rt_2", 0.01, 0.2, NOVEMBER)
    assert isinstance(told.value, MoneySetAside)
    assert told.value.retry_after > 0
    assert "set aside by discussions that are under way" in told.value.message
    assert "try again shortly" in told.value.remedy
    assert "renews" not in str(told.value)


def test_money_that_is_spent_is_refused_until_the_month_is_over() -> None:
    purse = Purse(month="2026-11", spent=0.2)
    with pytest.raises(Forbidden, match=r"\$0\.20 .* used up\. It renews on 2026-12-01") as told:
        purse.with_set_aside("rt_2", 0.01, 0.2, NOVEMBER, raised="all_usd in config.toml")
    assert told.value.remedy.endswith("raise it: all_usd in config.toml.")
    # Also where something is left, but what is under way could not bring back enough.
    purse = Purse(month="2026-11", spent=0.15).with_set_aside("rt_1", 0.02, 0.2, NOVEMBER)
    with pytest.raises(Forbidden, match=r"\$0\.05 are left, and this may cost \$0\.10"):
        purse.with_set_aside("rt_2", 0.1, 0.2, NOVEMBER)


def test_whoever_has_not_opened_after_a_while_has_died() -> None:
    place = opening_place("a key with spaces", NOVEMBER)
    assert stalled_key(place, NOVEMBER + STALLED) is None
    assert stalled_key(place, NOVEMBER + STALLED * 1.1) == "a key with spaces"
    assert stalled_key("rt_1", DECEMBER) is None
    assert stalled_key(f"{OPENING}998c", DECEMBER) is None  # of an earlier version


def test_who_opens_it_after_all_has_it_counted() -> None:
    place = opening_place("key", NOVEMBER)
    aside = SetAside(month="2026-11", amount=1.0)
    assert Purse().renamed(place, "rt_1", aside).gone(NOVEMBER) == 1.0
    found = Purse().with_set_aside(place, 1.0, 2.0, NOVEMBER).renamed(place, "rt_1")
    assert found.renamed(place, "rt_1", aside) == found


def test_a_share_follows_the_estimate_within_what_is_left() -> None:
    assert share_of(10.0, 0.5) == 1.5
    assert share_of(10.0, 0.0) == 1.0  # a seat may fall back on a dearer model
    assert share_of(1.0, 0.5) == 1.0
    assert share_of(10.0, None) == 10.0
