"""What is recorded when a stage closes: ballots, scores, and who is missing from it."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.events import Event, NoteAdded, ScoresGiven, SpeechGiven, TurnFailed
from ...core.scores import has_scores, read_scores
from . import notes as say
from .ballots import ballots, is_meaningful
from .digests import digest
from .sitting import Sitting

STANDS = (
    "Its digest of Round 1 stands as its final position, and its scores stay out of the consensus."
)


def after_answers(
    sitting: Sitting, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    found: list[NoteAdded] = [missing(sitting, failure) for failure in failures]
    wanted = sitting.rounds > 1 and sitting.design.workflow != "hybrid"
    empty = [s for s in speeches if not digest(s)]
    if len(speeches) == 1:
        found.append(say.ONE_SURVIVOR)
    elif wanted and speeches:
        found.extend(say.no_digest(sitting.role(s.participant)) for s in empty)
        if len(speeches) - len(empty) < 2:
            found.append(say.NO_PEERS)
    return (*ballots(sitting, speeches), *found)


def after_critique(
    sitting: Sitting, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    found = [missing(sitting, failure, STANDS) for failure in failures]
    peers = {seat.id: seat.role for seat, _ in sitting.critics}
    return (*ballots(sitting, speeches), *_scores(sitting, speeches, peers), *found)


def after_second(
    sitting: Sitting, speeches: Sequence[SpeechGiven], failures: Sequence[TurnFailed]
) -> tuple[Event, ...]:
    """Stage 2 is not asked for scores; where it gives some, they count."""
    found = [missing(sitting, failure) for failure in failures]
    if not speeches:
        found.append(say.STAGE_2_FAILED)
    scoring = [s for s in speeches if has_scores(s.text)]
    peers = {seat.id: seat.role for seat, _ in sitting.critics}
    return (*ballots(sitting, speeches), *_scores(sitting, scoring, peers), *found)


def _scores(
    sitting: Sitting, speeches: Sequence[SpeechGiven], peers: dict[str, str]
) -> tuple[Event, ...]:
    given: list[ScoresGiven] = []
    doubtful: list[tuple[str, str]] = []
    everybody = [seat.role for seat in sitting.design.seats]
    for speech in speeches:
        if not is_meaningful(sitting.state, speech):
            continue
        others = {who: role for who, role in peers.items() if who != speech.participant}
        if not others:
            continue
        read = read_scores(speech.text, others, everybody)
        given.append(
            ScoresGiven(
                turn_id=speech.turn_id,
                participant=speech.participant,
                round=speech.round,
                scores=dict(read.given),
                inferred=read.inferred,
            )
        )
        critic = sitting.role(speech.participant)
        doubtful.extend((critic, others[peer]) for peer in read.inferred)
    return (*given, say.inferred(doubtful)) if doubtful else tuple(given)


def missing(sitting: Sitting, failure: TurnFailed, stands: str = "") -> NoteAdded:
    """Who did not answer, and what to do about it."""
    turn = sitting.state.turn(failure.turn_id)
    model = turn.attempts[-1].started.model if turn and turn.attempts else ""
    return say.absent(sitting.role(failure.participant), failure, model, stands=stands)
