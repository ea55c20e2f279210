"""Budgets: what a call may cost is set aside before it is made, and unknown is never zero."""

from __future__ import annotations

from datetime import timedelta

import pytest

from roundtable.core.budget import HoldBack, Spending, active_seconds, admit, reserve
from roundtable.core.errors import FailureCause
from roundtable.core.state import fold
from roundtable.core.values import Budget, Reservation, SpeakerRef, Usage

from .samples import NOON, failed, finished, opened, recorded, started

CHEAP = SpeakerRef(model="test/cheap", usd_per_million_in=1.0, usd_per_million_out=5.0)
UNKNOWN = SpeakerRef(model="test/unknown")
DEAREST = (10.0, 50.0)
WANTED = Reservation(input_tokens=100, output_tokens=400, cost_usd=0.5)
NOTHING_SPENT = Spending(calls=0, tokens=0, cost_usd=0.0, seconds=0.0)


@pytest.mark.requirement("Z-09")
def test_a_call_is_reserved_at_its_longest_answer() -> None:
    assert reserve(CHEAP, "x" * 3600, 1000, DEAREST) == Reservation(
        input_tokens=1001, output_tokens=1000, cost_usd=(1001 * 1.0 + 1000 * 5.0) / 1e6
    )


@pytest.mark.requirement("Z-09")
def test_an_unknown_price_is_reserved_at_the_dearest_known_one() -> None:
    assert reserve(UNKNOWN, "x" * 3600, 1000, DEAREST) == Reservation(
        input_tokens=1001,
        output_tokens=1000,
        cost_usd=(1001 * 10.0 + 1000 * 50.0) / 1e6,
        priced=False,
    )


@pytest.mark.requirement("Z-09")
def test_a_free_model_is_reserved_at_nothing() -> None:
    free = SpeakerRef(model="local", usd_per_million_in=0.0, usd_per_million_out=0.0)
    assert reserve(free, "x", 1000, DEAREST).cost_usd == 0
    assert reserve(free, "x", 1000, DEAREST).priced


@pytest.mark.requirement("I-11", "Z-09")
@pytest.mark.parametrize(
    ("budget", "spent", "limit"),
    [
        (Budget(max_calls=5), Spending(4, 0, 0, 0), None),
        (Budget(max_calls=5), Spending(5, 0, 0, 0), "calls"),
        (Budget(max_tokens=1000), Spending(0, 500, 0, 0), None),
        (Budget(max_tokens=1000), Spending(0, 501, 0, 0), "tokens"),
        (Budget(max_cost_usd=1), Spending(0, 0, 0.5, 0), None),
        (Budget(max_cost_usd=1), Spending(0, 0, 0.51, 0), "cost"),
        (Budget(max_cost_usd=0), NOTHING_SPENT, "cost"),
        (Budget(max_seconds=60), Spending(0, 0, 0, 59.9), None),
        (Budget(max_seconds=60), Spending(0, 0, 0, 60), "time"),
        (Budget(), Spending(10**6, 10**9, 10**6, 10**6), None),
        (Budget(max_calls=5, max_cost_usd=1), Spending(1, 0, 0.9, 0), "cost"),
    ],
)
def test_a_call_is_admitted_up_to_each_limit(
    budget: Budget, spent: Spending, limit: str | None
) -> None:
    refusal = admit(budget, spent, WANTED, None, DEAREST)
    assert (refusal.limit if refusal else None) == limit


@pytest.mark.requirement("Z-09")
@pytest.mark.parametrize(
    ("budget", "limit"),
    [
        (Budget(max_calls=2), None),
        (Budget(max_calls=1), "calls"),
        (Budget(max_tokens=500 + 3000), None),
        (Budget(max_tokens=500 + 2999), "tokens"),
        (Budget(max_cost_usd=0.5 + 0.011), None),
        (Budget(max_cost_usd=0.5 + 0.010), "cost"),
    ],
)
def test_what_is_held_back_for_the_verdict_cannot_be_spent(
    budget: Budget, limit: str | None
) -> None:
    verdict = HoldBack(CHEAP, input_tokens=1000, output_tokens=2000)
    refusal = admit(budget, NOTHING_SPENT, WANTED, verdict, DEAREST)
    assert (refusal.limit if refusal else None) == limit


@pytest.mark.requirement("Z-09")
def test_a_verdict_of_unknown_price_is_held_back_at_the_dearest_one() -> None:
    verdict = HoldBack(UNKNOWN, input_tokens=1000, output_tokens=2000)
    assert admit(Budget(max_cost_usd=0.5 + 0.11), NOTHING_SPENT, WANTED, verdict, DEAREST) is None
    refusal = admit(Budget(max_cost_usd=0.5 + 0.10), NOTHING_SPENT, WANTED, verdict, DEAREST)
    assert refusal is not None
    assert refusal.limit == "cost"


@pytest.mark.requirement("Z-09")
def test_a_call_under_way_counts_in_full_and_a_finished_one_as_what_it_used() -> None:
    under_way = recorded(opened(), started())
    assert fold(under_way).spending(NOON) == Spending(1, 500, 0.5, 0)
    later = NOON + timedelta(seconds=7)
    assert fold(under_way).spending(later) == Spending(1, 500, 0.5, 6)
    ended = finished().model_copy(update={"seconds": 3.0})
    over = [*under_way, *recorded(ended, first=3)]
    assert fold(over).spending(later) == Spending(1, 150, 0.1, 3), "only active time counts"


def test_calls_side_by_side_take_their_time_together() -> None:
    assert active_seconds([]) == 0
    assert active_seconds([(0, 10), (5, 12), (6, 7), (100, 101)]) == 13


@pytest.mark.requirement("Z-09")
def test_a_finished_call_of_unknown_cost_keeps_its_reserved_cost_but_not_its_tokens() -> None:
    unpriced = Usage(input_tokens=90, output_tokens=60, unpriced_calls=1)
    state = fold(recorded(opened(), started(), finished(usage=unpriced)))
    assert state.spending(NOON) == Spending(1, 150, 0.5, 0)
    assert state.usage.cost_usd is None


@pytest.mark.requirement("Z-09")
@pytest.mark.parametrize("cause", ["timeout", "cut", "cancelled", "lost", "empty", "garbled"])
def test_a_failed_call_that_may_have_been_paid_keeps_its_reservation(cause: FailureCause) -> None:
    state = fold(recorded(opened(), started(), failed(cause)))
    assert state.spending(NOON) == Spending(1, 500, 0.5, 0)
    assert state.usage.cost_usd is None


@pytest.mark.requirement("Z-09")
@pytest.mark.parametrize("cause", ["rate_limited", "auth", "not_found", "bad_request", "too_long"])
def test_a_call_that_was_turned_away_gives_its_reservation_back(cause: FailureCause) -> None:
    state = fold(recorded(opened(), started(), failed(cause)))
    assert state.spending(NOON) == Spending(1, 0, 0.0, 0)
    assert state.usage.cost_usd == 0


@pytest.mark.requirement("Z-09")
def test_a_lost_call_to_a_free_model_leaves_the_cost_known() -> None:
    free = Reservation(input_tokens=100, output_tokens=400, cost_usd=0.0)
    state = fold(recorded(opened(), started(reserved=free), failed("lost")))
    assert state.usage.cost_usd == 0


@pytest.mark.requirement("Z-09")
def test_a_sum_with_one_unknown_cost_is_unknown() -> None:
    known = Usage(calls=1, input_tokens=1, output_tokens=2, cached_tokens=3, priced_usd=0.25)
    assert (known + known).cost_usd == 0.5
    assert (known + Usage(unpriced_calls=1)).cost_usd is None
    assert known + known == Usage(
        calls=2, input_tokens=2, output_tokens=4, cached_tokens=6, priced_usd=0.5
    )
