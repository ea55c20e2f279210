"""The throttle: many fewer calls when a provider asks for that, slowly more when it answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.errors import SpeakerError
from roundtable.core.throttle import PAUSE, Throttle, seconds_of, too_much


def test_a_refusal_halves_the_window_and_a_window_of_answers_widens_it_by_one() -> None:
    throttle = Throttle.starting(64, 16).refused(10.0, begun=9.0, wait=None)
    assert throttle.room == 8
    assert throttle.answered(8).room in (8, 9)
    assert throttle.answered(9).room == 9
    assert throttle.answered(10_000).room == 64


def test_the_window_never_closes_wholly() -> None:
    throttle = Throttle.starting(4)
    for second in range(20):
        throttle = throttle.refused(second + 1.0, begun=second + 0.5, wait=None)
    assert throttle.room == 1


def test_calls_that_were_under_way_together_cut_the_window_once() -> None:
    throttle = Throttle.starting(16)
    for _ in range(16):
        throttle = throttle.refused(10.0, begun=8.0, wait=2.0)
    assert throttle.room == 8
    assert throttle.refused(11.0, begun=10.5, wait=None).room == 4


def test_the_longest_wait_that_was_asked_for_counts() -> None:
    throttle = Throttle.starting(16).refused(10.0, begun=9.0, wait=30.0)
    assert throttle.refused(11.0, begun=9.0, wait=2.0).paused_until == 40.0


def test_another_end_to_its_growth_keeps_what_was_learnt() -> None:
    learnt = Throttle.starting(16).refused(1.0, begun=0.5, wait=None)
    assert learnt.bounded(32).room == 8
    assert learnt.bounded(4).room == 4
    assert Throttle.starting(16).bounded(32).room == 32


@pytest.mark.parametrize(
    ("error", "busy", "seconds"),
    [
        (SpeakerError("rate_limited", "", retry_after=7.0), True, 7.0),
        (SpeakerError("rate_limited", ""), True, PAUSE),
        (SpeakerError("unavailable", "", retry_after=3.0), True, 3.0),
        (SpeakerError("unavailable", ""), True, None),
        (SpeakerError("auth", ""), False, None),
        (SpeakerError("garbled", ""), False, None),
    ],
)
def test_only_what_tells_of_a_busy_provider_counts(
    error: SpeakerError, busy: bool, seconds: float | None
) -> None:
    assert too_much(error) is busy
    assert seconds_of(error) == seconds


@given(
    st.integers(1, 200),
    st.lists(st.one_of(st.just(None), st.floats(0, 100)), max_size=200),
)
def test_whatever_happens_the_window_stays_within_its_ends(
    most: int, course: list[float | None]
) -> None:
    throttle = Throttle.starting(most, 16)
    for now, wait in enumerate(course):
        throttle = (
            throttle.answered()
            if wait is None
            else throttle.refused(float(now), begun=now - 1.0, wait=wait)
        )
        assert 1 <= throttle.room <= most


def test_a_provider_with_a_capacity_of_its_own_is_asked_about_as_much_as_it_carries() -> None:
    """In virtual time: each call takes a second, and what is beyond nine at once is refused."""
    throttle = Throttle.starting(64, 16)
    asked = refused = 0
    for second in range(600):
        calls = throttle.room
        asked += calls
        over = max(0, calls - 9)
        refused += over
        throttle = throttle.answered(calls - over)
        if over:
            throttle = throttle.refused(second + 1.0, begun=float(second), wait=None)
    assert refused / asked < 0.15
    assert (asked - refused) / 600 > 6
