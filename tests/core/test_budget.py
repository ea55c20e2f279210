"""Budgets: what a call may cost is set aside before it is made, and unknown is never zero."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from roundtable.core.budget import (
    Granted,
    Spending,
    Wanted,
    active_seconds,
    covers,
    grant,
    reserve,
)
from roundtable.core.errors import FailureCause
from roundtable.core.state import fold
from roundtable.core.values import Budget, Reservation, SpeakerRef, Usage

from .samples import NOON, failed, finished, opened, recorded, started

CHEAP = SpeakerRef(model="test/cheap", usd_per_million_in=1.0, usd_per_million_out=5.0)
UNKNOWN = SpeakerRef(model="test/unknown")
DEAREST = (10.0, 50.0)
NOTHING_SPENT = Spending(calls=0, tokens=0, cost_usd=0.0, seconds=0.0)


def call(
    speaker: SpeakerRef = CHEAP, read: int = 1000, usual: int = 400, most: int = 5000
) -> Wanted:
    return Wanted(speaker, read, usual // 2, usual, 2 * usual, most)


def granted(budget: Budget, **given: Any) -> int | str:
    """How many tokens the call may say, or which limit refuses it."""
    given = {"spending": NOTHING_SPENT, "wanted": call(), "dearest": DEAREST, **given}
    found = grant(budget, **given)
    return found.max_tokens if isinstance(found, Granted) else found.limit


@pytest.mark.requirement("Z-09")
def test_a_call_is_reserved_at_all_that_it_may_say() -> None:
    found = grant(Budget(), NOTHING_SPENT, call(), DEAREST)
    assert found == Granted(
        5000,
        Reservation(
            input_tokens=1000,
            output_tokens=5000,
            cost_usd=(1000 * 1.0 + 5000 * 5.0) / 1e6,
            answer_usd=5000 * 5.0 / 1e6,
        ),
    )


@pytest.mark.requirement("Z-09")
def test_an_unknown_price_is_reserved_at_the_dearest_known_one() -> None:
    assert reserve(Wanted(UNKNOWN, 1000, 1, 1, 1, 1), 1000, DEAREST) == Reservation(
        input_tokens=1000,
        output_tokens=1000,
        cost_usd=(1000 * 10.0 + 1000 * 50.0) / 1e6,
        answer_usd=1000 * 50.0 / 1e6,
        priced=False,
    )


@pytest.mark.requirement("I-11", "Z-09")
@pytest.mark.parametrize(
    ("budget", "spent", "found"),
    [
        (Budget(max_calls=5), Spending(4, 0, 0, 0), 5000),
        (Budget(max_calls=5), Spending(5, 0, 0, 0), "calls"),
        (Budget(max_tokens=1500), Spending(0, 0, 0, 0), 500),
        (Budget(max_tokens=1500), Spending(0, 300, 0, 0), 200),
        (Budget(max_tokens=1500), Spending(0, 301, 0, 0), "tokens"),
        (Budget(max_cost_usd=0.002), Spending(0, 0, 0, 0), 200),
        (Budget(max_cost_usd=0.002), Spending(0, 0, 0.0001, 0), "cost"),
        (Budget(max_cost_usd=1), Spending(0, 0, 0.5, 0), 5000),
        (Budget(max_cost_usd=0), NOTHING_SPENT, "cost"),
        (Budget(max_seconds=60), Spending(0, 0, 0, 59.9), 5000),
        (Budget(max_seconds=60), Spending(0, 0, 0, 60), "time"),
        (Budget(), Spending(10**6, 10**9, 10**6, 10**6), 5000),
        (Budget(max_calls=5, max_cost_usd=1), Spending(1, 0, 0.9999, 0), "cost"),
    ],
)
def test_a_call_is_admitted_up_to_each_limit(
    budget: Budget, spent: Spending, found: int | str
) -> None:
    assert granted(budget, spending=spent) == found


@pytest.mark.requirement("Z-35")
def test_a_budget_of_nothing_lets_free_models_speak_and_no_others() -> None:
    free = SpeakerRef(model="local", usd_per_million_in=0.0, usd_per_million_out=0.0)
    nothing = Budget(max_cost_usd=0)
    assert granted(nothing, wanted=call(free)) == 5000
    assert granted(nothing, wanted=call(free), ending=[call(CHEAP)]) == 5000
    assert granted(nothing, wanted=call(CHEAP)) == "cost"
    assert granted(nothing, wanted=call(UNKNOWN)) == "cost"


@pytest.mark.requirement("Z-09", "Z-35")
def test_what_the_verdict_needs_is_kept_back_and_the_rest_may_be_said() -> None:
    # 0.001 to read and 0.001 for the fewest words that are of use, for each of the two.
    assert granted(Budget(max_cost_usd=0.004), ending=[call()]) == 200
    assert granted(Budget(max_cost_usd=0.0039), ending=[call()]) == "cost"
    # Both have room for what is usual, then who is asked now for more, then the verdict.
    assert granted(Budget(max_cost_usd=0.006), ending=[call()]) == 400
    assert granted(Budget(max_cost_usd=0.008), ending=[call()]) == 800
    assert granted(Budget(max_cost_usd=0.010), ending=[call()]) == 800
    assert granted(Budget(max_cost_usd=0.026), ending=[call()]) == 1000
    assert granted(Budget(max_calls=2), ending=[call()]) == 5000
    assert granted(Budget(max_calls=1), ending=[call()]) == "calls"
    assert granted(Budget(max_cost_usd=0.01), ending=[call(UNKNOWN)]) == "cost"


@pytest.mark.requirement("Z-35")
def test_whoever_speaks_beside_others_leaves_them_their_share() -> None:
    assert granted(Budget(max_cost_usd=0.009), beside=[call(), call()]) == 400
    assert granted(Budget(max_cost_usd=0.063), beside=[call(), call()]) == 1000
    # A round that cannot be paid for all of them is not begun.
    low = Budget(max_cost_usd=0.005)
    assert granted(low, beside=[call(), call()], whole_round=True) == "cost"
    assert granted(low, beside=[call(), call()]) == 200


@pytest.mark.requirement("Z-35")
def test_what_comes_last_may_take_all_that_is_left_and_is_told_where_that_is_little() -> None:
    # 0.001 to read; nothing comes after it that could need the rest.
    found = grant(Budget(max_cost_usd=0.021), NOTHING_SPENT, call(), DEAREST)
    assert isinstance(found, Granted)
    assert (found.max_tokens, found.short) == (4000, False)
    little = grant(Budget(max_cost_usd=0.0025), NOTHING_SPENT, call(), DEAREST)
    assert isinstance(little, Granted)
    assert (little.max_tokens, little.short) == (300, True)


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize(
    ("budget", "spent", "enough"),
    [
        (Budget(), Spending(10**6, 10**9, 10**6, 10**6), True),
        # Two calls of 0.001 to read and 0.001 for the fewest words each.
        (Budget(max_cost_usd=0.004), NOTHING_SPENT, True),
        (Budget(max_cost_usd=0.004), Spending(0, 0, 0.0001, 0), False),
        (Budget(max_tokens=2400), NOTHING_SPENT, True),
        (Budget(max_tokens=2399), NOTHING_SPENT, False),
        (Budget(max_calls=3), Spending(1, 0, 0, 0), True),
        (Budget(max_calls=3), Spending(2, 0, 0, 0), False),
        (Budget(max_seconds=60), Spending(0, 0, 0, 60), False),
    ],
)
def test_several_calls_are_covered_if_all_of_them_can_be_paid(
    budget: Budget, spent: Spending, enough: bool
) -> None:
    assert covers(budget, spent, [call(), call()], DEAREST) is enough


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
@pytest.mark.parametrize(
    ("said", "kept"),
    [(80, 0.1 + 0.4 * 100 / 400), (320, 0.5), (400, 0.5), (500, 0.1 + 0.5)],
    ids=["short", "nearly all, with caution", "all", "more than it was granted"],
)
def test_a_finished_call_of_unknown_cost_keeps_what_its_words_cost_and_not_what_it_might_have_said(
    said: int, kept: float
) -> None:
    held = Reservation(input_tokens=100, output_tokens=400, cost_usd=0.5, answer_usd=0.4)
    unpriced = Usage(input_tokens=90, output_tokens=said, unpriced_calls=1)
    state = fold(recorded(opened(), started(reserved=held), finished(usage=unpriced)))
    assert state.spending(NOON).cost_usd == pytest.approx(kept)
    assert state.usage.cost_usd is None


@pytest.mark.requirement("Z-09")
@pytest.mark.parametrize("cause", ["timeout", "cut", "cancelled", "lost", "empty", "garbled"])
def test_a_failed_call_that_may_have_been_paid_keeps_its_reservation(cause: FailureCause) -> None:
    state = fold(recorded(opened(), started(), failed(cause)))
    assert state.spending(NOON) == Spending(1, 500, 0.5, 0)
    assert state.usage.cost_usd is None


@pytest.mark.requirement("Z-09")
@pytest.mark.parametrize("cause", ["empty", "refused", "garbled"])
def test_a_failed_call_of_which_its_provider_told_the_usage_is_counted_by_that(
    cause: FailureCause,
) -> None:
    used = Usage(calls=1, input_tokens=90, output_tokens=200, priced_usd=0.25)
    state = fold(recorded(opened(), started(), failed(cause, usage=used)))
    assert state.spending(NOON) == Spending(1, 290, 0.25, 0)
    assert state.usage == used
    unpriced = used.model_copy(update={"priced_usd": 0.0, "unpriced_calls": 1})
    state = fold(recorded(opened(), started(), failed(cause, usage=unpriced)))
    assert state.usage.cost_usd is None
    assert state.spending(NOON).cost_usd == 0.5, "unknown is not zero"


@pytest.mark.requirement("Z-09")
@pytest.mark.parametrize(
    ("cause", "calls"),
    [("rate_limited", 1), ("auth", 1), ("not_found", 0), ("bad_request", 1), ("too_long", 1)],
)
def test_a_call_that_was_turned_away_gives_its_reservation_back(
    cause: FailureCause, calls: int
) -> None:
    """And where there was no such model, nobody was called."""
    state = fold(recorded(opened(), started(), failed(cause)))
    assert state.spending(NOON) == Spending(calls, 0, 0.0, 0)
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
