"""The minutes of a deliberation: answers without reasons, and critiques without stances.

What everybody declares needs no minutes. Where somebody does not, the host reads it as a clerk, in
one call for all such speeches of a round, or rules do.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.effects import Effect, Record, TurnPlan, Untrusted
from ...core.events import Event, PointRaised, SpeechGiven, StanceTaken, TurnFailed
from ...core.stages import closed_stage, run_stage
from .. import endings
from ..minutes import by_clerk, by_rules, clerk_task, minutes_of, reasons, rough_note
from .sitting import FIRST_ROUND, Sitting
from .tasks import HOST, host_turn

MINUTES = "minutes"


def take_minutes(sitting: Sitting, round_: int) -> tuple[Effect, ...]:
    """What is to be done about the speeches of a round that declare nothing; nothing if all do, or
    if all that can be read from them was."""
    state = sitting.state
    heard = _silent(sitting, round_)
    if not heard or MINUTES not in state.start.options:
        return ()
    stage = f"{MINUTES}-{round_}"
    if sitting.host_writes and state.start.options.get(MINUTES):
        over = closed_stage(state, stage, 0)
        if over is None and endings.may_open(state, stage, 0):
            plan = _clerk(sitting, round_, heard)

            def closing(
                speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
            ) -> tuple[Event, ...]:
                if _shown(sitting, round_, heard, next(iter(speeches), None)) is not None:
                    return ()
                return (rough_note("host", "".join(f.message for f in failures)),)

            return run_stage(state, [plan], closing=closing).effects
    events = _events(sitting, round_, heard)
    return (Record(events),) if events else ()


def _silent(sitting: Sitting, round_: int) -> list[SpeechGiven]:
    """Answers that raised no point, critiques that took no stance."""
    state = sitting.state
    first = round_ == FIRST_ROUND
    speeches = sitting.answers if first else sitting.critiques
    took: set[str] = {stance.turn_id for stance in state.stances if stance.source == "declared"}
    return [s for s in speeches if s.turn_id not in took and reasons(state, s)]


def _clerk(sitting: Sitting, round_: int, heard: Sequence[SpeechGiven]) -> TurnPlan:
    known = "\n".join(
        f"{p.point_id}: {p.text}"
        for p in sitting.state.points.values()
        if p.point_id in _known(sitting, heard)
    )
    first = round_ == FIRST_ROUND
    points = Untrusted("points", known) if known and not first else ""
    task = clerk_task(sitting.state, heard, points, new=first)
    return host_turn(sitting, f"{MINUTES}-{round_}", task, HOST, last=False)


def _known(sitting: Sitting, heard: Sequence[SpeechGiven]) -> list[str]:
    own = {speech.turn_id for speech in heard}
    return [p.point_id for p in sitting.state.points.values() if p.turn_id not in own]


def _shown(
    sitting: Sitting, round_: int, heard: Sequence[SpeechGiven], clerk: SpeechGiven | None
) -> dict[str, tuple[Event, ...]] | None:
    """The events that the clerk's words come to, by turn. Alone in round 1, nobody had heard of
    the others' points: what it says there are points of its own. After that there are no new ones.
    """
    first = round_ == FIRST_ROUND
    shown = minutes_of(clerk, heard, [] if first else _known(sitting, heard))
    if shown is None:
        return None
    found: dict[str, tuple[Event, ...]] = {}
    raised = list(sitting.state.points.values())
    for speech in heard:
        events = tuple(by_clerk(speech, shown.get(speech.turn_id, ()), raised))
        raised += [event for event in events if isinstance(event, PointRaised)]
        found[speech.turn_id] = events if first else _stances(events)
    return found


def _events(sitting: Sitting, round_: int, heard: Sequence[SpeechGiven]) -> tuple[Event, ...]:
    """Of the speeches that were not read yet, all that can be read from them."""
    state = sitting.state
    read = {p.turn_id for p in state.points.values()} | {s.turn_id for s in state.stances}
    if any(speech.turn_id in read for speech in heard):
        return ()  # all of a round are read at once
    clerk = next(iter(state.spoken_in(f"{MINUTES}-{round_}", 0)), None)
    shown = _shown(sitting, round_, heard, clerk)
    found: list[Event] = []
    raised = list(state.points.values())
    for speech in heard:
        if shown is not None:
            found += shown[speech.turn_id]
            continue
        events = tuple(by_rules(state, speech, raised))
        raised += [event for event in events if isinstance(event, PointRaised)]
        found += events if round_ == FIRST_ROUND else _stances(events)
    return tuple(found)


def _stances(events: Sequence[Event]) -> tuple[Event, ...]:
    """Without new points, and without stances on them."""
    new = {event.point_id for event in events if isinstance(event, PointRaised)}
    return tuple(e for e in events if isinstance(e, StanceTaken) and e.point_id not in new)
