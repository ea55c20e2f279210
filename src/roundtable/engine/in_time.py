"""How long a call may take that the table can do without, where a discussion's time is limited: so
long that the answers and the verdict still have theirs, as far as is known how long they take."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.budget import Spending
from ..core.effects import TurnPlan
from ..core.state import State
from ..core.turns import Call
from ..rehearsal.lengths import DECLARED_AGAIN, Lengths
from ..rehearsal.play import SpentAfter, Spoken, play, without
from .ahead import known_here, procedure_of

NO_TIME = "it would take the time that the answers and the verdict need"
TOOK_LONG = "it took longer than its share: the rest is for the answers and the verdict"


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
    after = _together(each for each in calls if not each.dispensable and not _is(each, plan))
    own = _usual(known, plan, call)
    return left * own / (own + after) if own + after <= left else 0.0


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
    faster = min(1.0, known.pace)
    calls = play(state, procedure, known, "differing", spent_after="somebody").calls
    first = min((each.step for each in calls), default=0)
    own = _together(each for each in calls if each.step == first) * faster
    after = _together(each for each in calls if each.step > first and not each.dispensable)
    turn = state.turn(plan.turn_id)
    # Who was cut would be cut again with no more time than that.
    failed = [each.failed for each in turn.attempts if each.failed] if turn else []
    cut = max((each.seconds for each in failed if each.cause == "timeout"), default=0.0)
    return max(own, cut) + after * faster > most - spending.seconds


def _is(each: Spoken, plan: TurnPlan) -> bool:
    return each.turn_id == plan.turn_id


def _usual(known: Lengths, plan: TurnPlan, call: Call) -> float:
    speaker = call.speaker
    template = plan.task_for(speaker).prompt.template
    name = template if isinstance(template, str) else template.id
    small = speaker.demonstration
    said = DECLARED_AGAIN if call.purpose == "declare" else 0.0
    said = said or known.said(speaker.model, name, small=small)
    return known.seconds(speaker.model, said, small=small)


def _together(calls: Iterable[Spoken]) -> float:
    """How long these calls take, those of a step side by side."""
    slowest: dict[int, float] = {}
    for each in calls:
        slowest[each.step] = max(slowest.get(each.step, 0.0), each.seconds)
    return sum(slowest.values())
