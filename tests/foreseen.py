"""What was to be expected of a discussion when it was opened."""

from __future__ import annotations

from datetime import UTC, datetime

from roundtable.core.events import StoredEvent
from roundtable.core.state import State
from roundtable.procedures import procedure_spec
from roundtable.rehearsal.estimate import Estimate, estimate


def foreseen(state: State) -> Estimate:
    """The estimate of a discussion as it was opened, however far it has come."""
    fresh = State()
    at = state.opened_at or datetime(2026, 1, 1, tzinfo=UTC)
    fresh.apply(StoredEvent(state.discussion_id, 1, at, state.start))
    spec = procedure_spec(state.start.procedure)
    return estimate(fresh, spec.procedure, compares=spec.compares)
