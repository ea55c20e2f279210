"""Progress of a discussion while it runs: a live view in a terminal, plain lines without one."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from typing import Protocol

from ...core.assumptions import SOURCE as ASSUMPTIONS
from ...core.cut_short import cut_by
from ...core.events import (
    AttemptFailed,
    AttemptFinished,
    AttemptStarted,
    DecisionsTabled,
    DiscussionClosed,
    Event,
    LimitsRaised,
    MaterialAdded,
    NoteAdded,
    ParticipantsSeated,
    ParticipantSubstituted,
    SearchFailed,
    SearchFinished,
    SpeechGiven,
    StageClosed,
    StageOpened,
    StoredEvent,
    TurnFailed,
    VerdictReached,
)
from ...core.limits import all_told
from ...core.naming import name_of, with_names
from ...core.state import State
from ...core.text import clip_words, count_words, first_sentences
from ...core.throttle import span
from ...core.values import Participant
from ...engine.tools import Draft
from ...procedures import procedure_spec
from .expected import Expected
from .screen import is_terminal, moves
from .terminal import echo_error, for_screen, on_one_line

LONGEST = 160
"""Characters of what somebody holds, in a line."""
NOTHING_EXPECTED = Expected()
TOLD_AT_ONCE = ("not_cast", "cast_in_part", "search_failed")
"""Notes that stand among the lines of a run, and need not be told again at its end."""


class Progress(Protocol):
    """Shows a discussion while it is driven."""

    def say(self, line: str) -> None: ...

    def on_event(self, record: StoredEvent, state: State) -> None: ...

    def on_draft(self, draft: Draft) -> None: ...

    def pause(self) -> None:
        """Stand still while the person at the terminal is asked something."""
        ...

    def go_on(self) -> None: ...

    def close(self) -> None: ...

    def trace(self) -> str:
        """What is left of it when it is over, where it leaves nothing else."""
        ...


class NoProgress:
    """For `--quiet`."""

    def say(self, line: str) -> None:
        pass

    def on_event(self, record: StoredEvent, state: State) -> None:
        pass

    def on_draft(self, draft: Draft) -> None:
        pass

    def pause(self) -> None:
        pass

    def go_on(self) -> None:
        pass

    def close(self) -> None:
        pass

    def trace(self) -> str:
        return ""


class PlainProgress:
    """A line for each speech as it ends, and for whatever goes wrong, once; no control codes."""

    def __init__(self) -> None:
        self._went_wrong: set[str] = set()
        """What was told already: three seats that try four times each have one thing to say."""

    def say(self, line: str) -> None:
        echo_error(on_one_line(line))

    def on_event(self, record: StoredEvent, state: State) -> None:
        line = told(record, state)
        event = record.event
        if isinstance(event, TurnFailed) and event.message in self._went_wrong:
            line = _failed(event, state, known=True)
        if line and not self._is_known(event, state):
            self.say(line)

    def _is_known(self, event: Event, state: State) -> bool:
        match event:
            case AttemptFailed(cause="not_found"):
                attempt = state.turns[event.turn_id].attempts[event.attempt - 1]
                what = f"no {attempt.started.model}"
            case AttemptFailed() if again_in(event):
                self._went_wrong.add(event.message)
                return False  # each wait is told: it is why nothing comes
            case AttemptFailed():
                what = event.message
            case TurnFailed():
                self._went_wrong.add(event.message)
                return False
            case ParticipantSubstituted():
                return True  # who spoke in whose place is told once, when it is over
            case _:
                return False
        known = what in self._went_wrong
        self._went_wrong.add(what)
        return known

    def on_draft(self, draft: Draft) -> None:
        pass

    def pause(self) -> None:
        pass

    def go_on(self) -> None:
        pass

    def close(self) -> None:
        pass

    def trace(self) -> str:
        return ""


class VerboseProgress(PlainProgress):
    """A line for every event, with the time and what was spent so far."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = time.monotonic()

    def on_event(self, record: StoredEvent, state: State) -> None:
        from ...views.cost import Cost
        from .board import clock, cost_so_far
        from .verdict import cost_told

        spent = ""  # before anything was spent there is nothing to say of it
        if state.usage.tokens:
            spent = f" ({Cost.so_far(state).tokens}, {cost_told(cost_so_far(state))})"
        what = _line(record, state) or _verbose(record.event, state)
        self.say(f"[{clock(time.monotonic() - self._begun)}] {what}{spent}")


def make_progress(
    *,
    quiet: bool,
    plain: bool,
    verbose: bool = False,
    expected: Expected = NOTHING_EXPECTED,
    opening: Sequence[str] = (),
) -> Progress:
    """The progress that fits where stderr goes. `opening` stands in a view until it goes."""
    if quiet:
        return NoProgress()
    if verbose:
        return VerboseProgress()
    if not is_live(quiet=quiet, plain=plain, verbose=verbose):
        return PlainProgress()
    from .live import LiveProgress

    return LiveProgress(sys.stderr, expected, opening=opening)


def is_live(*, quiet: bool, plain: bool, verbose: bool) -> bool:
    """Whether somebody watches: at a terminal that can be drawn on, and who wants no lines."""
    lines = quiet or plain or verbose
    return not lines and is_terminal(sys.stderr) and moves(os.environ)


def told(record: StoredEvent, state: State) -> str:
    """What somebody who waits wants to know of an event, in a line; empty where that is nothing."""
    event = record.event
    match event:
        case SpeechGiven() if event.stage == "casting" or not event.round:
            return ""  # what the host says to the table is told by what the table does
        case SpeechGiven():
            from ...views.spoken import spoken
            from .board import held_in

            words = count_words(spoken(event.text))
            who = name_of(state, event.participant)
            if not words:
                return f"{who} has voted"
            far = procedure_spec(state.start.procedure).progress(state)
            about = ", ".join(filter(None, (_count(words), cut_by(event.flags))))
            about += f"; next: {far}" if far else ""
            return f"{who}: {clip_words(held_in(state, event), LONGEST)} ({about})"
        case (
            AttemptFailed()
            | TurnFailed()
            | ParticipantSubstituted()
            | ParticipantsSeated()
            | MaterialAdded()
            | NoteAdded()
            | SearchFailed()
            | LimitsRaised()
        ):
            return _line(record, state)
        case _:
            return ""


def _line(record: StoredEvent, state: State) -> str:
    """An event in one line; empty for those that say nothing to a watcher."""
    event = record.event
    match event:
        case StageOpened():
            return _stage(event)
        case AttemptStarted():
            far = procedure_spec(state.start.procedure).progress(state) if event.round else ""
            speaking = f"{_name(state, event.participant)} is speaking: {event.model}"
            return f"{speaking} ({far})" if far else speaking
        case AttemptFailed():
            attempts = state.turns[event.turn_id].attempts
            who = _name(state, attempts[event.attempt - 1].started.participant)
            again = f" {again_in(event)}" if again_in(event) else ""
            return f"{who}, attempt {event.attempt} failed: {event.message}{again}"
        case ParticipantSubstituted():
            return (
                f"{_name(state, event.participant)}: {event.to_model} takes over from "
                f"{event.from_model}"
            )
        case SpeechGiven(stage="casting"):
            return ""  # what came of it is told by whoever sits now
        case ParticipantsSeated():
            return _at_the_table(event.participants)
        case MaterialAdded() if event.material.source == ASSUMPTIONS:
            # Each says what was open and what is assumed; its id is for the prompts.
            return " · ".join(text.partition(": ")[2] for text in event.material.text.splitlines())
        case NoteAdded(code="not_cast"):
            return f"{event.text} {event.remedy} {_at_the_table(state.participants)}"
        case NoteAdded(code="cast_in_part"):
            return f"{event.text} {event.remedy}"
        case SpeechGiven():
            words = _words(state, event)
            if not words:
                return f"{_name(state, event.participant)} has answered"
            return (
                f"{_name(state, event.participant)}, {count_words(words)} words: "
                f"{first_sentences(_body(for_screen(words)), 2, 200)}"
            )
        case TurnFailed():
            return _failed(event, state)
        case SearchFinished():
            return f"Web search ({event.provider}): {len(event.hits)} results"
        case SearchFailed():
            return f"Web search failed: {event.message}"
        case LimitsRaised():
            return f"The limits are now {all_told(event.budget)}, by {event.by}"
        case _:
            return ""


def _failed(event: TurnFailed, state: State, *, known: bool = False) -> str:
    """Who did not answer, with why unless that is `known`; of an answer that came and could not be
    used, what is wrong with it."""
    who = _name(state, event.participant)
    if event.cause in ("garbled", "refused"):
        return f"{who}: {event.message}"
    return f"{who} did not answer." if known else f"{who} did not answer: {event.message}"


def _verbose(event: Event, state: State) -> str:
    """What only somebody wants to know who wants every event."""
    match event:
        case AttemptFinished():
            attempt = state.turns[event.turn_id].attempts[event.attempt - 1].started
            return f"{_name(state, attempt.participant)} has finished: {attempt.model}"
        case StageClosed():
            return f"{_stage(event)}: done"
        case DecisionsTabled():
            asked = "; ".join(each.question for each in event.decisions)
            return f"Put to the vote: {asked}" if asked else "Nothing is put to the vote"
        case NoteAdded():
            return f"Note: {with_names(state, event.text)}"
        case VerdictReached():
            return "The answer is there"
        case DiscussionClosed():
            return "The discussion is over"
        case _:
            return _in_words(event.type)


def again_in(failed: AttemptFailed) -> str:
    """For how long a provider wants to be left alone, where it said so. Whether anybody waits as
    long as that is the turn's to decide."""
    wait = failed.retry_after or 0.0
    return f"It asks to be left alone for {span(wait)}." if wait >= 1 else ""


def _at_the_table(participants: Sequence[Participant]) -> str:
    seats = (f"{p.name} ({p.why})" if p.why else p.name for p in participants)
    return f"At the table: {'; '.join(seats)}"


_STAGES = {
    "casting": "The experts are chosen",
    "clerk": "The positions are compared",
    "synthesis": "The answer is written",
}
"""What happens in stages whose names are the program's own."""


def _stage(event: StageOpened | StageClosed) -> str:
    name = _STAGES.get(event.stage) or event.stage.replace("-", " ").capitalize()
    return f"{name}, round {event.round}" if event.round else name


def _words(state: State, speech: SpeechGiven) -> str:
    """What people read of a speech: no block for the program, and names for the turns it cites."""
    from ...views.spoken import spoken

    return with_names(state, spoken(speech.text))


def _name(state: State, participant_id: str) -> str:
    who = state.participant(participant_id)
    name = name_of(state, participant_id)
    return f"{who.emoji} {name}" if who else name


def _body(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _count(words: int) -> str:
    return "1 word" if words == 1 else f"{words} words"


def _in_words(kind: str) -> str:
    """The type of an event as one says it: `Point raised`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).capitalize()
