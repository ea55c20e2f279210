"""How long a call may take that the table can do without, where a discussion's time is limited: so
long that the answers and the verdict still have theirs, as far as is known how long they take."""

from __future__ import annotations

from ..core.budget import Spending, together
from ..core.effects import TurnPlan
from ..core.state import State
from ..core.turns import Call
from ..rehearsal.lengths import Lengths
from ..rehearsal.play import SpentAfter, play, without
from .ahead import known_here, procedure_of, usual_seconds

NO_TIME = "it would take the time that the answers and the verdict need"
TOOK_LONG = "it took longer than its share: the rest is for the answers and the verdict"
AMPLE = 1.3
"""Times as long as it usually takes: with less time left such a call is not begun, for if it is cut
it is paid and of no use."""


def seconds_for(
    state: State, spending: Spending, plan: TurnPlan, call: Call, lengths: Lengths
) -> float | None:
    """Seconds that this call may take; 0 if it is to be left out, None if only what is left of the
    whole limits it. If all goes slower than is known, it goes slower alike: so the call gets its
    part of what is left, by how long it and what must follow usually take."""
    most, procedure = state.budget.max_seconds, procedure_of(state)
    repairs = call.purpose == "repair"
    if most is None or procedure is None or not (plan.policy.dispensable or repairs):
        return None
    left = most - spending.seconds
    if left <= 0:
        return None  # then the limit itself refuses it
    known = known_here(state, lengths)
    # A repair is only asked for: its answer stands where there is none.
    led = state if repairs else without(state, [plan])
    heard: SpentAfter = "somebody" if repairs else "round"
    calls = play(led, procedure, known, "differing", spent_after=heard).calls
    needed = [each for each in calls if not each.dispensable and each.turn_id != plan.turn_id]
    after = together((each.step, each.seconds) for each in needed)
    own = usual_seconds(known, plan, call)
    return left * own / (own + after) if AMPLE * (own + after) <= left else 0.0


def too_late(state: State, spending: Spending, plan: TurnPlan, lengths: Lengths) -> bool:
    """Whether there is no time any more for an answer and a verdict of it, by how long calls take
    here: then it is not asked for where a verdict in words stands already, which it could not
    better."""
    most, procedure, before = state.budget.max_seconds, procedure_of(state), state.verdict_before
    if most is None or procedure is None or before is None or before.method != "written":
        return False
    if plan.round == 0:
        return False  # what was said since is paid: it is tried
    known = known_here(state, lengths)
    calls = play(state, procedure, known, "differing", spent_after="somebody").calls
    first = min((each.step for each in calls), default=0)
    own = together((0, each.seconds) for each in calls if each.step == first)
    needed = (each for each in calls if each.step > first and not each.dispensable)
    after = together((each.step, each.seconds) for each in needed)
    turn = state.turn(plan.turn_id)
    # Who was cut would be cut again with no more time than that.
    failed = [each.failed for each in turn.attempts if each.failed] if turn else []
    cut = max((each.seconds for each in failed if each.cause == "timeout"), default=0.0)
    return max(own, cut) + after > most - spending.seconds
