"""What is recorded of the speeches: ballots, points and stances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.events import BallotCast, Event, PointRaised, SpeechGiven, StanceTaken
from ...core.values import Confidence
from .ballots import WrittenBallot, read_reasons, read_stances
from .sitting import Sitting


def first_ballots(sitting: Sitting) -> tuple[Event, ...]:
    """The control group: what everybody would have voted without talk."""
    chosen = sitting.reading.chosen if sitting.needs_clerk else {}
    ballots = []
    for speech in sitting.answers:
        written = sitting.written(speech)
        placed = chosen.get(speech.participant)
        ranking = (placed,) if placed else written.ranking
        ballots.append(cast(sitting, speech, written, ranking, sitting.options))
    return tuple(ballots)


def final_ballots(sitting: Sitting, speeches: Sequence[SpeechGiven]) -> tuple[Event, ...]:
    """The ballots and stances of the critique round."""
    events: list[Event] = []
    for speech in speeches:
        written = sitting.written(speech)
        events.append(cast(sitting, speech, written, written.ranking, sitting.options))
        stances = read_stances(speech.sections.get("Stances", ""), sitting.state.points)
        events.extend(
            StanceTaken(
                participant=speech.participant,
                point_id=point,
                position=position,
                turn_id=speech.turn_id,
                round=speech.round,
                meaningful=_counts(sitting, speech),
            )
            for point, position in stances.items()
        )
    return tuple(events)


def raised_points(sitting: Sitting) -> tuple[Event, ...]:
    """The reasons of the independent answers become the shared list of points; each author holds
    its own."""
    events: list[Event] = []
    reasons = [
        (speech, reason)
        for speech in sitting.answers
        for reason in read_reasons(speech.sections.get("Reasons", ""))
    ]
    for number, (speech, reason) in enumerate(reasons, 1):
        events += [
            PointRaised(point_id=f"p{number}", text=reason, turn_id=speech.turn_id, round=1),
            StanceTaken(
                participant=speech.participant,
                point_id=f"p{number}",
                position="agree",
                turn_id=speech.turn_id,
                round=1,
                meaningful=_counts(sitting, speech),
            ),
        ]
    return tuple(events)


def cast(
    sitting: Sitting,
    speech: SpeechGiven,
    written: WrittenBallot,
    ranking: tuple[str, ...],
    options: Mapping[str, str],
) -> BallotCast:
    """The ballot of a speech. One without an option, or by a demonstration model, is kept and does
    not count."""
    counts = _counts(sitting, speech)
    return BallotCast(
        turn_id=speech.turn_id,
        participant=speech.participant,
        round=speech.round,
        position=options[ranking[0]] if ranking else written.position,
        confidence=_level(written.certainty) if counts else None,
        certainty=written.certainty if counts else None,
        ranking=tuple((option,) for option in ranking),
        meaningful=counts and bool(ranking),
    )


def _counts(sitting: Sitting, speech: SpeechGiven) -> bool:
    seated = sitting.state.participant(speech.participant)
    refs = seated.speakers if seated else ()
    return not any(ref.demonstration for ref in refs if ref.model == speech.model)


def _level(certainty: float | None) -> Confidence | None:
    if certainty is None:
        return None
    return "high" if certainty >= 0.8 else "medium" if certainty >= 0.6 else "low"
