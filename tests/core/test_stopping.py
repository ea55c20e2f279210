"""Stop rules: each fires for its own reason."""

from __future__ import annotations

from roundtable.core.events import BudgetExhausted, StopRequested
from roundtable.core.state import fold
from roundtable.core.stopping import Stop, budget_exhausted, stop_requested

from .samples import opened, recorded

EXHAUSTED = BudgetExhausted(limit="calls", detail="5 of 5 calls made")
RUNNING = fold(recorded(opened()))
SPENT = fold(recorded(opened(), EXHAUSTED))
STOPPED = fold(recorded(opened(), StopRequested(by="anna", reason="enough")))
BOTH = fold(recorded(opened(), EXHAUSTED, StopRequested(by="anna")))


def test_a_running_discussion_has_no_reason_to_stop() -> None:
    assert stop_requested(RUNNING) is None
    assert budget_exhausted(RUNNING) is None


def test_a_stop_says_who_or_why() -> None:
    assert stop_requested(STOPPED) == Stop("stopped_by_user", "enough")
    assert stop_requested(BOTH) == Stop("stopped_by_user", "stopped by anna")
    assert budget_exhausted(SPENT) == Stop("budget", "the calls limit: 5 of 5 calls made")


def test_only_the_first_request_and_the_first_limit_count() -> None:
    later = StopRequested(by="ben", reason="me too")
    state = fold(recorded(opened(), StopRequested(by="anna", reason="enough"), later))
    assert stop_requested(state) == Stop("stopped_by_user", "enough")
    state = fold(recorded(opened(), EXHAUSTED, BudgetExhausted(limit="time", detail="9 of 9")))
    assert budget_exhausted(state) == Stop("budget", "the calls limit: 5 of 5 calls made")
