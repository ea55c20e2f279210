"""Progress of a discussion while it runs: live in a terminal, plain lines without one."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ...core.agents import on_subscription
from ...core.assumptions import SOURCE as ASSUMPTIONS
from ...core.events import (
    AttemptFailed,
    AttemptStarted,
    MaterialAdded,
    NoteAdded,
    ParticipantsSeated,
    ParticipantSubstituted,
    SearchFailed,
    SearchFinished,
    SpeechGiven,
    StageOpened,
    StoredEvent,
    TurnFailed,
)
from ...core.naming import with_names
from ...core.state import State
from ...core.text import clip, count_words, first_sentences
from ...core.values import Participant
from ...engine.tools import Draft
from ...procedures import procedure_spec
from ...views.spoken import spoken
from .terminal import echo_error, for_screen, is_terminal, on_one_line, rendered

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


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


class PlainProgress:
    """One line for each thing that happens, without control codes."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def say(self, line: str) -> None:
        echo_error(on_one_line(line))

    def on_event(self, record: StoredEvent, state: State) -> None:
        line = _line(record, state)
        if line:
            usage = state.usage
            spent = f"{usage.tokens:,} tokens, {_cost(state)}"
            self.say(f"[{_clock(time.monotonic() - self._begun)}] {line} ({spent})")

    def on_draft(self, draft: Draft) -> None:
        pass

    def pause(self) -> None:
        pass

    def go_on(self) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass(slots=True)
class _Speaking:
    who: Participant
    model: str
    since: float
    text: str = ""
    trouble: str = ""


@dataclass(slots=True)
class _Board:
    speaking: dict[str, _Speaking] = field(default_factory=dict)
    stage: str = ""
    spent: str = ""
    far: str = ""


class LiveProgress:
    """Who is speaking, their words as they come, and what it costs; finished speeches scroll by."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._console = console
        self._begun = time.monotonic()
        self._board = _Board()
        self._live = Live(
            get_renderable=self._picture, console=console, refresh_per_second=8, transient=True
        )
        self._live.start()

    def say(self, line: str) -> None:
        self._console.print(on_one_line(line), markup=False, emoji=False, highlight=False)

    def on_event(self, record: StoredEvent, state: State) -> None:
        event = record.event
        board = self._board
        board.spent = f"{state.usage.calls} calls · {state.usage.tokens:,} tokens · {_cost(state)}"
        match event:
            case StageOpened():
                board.stage = _stage(event)
            case AttemptStarted():
                who = state.participant(event.participant)
                assert who is not None, "only participants make attempts"
                board.speaking[event.turn_id] = _Speaking(who, event.model, time.monotonic())
                board.far = procedure_spec(state.start.procedure).progress(state)
            case AttemptFailed():
                if event.turn_id in board.speaking:
                    board.speaking[event.turn_id].trouble = event.message
            case SpeechGiven(stage="casting"):
                board.speaking.pop(event.turn_id, None)
            case SpeechGiven():
                board.speaking.pop(event.turn_id, None)
                self._show_speech(event, state)
            case TurnFailed():
                board.speaking.pop(event.turn_id, None)
                self.say(f"  {_line(record, state)}")
            case _:
                if line := _line(record, state):
                    self.say(f"  {line}")

    def on_draft(self, draft: Draft) -> None:
        speaking = self._board.speaking.get(draft.turn_id)
        if speaking is not None:
            speaking.text += draft.words

    def pause(self) -> None:
        self._live.stop()

    def go_on(self) -> None:
        self._live.start(refresh=True)

    def close(self) -> None:
        self._live.stop()

    def _show_speech(self, speech: SpeechGiven, state: State) -> None:
        from rich.padding import Padding
        from rich.rule import Rule
        from rich.text import Text

        who = state.participant(speech.participant)
        name = f"{who.emoji} {who.name}" if who else speech.participant
        flags = f" · {' '.join(speech.flags)}" if speech.flags else ""
        # A Text, because flags stand in brackets, which a string would lose as markup.
        head = Text(f"{name} · {_where(speech)} · {speech.model}{flags}")
        self._console.print(Rule(head, align="left", style="dim"))
        if words := _words(state, speech):
            self._console.print(Padding(rendered(words), (0, 2, 1, 2)))

    def _picture(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        now = time.monotonic()
        width = max(20, self._console.width - 4)
        rows: list[RenderableType] = []
        for speaking in self._board.speaking.values():
            head = Text(f"{speaking.who.emoji} {speaking.who.name}", style="bold")
            words = count_words(speaking.text)
            head.append(
                f"  {speaking.model}  {_clock(now - speaking.since)}  "
                + (f"{words} words" if words else "thinking …"),
                style="dim",
            )
            rows.append(head)
            if speaking.text:
                # Cleaned before it is cut: half a key would no longer look like one.
                tail = " ".join(for_screen(speaking.text)[-width * 3 :].split())[-width * 2 :]
                rows.append(Text(f"  {tail}", style="italic", overflow="fold"))
            elif speaking.trouble:
                rows.append(Text(f"  {clip(for_screen(speaking.trouble), width)}", style="yellow"))
        rows.append(
            Text(
                f"{self._board.stage or 'Seating the council'} · {_clock(now - self._begun)}"
                + (f" · {self._board.far}" if self._board.far else "")
                + (f" · {self._board.spent}" if self._board.spent else ""),
                style="dim",
            )
        )
        return Group(*rows)


def make_progress(*, quiet: bool, plain: bool) -> Progress:
    """The progress that fits where stderr goes."""
    if quiet:
        return NoProgress()
    if plain or not is_terminal(sys.stderr):
        return PlainProgress()
    from rich.console import Console

    return LiveProgress(Console(stderr=True))


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
            return f"{who}, attempt {event.attempt} failed: {event.message}"
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
            return f"{event.text} {_at_the_table(state.participants)}"
        case NoteAdded(code="cast_in_part"):
            return event.text
        case SpeechGiven():
            words = _words(state, event)
            if not words:
                return f"{_name(state, event.participant)} has answered"
            return (
                f"{_name(state, event.participant)}, {count_words(words)} words: "
                f"{first_sentences(_body(for_screen(words)), 2, 200)}"
            )
        case TurnFailed():
            return f"{_name(state, event.participant)} did not answer: {event.message}"
        case SearchFinished():
            return f"Web search ({event.provider}): {len(event.hits)} results"
        case SearchFailed():
            return f"Web search failed: {event.message}"
        case _:
            return ""


def _at_the_table(participants: Sequence[Participant]) -> str:
    seats = (f"{p.name} ({p.why})" if p.why else p.name for p in participants)
    return f"At the table: {'; '.join(seats)}"


def _stage(event: StageOpened) -> str:
    name = event.stage.replace("-", " ").capitalize()
    return f"{name}, round {event.round}" if event.round else name


def _words(state: State, speech: SpeechGiven) -> str:
    """What people read of a speech: no block for the program, and names for the turns it cites."""
    return with_names(state, spoken(speech.text))


def _where(speech: SpeechGiven) -> str:
    name = speech.stage.replace("-", " ")
    return f"{name}, round {speech.round}" if speech.round else name


def _name(state: State, participant_id: str) -> str:
    who = state.participant(participant_id)
    return f"{who.emoji} {who.name}" if who else participant_id


def _body(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _cost(state: State) -> str:
    cost = state.usage.cost_usd
    told = "cost unknown" if cost is None else f"${cost:.4f}"
    seats = (*state.ever_seated.values(), state.start.host)
    if any(on_subscription(seat.speaker.model) for seat in seats):
        return "your subscription" if cost == 0 else f"{told} + your subscription"
    return told


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
