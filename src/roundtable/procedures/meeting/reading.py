"""Reading speeches for the minutes: which points they raise, and where their speakers stand.

What a speech declares in its closing block counts, and is read right after it was given. A speech
without one waits for the end of its round, when the host reads all such speeches as a clerk; what
no clerk can show is read by rules, and marked as rough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.declarations import Declarations, declarations
from ...core.events import Event, PointRaised, PointsMerged, SpeechGiven
from ...core.points import Position, wording
from ...core.state import State
from ...core.stopping import budget_exhausted, stop_requested
from ...views.meeting_status import DISCUSSION, MINUTES, current_round
from ..minutes import by_clerk, by_rules, minutes_of, reasons, stance
from .sitting import Sitting


def unread(sitting: Sitting) -> tuple[Event, ...]:
    """What the first speech brings that was not read yet, and can be; nothing if there is none."""
    state = sitting.state
    read = _read_turns(state)
    # A round opens only when nothing of those before it is left to read, so a speech that brought
    # nothing is not read again in every decision after it.
    newest = current_round(state)
    raised: dict[str, list[PointRaised]] = {}
    for point in state.points.values():
        raised.setdefault(point.turn_id, []).append(point)
    earlier: list[PointRaised] = []
    for speech in state.speeches:
        if speech.stage != DISCUSSION:
            continue
        new = speech.round >= newest and speech.turn_id not in read and reasons(state, speech)
        if new and (events := _read(sitting, speech, earlier)):
            return events
        earlier += raised.get(speech.turn_id, ())
    return ()


def silent(sitting: Sitting, round_: int) -> list[SpeechGiven]:
    """The speeches of a round that declare no positions, in their order."""
    return [
        speech
        for speech in sitting.state.spoken_in(DISCUSSION, round_)
        if reasons(sitting.state, speech) and not declarations(speech.text).takes_positions
    ]


def merged(state: State, summary: SpeechGiven) -> tuple[PointsMerged, ...]:
    """The points that the host calls the same, unless one of them denies and the other does not."""
    events = []
    gone = {other for merge in state.merges for other in merge.merged}
    for kept, *others in declarations(summary.text).same:
        if kept not in state.points or kept in gone:
            continue
        same = tuple(
            other
            for other in others
            if other in state.points and other not in gone and not _deny(state, kept, other)
        )
        gone.update(same)
        if same:
            events.append(PointsMerged(into=kept, merged=same))
    return tuple(events)


def _read_turns(state: State) -> set[str]:
    return {p.turn_id for p in state.points.values()} | {s.turn_id for s in state.stances}


def _read(
    sitting: Sitting, speech: SpeechGiven, earlier: Sequence[PointRaised]
) -> tuple[Event, ...]:
    declared = declarations(speech.text)
    if declared.takes_positions:
        return tuple(_declared(speech, declared, earlier))
    if _waits(sitting, speech):
        return ()
    state = sitting.state
    # It may be read after speeches that came later, and against the points of those too.
    known = list(state.points.values()) if sitting.minutes else earlier
    clerk = next(iter(state.spoken_in(f"{MINUTES}-{speech.round}", 0)), None)
    heard = silent(sitting, speech.round)
    shown = minutes_of(clerk, heard, on_the_table(state, speech.round, heard))
    if shown is None:
        return tuple(by_rules(state, speech, known))
    return tuple(by_clerk(speech, shown.get(speech.turn_id, ()), known))


def _waits(sitting: Sitting, speech: SpeechGiven) -> bool:
    """Whether the clerk is still to read it: after its round, unless the meeting ends first."""
    state = sitting.state
    if not sitting.minutes or sitting.wrap_up is not None or stop_requested(state):
        return False
    held = state.stages.get((DISCUSSION, speech.round))
    clerk = state.stages.get((f"{MINUTES}-{speech.round}", 0))
    if clerk is not None:
        return clerk.closed is None
    return (held is not None and held.closed is None) or not budget_exhausted(state)


def on_the_table(state: State, round_: int, heard: Sequence[SpeechGiven]) -> list[str]:
    """The points that a clerk can name who reads these speeches of a round: others raised them."""
    own = {speech.turn_id for speech in heard}
    points = state.points.values()
    return [p.point_id for p in points if p.round <= round_ and p.turn_id not in own]


def _declared(
    speech: SpeechGiven, declared: Declarations, earlier: Sequence[PointRaised]
) -> Iterator[Event]:
    known = {point.point_id for point in earlier}
    for each in declared.stances:
        if each.point_id in known:
            yield stance(speech, each.point_id, each.position, each.reason, "declared")
    points = {wording(p.text)[0]: (p.point_id, wording(p.text)[1]) for p in reversed(earlier)}
    number = len(earlier)
    for claim in declared.new:
        key, denied = wording(claim)
        if key in points:
            # The same claim again, or its opposite, is a stance on the one that is there.
            point_id, was_denied = points[key]
            position: Position = "agree" if denied == was_denied else "disagree"
            yield stance(speech, point_id, position, claim, "declared")
            continue
        number += 1
        points[key] = (f"p{number}", denied)
        point_id = f"p{number}"
        yield PointRaised(point_id=point_id, text=claim, turn_id=speech.turn_id, round=speech.round)
        # Whoever raises a point holds it.
        yield stance(speech, point_id, "agree", "", "declared")


def _deny(state: State, one: str, two: str) -> bool:
    """Whether one of two claims denies something and the other does not: merging such claims
    could turn dissent into consensus."""
    return wording(state.points[one].text)[1] != wording(state.points[two].text)[1]
