"""The board: a discussion that goes on, in as many lines as a screen has.

The question, a line for each seat (what it does, the last words that come, what it holds once it
has declared it), the steps, the time and the cost. What is read of the state is read when an event
comes; drawing looks at nothing but the board.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from ...core.cut_short import cut_by
from ...core.events import (
    AttemptFailed,
    AttemptStarted,
    ParticipantSubstituted,
    SpeechGiven,
    StoredEvent,
    TurnFailed,
)
from ...core.naming import line, name_of, with_names
from ...core.pattern import pattern
from ...core.state import State
from ...core.text import count_words, dollars
from ...core.throttle import span
from ...core.values import OUTSIDE
from ...engine.tools import Draft
from ...procedures import procedure_spec
from ...views.cost import Cost, in_words, with_subscription
from ...views.spoken import first_line, spoken
from ..web.drafts import Speaking
from .expected import Expected
from .progress import again_in
from .screen import Screen, Style, cells, cut, cut_front, padded, wrapped

Doing = Literal["waits", "thinks", "speaks", "spoke", "absent", "called"]

_SIGNS: dict[Doing, tuple[str, Style]] = {
    "waits": ("○", "dim"),
    "thinks": ("●", "busy"),
    "speaks": ("●", "busy"),
    "spoke": ("✓", "good"),
    "absent": ("✗", "warn"),
    "called": ("●", "warn"),
}
_STEPS = {
    "answers": "answers",
    "replies": "replies",
    "vote": "vote",
    "answer": "answer",
    "check": "check",
    "casting": "casting",
}
_HOST = {
    "casting": "choosing the experts",
    "brief": "preparing the question",
    "summary": "summing up the round",
    "list": "listing where they differ",
    "vote": "counting the vote",
    "answer": "writing the answer",
    "check": "checking the answer",
}
NAMES, MODELS = 24, 14
"""Cells of the columns, at most."""
WHO = 4
"""Seats that are shown before anything else is, where there are so many."""
NARROW = 56
"""Cells below which a seat has its words on a line of their own, without its model."""
TIGHT = 30
"""Cells below which only a sign says what a seat does, so that its name can be read."""
_MAKER = pattern(r"^(?:claude-|models/)")
_MARKS = pattern(r"^[ \t]*(?:#{1,6}|[-*+>])(?:[ \t]+|$)|\*\*|__|`", re.MULTILINE)
"""What only a renderer of Markdown needs."""
_DATE = pattern(r"[-@](?:20\d{6}|latest|\d{4}-\d\d-\d\d)$")


@dataclass(slots=True)
class Seat:
    """One line of the board."""

    name: str
    model: str
    doing: Doing = "waits"
    told: str = ""
    """What it holds, or why it did not answer."""
    words: int = 0
    speaking: Speaking | None = None
    provider: str = ""
    until: float = 0.0
    """When its provider may be called again."""


@dataclass(slots=True)
class Board:
    """What is shown of a discussion now."""

    expected: Expected = field(default_factory=Expected)
    opening: tuple[str, ...] = ()
    """What was said of it before anybody spoke."""
    question: str = ""
    seats: dict[str, Seat] = field(default_factory=dict)
    host: str = ""
    steps: list[tuple[str, str]] = field(default_factory=list)
    """Each step's words, and whether it is done, now or next."""
    far: str = ""
    """How far it is in its procedure's own words, where it has some."""
    cost: str = ""
    spent: float = 0.0
    experts: int = 0
    rounds: int = 0
    _turns: dict[str, Speaking] = field(default_factory=dict)
    _paused: dict[str, float] = field(default_factory=dict)
    """Until when a provider wants to be left alone: whoever has not been let in waits as well."""
    _now: float = 0.0
    """When it was last drawn: an event does not say how long ago it all began."""

    def on_event(self, record: StoredEvent, state: State) -> None:
        """Take in what an event changed."""
        from ...views.decision import question_of
        from ...views.report_parts import clean

        event = record.event
        if not self.question:
            self.question = question_of(clean(state.start.topic)).short
        self._sit(state)
        match event:
            case AttemptStarted():
                turn = Speaking(event.turn_id, event.participant, event.attempt)
                self._turns[event.turn_id] = turn
                seat = self._seat(state, event.participant)
                seat.model, seat.speaking = short_model(event.model), turn
                seat.provider, seat.until = _provider(event.model), 0.0
                seat.doing = "called" if event.model == OUTSIDE else "thinks"
            case AttemptFailed():
                if failed := self._turns.get(event.turn_id):
                    seat = self._seat(state, failed.participant)
                    seat.told = line(f"{event.message} {again_in(event)}")
                    if again_in(event):
                        seat.doing, seat.speaking = "waits", None
                        seat.until = self._now + (event.retry_after or 0.0)
                        self._paused[seat.provider] = seat.until
            case ParticipantSubstituted():
                self._seat(state, event.participant).model = short_model(event.to_model)
            case SpeechGiven():
                self._turns.pop(event.turn_id, None)
                self._spoke(state, event)
            case TurnFailed():
                self._turns.pop(event.turn_id, None)
                seat = self._seat(state, event.participant)
                seat.doing, seat.told, seat.speaking = "absent", line(event.message), None
            case _:
                pass
        self._look(state)

    def on_draft(self, draft: Draft) -> None:
        turn = self._turns.get(draft.turn_id)
        if turn is not None and draft.attempt >= turn.attempt:
            turn.add(draft.words)
            if seat := self.seats.get(turn.participant):
                seat.doing = "speaks"

    def _sit(self, state: State) -> None:
        from ...views.decision_parts import short_name

        names = frozenset(name_of(state, each.id) for each in state.participants)
        for each in state.participants:
            if each.id not in self.seats:
                name = short_name(name_of(state, each.id), names)
                self.seats[each.id] = Seat(
                    name, short_model(each.speaker.model), provider=_provider(each.speaker.model)
                )
        gone = self.seats.keys() - {each.id for each in state.participants} - {state.start.host.id}
        for who in gone:
            del self.seats[who]

    def _seat(self, state: State, who: str) -> Seat:
        host = state.start.host
        if who not in self.seats:
            model = host.speaker.model if who == host.id else ""
            self.seats[who] = Seat(name_of(state, who), short_model(model))
        return self.seats[who]

    def _spoke(self, state: State, speech: SpeechGiven) -> None:
        seat = self._seat(state, speech.participant)
        words = spoken(speech.text)
        seat.doing, seat.speaking, seat.words = "spoke", None, count_words(words)
        cut = cut_by(speech.flags)
        seat.told = f"({cut}) {held_in(state, speech)}" if cut else held_in(state, speech)

    def _look(self, state: State) -> None:
        from ...views.itinerary import itinerary

        course = itinerary(state)
        self.steps = [(_step(each), each["state"]) for each in course["steps"]]
        now = course["now"]
        self.host = _HOST.get(now["kind"], "") if now else ""
        # Whoever leads is there while it does something; the seats stay.
        host = self.seats.get(state.start.host.id)
        if host is not None and host.speaking is None:
            del self.seats[state.start.host.id]
        elif host is not None:
            host.told = self.host
        self.far = procedure_spec(state.start.procedure).progress(state)
        self.cost, self.spent = cost_so_far(state), state.usage.known_usd
        self.experts = len(state.participants)
        self.rounds = state.said.last_round

    # Drawing

    def lines(self, screen: Screen, elapsed: float) -> list[str]:
        """At most as many lines as the screen has, none wider than it is."""
        self._now = elapsed
        width = max(1, screen.width - 1)  # a full line would make some terminals begin another
        head = self._head(screen, width)
        foot = self._foot(screen, width, elapsed)
        rows = max(1, screen.height - 1)
        # Whoever sits here is what one looks for: on a low screen all else gives way.
        wanted = min(len(self.seats), WHO)
        for question, told, gap in ((2, 3, 1), (2, 0, 1), (1, 0, 1), (1, 0, 0), (0, 0, 0)):
            above = [*head.question(question), *head.opening(told)]
            room = rows - len(above) - len(foot) - 3 * gap
            if room >= wanted:
                break
        seats = self._seats(screen, width, max(1, room))
        gaps = [""] * gap
        return [*gaps, *above, *gaps, *seats, *gaps, *foot][:rows]

    def _head(self, screen: Screen, width: int) -> _Head:
        opening = [wrapped(screen.words(each), width, fit=True) for each in self.opening]
        asked = wrapped(screen.words(self.question), width, fit=True)
        return _Head(screen, width, asked, opening)

    def _seats(self, screen: Screen, width: int, room: int) -> list[str]:
        each_takes = 2 if width < NARROW and len(self.seats) * 2 <= room else 1
        shown = list(self.seats.values())
        if len(shown) * each_takes > room:
            # Whoever speaks is what one looks for.
            order = {"speaks": 0, "thinks": 1, "called": 1, "absent": 2, "spoke": 3, "waits": 4}
            first = sorted(shown, key=lambda seat: order[seat.doing])[: max(0, room - 1)]
            kept = [seat for seat in shown if any(seat is each for each in first)]
            rest = [seat for seat in shown if not any(seat is each for each in kept)]
            spoke = sum(seat.doing == "spoke" for seat in rest)
            more = f"  and {len(rest)} more" + (f", {spoke} of them have spoken" if spoke else "")
            return [
                *(text for seat in kept for text in self._seat_lines(seat, screen, width, False)),
                screen.paint(cut(more, width), "dim"),
            ]
        two = each_takes == 2
        return [text for seat in shown for text in self._seat_lines(seat, screen, width, two)]

    def _seat_lines(self, seat: Seat, screen: Screen, width: int, two: bool) -> list[str]:
        sign, style = _SIGNS[seat.doing]
        does = f"{screen.sign(sign)} {self._does(seat)}"
        ellipsis = screen.sign("…")
        if width < TIGHT:
            named = f"{screen.sign(sign)} {screen.words(seat.name)}"
            first = screen.paint(cut(named, width, ellipsis), style)
            if not two:
                return [first]
            room = max(0, width - 2)
            words = self._words(seat, screen, room) or cut(self._does(seat), room, ellipsis)
            return [first, f"  {words}" if words else ""]
        if width < NARROW:
            name = cut(screen.words(seat.name), max(4, width - 4 - cells(does)), ellipsis)
            first = f"  {name}  {screen.paint(does, style)}"
            if cells(f"  {name}  {does}") > width:
                first = cut(f"  {name}  {does}", width, ellipsis)
            if not two:
                return [first]
            return [first, f"    {self._words(seat, screen, width - 4)}"]
        # A wide terminal has room for whole names.
        widest, longest = max(NAMES, width // 5), max(MODELS, width // 7)
        names = min(widest, max(cells(screen.words(s.name)) for s in self.seats.values()))
        models = min(longest, max(cells(screen.words(s.model)) for s in self.seats.values()))
        does_wide = max(cells(self._does(s)) for s in self.seats.values()) + 2
        columns = [
            padded(cut(screen.words(seat.name), names, ellipsis), names),
            screen.paint(padded(cut(screen.words(seat.model), models, ellipsis), models), "dim"),
            screen.paint(padded(does, does_wide), style),
        ]
        room = width - 2 - names - models - does_wide - 6
        return [f"  {'  '.join(columns)}  {self._words(seat, screen, room)}".rstrip()]

    def _does(self, seat: Seat) -> str:
        match seat.doing:
            case "spoke":
                if not seat.words:  # a vote is no words
                    return "answered"
                return "1 word" if seat.words == 1 else f"{seat.words} words"
            case "thinks":
                return "thinking"
            case "speaks":
                return "speaking"
            case "absent":
                return "no answer"
            case "called":
                return "is asked"
            case "waits":
                until = self._until(seat)
                return f"waits {span(until - self._now)}" if until > self._now else "waits"

    def _until(self, seat: Seat) -> float:
        return max(seat.until, self._paused.get(seat.provider, 0.0))

    def _words(self, seat: Seat, screen: Screen, room: int) -> str:
        if room < 4:
            return ""
        ellipsis = screen.sign("…")
        if seat.speaking is not None:
            # Cleaned before it is cut: half a key would no longer look like one.
            coming = screen.words(_MARKS.sub(" ", seat.speaking.shown))
            if coming:
                return cut_front(coming, room, ellipsis)
        style: Style = "warn" if seat.doing == "absent" else ""
        told = seat.told
        if seat.doing == "waits" and seat.until <= self._now < self._until(seat):
            told = f"{seat.provider} asks to be left alone"
        return screen.paint(cut(screen.words(told), room, ellipsis), style or "dim")

    def _foot(self, screen: Screen, width: int, elapsed: float) -> list[str]:
        time = clock(elapsed)
        # What is passed is no measure any more.
        expected = self.expected
        if expected.seconds is not None and elapsed <= max(1.0, expected.seconds):
            time += f" of about {clock(max(1.0, expected.seconds))}"
        cost = self.cost
        if cost.startswith("$") and expected.usd and self.spent <= expected.usd:
            cost += f" of about {dollars(expected.usd)}"
        elif cost.startswith("$") and expected.usd is None and not self.spent:
            cost = ""  # nobody knows the prices: it is not known to be nothing
        told = "    ".join(each for each in (self.far, time, cost) if each)
        steps, plain = self._steps(screen, width)
        if steps and cells(plain) + 6 + cells(told) <= width:
            return [f"{steps}{' ' * 4}{screen.paint(told, 'dim')}"]
        apart = [
            cut(f"  {each}", width, screen.sign("…")) for each in (self.far, time, cost) if each
        ]
        if cells(told) + 2 <= width:
            apart = [f"  {told}"]
        painted = [screen.paint(each, "dim") for each in apart]
        return [steps, *painted] if steps else painted

    def _steps(self, screen: Screen, width: int) -> tuple[str, str]:
        """The steps with what is done, and the same without codes."""
        told = list(self.steps)
        if not told:
            word = f"  {self.host or 'setting the table'}"
            return screen.paint(word, "busy"), word
        for within in (len(told), 3, 2, 1):
            part = _around(told, within)
            plain = "  " + "  ".join(f"{_sign(screen, s)} {w}" for w, s in part)
            if cells(plain) <= width or within == 1:
                break
        looks: dict[str, Style] = {"done": "good", "skipped": "dim", "now": "busy", "next": "dim"}
        painted = [screen.paint(f"{_sign(screen, s)} {w}", looks[s]) for w, s in part]
        line_ = "  " + "  ".join(painted)
        return (line_, plain) if cells(plain) <= width else (cut(plain, width), cut(plain, width))

    def trace(self, elapsed: float) -> str:
        """What remains of it when it is over."""
        of = "1 expert" if self.experts == 1 else f"{self.experts} experts"
        rounds = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        return f"{of}, {rounds}, {clock(elapsed)}"


@dataclass(frozen=True, slots=True)
class _Head:
    """What stands above the seats, in as many lines as there is room for."""

    screen: Screen
    width: int
    asked: list[str]
    told: list[list[str]]
    """The lines of each thing that was said before anybody spoke."""

    def question(self, most: int) -> list[str]:
        return [self.screen.paint(each, "bold") for each in self._within(self.asked, most)]

    def opening(self, most: int) -> list[str]:
        lines: list[str] = []
        for each in self.told:
            lines += self._within(each, most - len(lines))
        return [self.screen.paint(each, "dim") for each in lines]

    def _within(self, lines: list[str], most: int) -> list[str]:
        if len(lines) <= most or not most:
            return lines[:most]
        rest = " ".join(lines[most - 1 :])
        return [*lines[: most - 1], cut(rest, self.width, self.screen.sign("…"))]


def _provider(model: str) -> str:
    return line(model).partition("/")[0]


def _sign(screen: Screen, state: str) -> str:
    return screen.sign({"done": "✓", "skipped": "–", "now": "●"}.get(state, "○"))


def _around(steps: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """So many steps, the one that is held now among them."""
    if len(steps) <= most:
        return steps
    behind = ("done", "skipped")
    now = next((n for n, (_, state) in enumerate(steps) if state not in behind), len(steps) - 1)
    start = min(max(0, now - most // 2), len(steps) - most)
    return steps[start : start + most]


def _step(step: dict[str, object]) -> str:
    kind = str(step["kind"])
    return _STEPS.get(kind) or f"round {step['round']}"


def held_in(state: State, speech: SpeechGiven) -> str:
    """What is said in a speech, in a line: the position that it declares, otherwise its first
    sentence, with names for the turns that it cites. What its speaker declared before is none of
    its words."""
    position = speech.declaration.position if speech.declaration and speech.round else ""
    return with_names(state, line(position) or first_line(spoken(speech.text)))


def short_model(model: str) -> str:
    """A model's name without its maker and date: `opus-4-6`."""
    if model == OUTSIDE:
        return "a person"
    name = line(model).rpartition("/")[2].partition(":")[0] or line(model)
    return _DATE.sub("", _MAKER.sub("", name))


def cost_of(state: State) -> str:
    """What was spent in all."""
    return _cost_told(state, Cost.of(state), why=True)


def cost_so_far(state: State) -> str:
    """What was spent by now: what is under way is not paid yet, and makes nothing unknown."""
    return _cost_told(state, Cost.so_far(state), why=False)


def cost_in_short(state: State) -> str:
    """What was spent in all, without why it is not told exactly."""
    return _cost_told(state, Cost.of(state), why=False)


def _cost_told(state: State, cost: Cost, *, why: bool) -> str:
    told = "cost unknown" if cost.known == "unknown" else in_words(cost, why=why)
    seats = (*state.ever_seated.values(), state.start.host)
    return with_subscription(told, cost, (seat.speaker.model for seat in seats))


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
