"""Reading speeches for the minutes: which points they raise, and where their speakers stand.

What a speech declares in its closing block counts. A speech without one is read by rules, and
what they find is marked as rough. Each speech is read once, right after it was given, and only
against the points raised before it, so the result never depends on when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from ...core.declarations import MAX_CLAIM, Declarations, declarations, prose
from ...core.events import Event, PointRaised, PointsMerged, SpeechGiven, StanceTaken
from ...core.extraction import Speech, extract, reply_stance
from ...core.points import Point, PointList, Position, wording
from ...core.state import State
from ...core.text import clip, sentences
from ...views.meeting_status import DISCUSSION

ROUGH_POINTS = 2
"""The most new points that are read from one speech without a closing block."""


def unread(state: State) -> tuple[Event, ...]:
    """What the first speech that was not read yet brings; nothing when all are read."""
    read = {point.turn_id for point in state.points.values()}
    read.update(stance.turn_id for stance in state.stances)
    earlier: list[PointRaised] = []
    for speech in state.speeches:
        if speech.stage != DISCUSSION:
            continue
        if speech.turn_id not in read and (events := _read(state, speech, earlier)):
            return events
        earlier += [p for p in state.points.values() if p.turn_id == speech.turn_id]
    return ()


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


def _read(state: State, speech: SpeechGiven, earlier: Sequence[PointRaised]) -> tuple[Event, ...]:
    seated = state.participant(speech.participant)
    refs = seated.speakers if seated else ()
    if any(ref.demonstration for ref in refs if ref.model == speech.model):
        return ()  # what a model that cannot reason seems to hold is no position
    declared = declarations(speech.text)
    if declared.takes_positions:
        return tuple(_declared(speech, declared, earlier))
    return tuple(_extracted(state, speech, earlier))


def _declared(
    speech: SpeechGiven, declared: Declarations, earlier: Sequence[PointRaised]
) -> Iterator[Event]:
    known = {point.point_id for point in earlier}
    for stance in declared.stances:
        if stance.point_id in known:
            yield _stance(speech, stance.point_id, stance.position, stance.reason)
    points = {wording(p.text)[0]: (p.point_id, wording(p.text)[1]) for p in reversed(earlier)}
    number = len(earlier)
    for claim in declared.new:
        key, denied = wording(claim)
        if key in points:
            # The same claim again, or its opposite, is a stance on the one that is there.
            point_id, was_denied = points[key]
            yield _stance(speech, point_id, "agree" if denied == was_denied else "disagree", claim)
            continue
        number += 1
        points[key] = (f"p{number}", denied)
        point_id = f"p{number}"
        yield PointRaised(point_id=point_id, text=claim, turn_id=speech.turn_id, round=speech.round)
        # Whoever raises a point holds it.
        yield _stance(speech, point_id, "agree", "")


def _extracted(
    state: State, speech: SpeechGiven, earlier: Sequence[PointRaised]
) -> Iterator[Event]:
    """What rules find in the prose: few new points, and stances only where a rule is plain."""
    said = prose(speech.text)
    known = PointList().raise_points(*(_point(state, each) for each in earlier))
    heard = Speech(speech.participant, said, speech.turn_id, speech.round)
    found = extract(state.start.topic, [heard], start=known).points
    ids = {point.point_id: point.point_id for point in earlier}
    fresh = [point for point in found.points if point.id not in known][:ROUGH_POINTS]
    for number, point in enumerate(fresh, len(earlier) + 1):
        ids[point.id] = f"p{number}"
        yield PointRaised(
            point_id=ids[point.id],
            text=clip(point.text, MAX_CLAIM),
            turn_id=speech.turn_id,
            round=speech.round,
        )
    taken = {stance.point for stance in found.stances}
    for stance in found.stances:
        if stance.point in ids:
            yield _stance(speech, ids[stance.point], stance.position, stance.quote, "extracted")
    for answered in _answerable(state, speech, earlier):
        if answered.point_id not in taken and (answer := _answer(state, answered, said)):
            yield _stance(speech, answered.point_id, *answer, "extracted")


def _answerable(
    state: State, speech: SpeechGiven, earlier: Sequence[PointRaised]
) -> Iterator[PointRaised]:
    """Points to which "I agree with Ann" can only refer: the single ones of somebody else."""
    raisers = [_raiser(state, point) for point in earlier]
    for point, raiser in zip(earlier, raisers, strict=True):
        if raiser != speech.participant and raisers.count(raiser) == 1:
            yield point


def _answer(state: State, point: PointRaised, said: str) -> tuple[Position, str] | None:
    """What sentences say that name the point or who raised it, if all say the same."""
    named = [each for each in sentences(said) if _names(state, point, each)]
    found = [(position, each) for each in named if (position := reply_stance("", each).position)]
    if len({position for position, _ in found}) != 1:
        return None
    return found[0][0], clip(found[0][1], MAX_CLAIM)


def _names(state: State, point: PointRaised, sentence: str) -> bool:
    raiser = state.participant(_raiser(state, point))
    names = [point.point_id, *((raiser.name, raiser.role, raiser.id) if raiser else ())]
    return any(re.search(rf"(?<!\w){re.escape(n)}(?!\w)", sentence, re.I) for n in names)


def _raiser(state: State, point: PointRaised) -> str:
    speech = state.speech(point.turn_id)
    return speech.participant if speech else ""


def _point(state: State, event: PointRaised) -> Point:
    return Point(
        id=event.point_id,
        text=event.text,
        raised_by=_raiser(state, event),
        turn=event.turn_id,
        round=event.round,
    )


def _stance(
    speech: SpeechGiven,
    point_id: str,
    position: Position,
    quote: str,
    source: Literal["declared", "extracted"] = "declared",
) -> StanceTaken:
    return StanceTaken(
        participant=speech.participant,
        point_id=point_id,
        position=position,
        turn_id=speech.turn_id,
        round=speech.round,
        source=source,
        quote=quote,
    )


def _deny(state: State, one: str, two: str) -> bool:
    """Whether one of two claims denies something and the other does not: merging such claims
    could turn dissent into consensus."""
    return wording(state.points[one].text)[1] != wording(state.points[two].text)[1]
