"""Taking the minutes of speeches that declare nothing: a clerk model first, then rules.

The clerk is the host, in one call for all such speeches of a round; where everybody declares its
positions there is none. A clerk that fails, or can show nothing, is done without: rules read the
speeches then, roughly, and say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ..core.declarations import MAX_CLAIM, prose
from ..core.effects import PromptPlan, PromptValue, Task, Untrusted
from ..core.events import Event, NoteAdded, PointRaised, SpeechGiven, StanceTaken
from ..core.extraction import Speech, extract, reply_stance
from ..core.extraction.minutes import Minute, read_minutes
from ..core.points import Point, PointList, Position, wording
from ..core.state import State
from ..core.text import clip, sentences
from ..core.values import Participant

ROUGH_POINTS = 2
"""The most new points that rules read from one speech."""
CLERK_TOKENS = 2048
LANGUAGES = {"en": "English", "de": "German", "es": "Spanish", "zh": "Chinese"}
ROUGH = "rough_points"

Source = Literal["declared", "clerk", "extracted"]


def lettered(speeches: Sequence[SpeechGiven]) -> dict[str, SpeechGiven]:
    """The speeches under the letters by which the clerk knows them."""
    return {chr(ord("A") + number): speech for number, speech in enumerate(speeches)}


def clerk_task(
    state: State,
    speeches: Sequence[SpeechGiven],
    points: PromptValue,
    *,
    new: bool,
    names: Mapping[str, str] | None = None,
) -> Task:
    """What the clerk is asked. With `names`, by participant, it knows who spoke."""
    labelled = lettered(speeches).items()
    variables: dict[str, PromptValue] = {
        "question": Untrusted("question", state.start.topic),
        "points": points,
        "speeches": tuple(
            Untrusted("speech", prose(speech.text), _called(label, speech, names or {}))
            for label, speech in labelled
        ),
        "new": new,
        "language": LANGUAGES.get(state.start.language, state.start.language),
    }
    return Task(PromptPlan("minutes/clerk", variables), max_tokens=CLERK_TOKENS)


def _called(label: str, speech: SpeechGiven, names: Mapping[str, str]) -> str:
    name = names.get(speech.participant)
    return f"Speech {label}, by {name}" if name else f"Speech {label}"


def minutes_of(
    clerk: SpeechGiven | None, speeches: Sequence[SpeechGiven], known: Sequence[str]
) -> dict[str, tuple[Minute, ...]] | None:
    """What the clerk shows, by turn; None if it shows nothing at all, so that rules must do."""
    if clerk is None:
        return None
    labelled = lettered(speeches)
    texts = {label: speech.text for label, speech in labelled.items()}
    found = read_minutes(clerk.text, texts, known)
    return {labelled[label].turn_id: each for label, each in found.items()} or None


def by_clerk(
    speech: SpeechGiven, minutes: Sequence[Minute], earlier: Sequence[PointRaised]
) -> Iterator[Event]:
    """What the clerk showed of a speech, as events. Whoever makes a claim holds it; a claim that is
    on the list already, or its opposite, is a stance on that one."""
    known = {wording(p.text)[0]: (p.point_id, wording(p.text)[1]) for p in reversed(earlier)}
    number = len(earlier)
    for minute in minutes:
        if minute.point:
            yield stance(speech, minute.point, minute.position, minute.quote, "clerk")
            continue
        key, denied = wording(minute.claim)
        if key in known:
            point, was_denied = known[key]
            position: Position = "agree" if denied == was_denied else "disagree"
            yield stance(speech, point, position, minute.quote, "clerk")
            continue
        number += 1
        known[key] = (f"p{number}", denied)
        yield PointRaised(
            point_id=f"p{number}", text=minute.claim, turn_id=speech.turn_id, round=speech.round
        )
        yield stance(speech, f"p{number}", "agree", minute.quote, "clerk")


def by_rules(state: State, speech: SpeechGiven, earlier: Sequence[PointRaised]) -> Iterator[Event]:
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
    taken = {each.point for each in found.stances}
    for each in found.stances:
        if each.point in ids:
            yield stance(speech, ids[each.point], each.position, each.quote, "extracted")
    for answered in _answerable(state, speech, earlier):
        if answered.point_id not in taken and (answer := _answer(state, answered, said)):
            yield stance(speech, answered.point_id, *answer, "extracted")


def stance(
    speech: SpeechGiven, point_id: str, position: Position, quote: str, source: Source
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


def reasons(state: State, speech: SpeechGiven) -> bool:
    """Whether whoever spoke can hold anything: a demonstration model cannot reason."""
    seated: Participant | None = state.participant(speech.participant)
    refs = seated.speakers if seated else ()
    return not any(ref.demonstration for ref in refs if ref.model == speech.model)


def rough_note(host: str, failed: str = "") -> NoteAdded:
    """For when the clerk was done without."""
    why = f": {failed}" if failed else " to any use"
    return NoteAdded(
        code=ROUGH,
        text=f"The {host} could not read the speeches that declare no positions{why}. Rules read "
        "them in its place: roughly, and silent where they are not sure.",
        remedy="Nothing needs to be done; --minutes=off leaves the reading to rules at once.",
    )


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
