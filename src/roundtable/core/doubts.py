"""What a reader of the speeches would doubt in the count: the declarations count, and the reader is
told what speaks against them."""

from __future__ import annotations

from collections.abc import Iterator

from .events import SpeechGiven
from .headline import last_declared, undeclared_speech
from .naming import line, name_of, turn_name
from .record import IN_REVERSE, Record
from .standing import DecisionStanding, SeatStanding, standing_of
from .state import State, lost_to_limit
from .text import clip_words
from .turns import DIFFERS, REFUSES
from .unread import unread_vote
from .values import Finding

LONGEST = 100
"""Of an option or a position that a doubt names."""


def doubtful_votes(state: State) -> tuple[Finding, ...]:
    """Votes behind the answer (behind any, where nothing prevails) whose words say something else,
    votes beside a refusal, seats that say they held before what the record denies, and votes that
    are not counted because their seat's last words declare nothing that can be read."""
    return state.derived("doubtful votes", _doubtful_votes)


def _doubtful_votes(state: State) -> tuple[Finding, ...]:
    question, record = standing_of(state).question, standing_of(state).record
    if question is None:
        return ()
    found = [
        finding
        for speech in state.said.in_rounds
        if not speech.stage.endswith(IN_REVERSE)
        for finding in _of_speech(state, question, record, speech)
    ]
    return (*found, *(f for seat in question.seats for f in _of_before(state, question, seat)))


def _of_speech(
    state: State, question: DecisionStanding, record: Record, speech: SpeechGiven
) -> Iterator[Finding]:
    where, seat = turn_name(state, speech.turn_id), question.seat(speech.participant)
    if seat is None:
        return
    behind = question.delivered is None or seat.participant in question.holders
    telling = behind and not seat.misstated  # which says it more plainly
    if DIFFERS in speech.flags and telling and _still_so(question, seat, speech):
        told = f"{where}: its words and its declaration differ; the declaration counts."
        yield Finding(code="words_differ", message=told)
    if REFUSES in speech.flags and seat.final and _still_so(question, seat, speech):
        told = f"{where}: its words refuse to answer, and yet it declares; the declaration counts."
        yield Finding(code="refused", message=told)
    if speech is not undeclared_speech(state, speech.participant):
        return
    last = _short(last_declared(state, question, seat))
    before = f" Last declared: “{last}”." if last else ""
    if lost_to_limit(speech):
        # What was cut in its middle is no vote that somebody wrote wrongly.
        told = "the limit cut it off before its declaration"
        yield Finding(
            code="no_declaration",
            message=f"{where}: {told}{'; what it declared before counts' if seat.final else ''}."
            f"{before}",
        )
        return
    if unread := unread_vote(state, speech.turn_id):
        told = f"its vote cannot be read: {line(unread)}. It is not counted."
    elif speech.participant in record.lapsed:
        told = "no declaration, so what it declared before is not counted."
    else:
        return
    yield Finding(code="no_declaration", message=f"{where}: {told}{before}")


def _still_so(question: DecisionStanding, seat: SeatStanding, speech: SpeechGiven) -> bool:
    """Whether a speech declares what its seat votes for in the end: what it set right itself is no
    doubt any more."""
    vote = speech.declaration.vote(question.decision.id) if speech.declaration else None
    return vote is None or vote.choice == seat.cast


def _of_before(state: State, question: DecisionStanding, seat: SeatStanding) -> Iterator[Finding]:
    name, now = name_of(state, seat.participant), _short(question.text_of(seat.cast))
    if seat.misstated:
        first = _short(question.text_of(seat.opening))
        told = f"{name} says that it held “{now}” before, but it had declared “{first}”"
        yield Finding(code="before_differs", message=f"{told}: it counts as moved.")
    elif seat.doubted:
        first = _short(standing_of(state).record.position(seat.participant, first=True))
        told = f"{name} says that it held “{now}” before, but its first answer (“{first}”)"
        told += " was read otherwise: it is not counted as held independently."
        yield Finding(code="before_differs", message=told)


def _short(text: str) -> str:
    return clip_words(line(text).rstrip(" .。"), LONGEST)
