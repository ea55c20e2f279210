"""News: which messages follow from a discussion's events, and where each of them stands.

The outbox is the ledger. A message is not stored when it becomes due: it follows from the events,
under the same id for whoever reads them. What is stored is what was done about it (NewsTried,
NewsSettled), so that any process can see what is left and take it up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from .causes import reason
from .errors import NotAllowed
from .events import (
    BallotCast,
    BudgetExhausted,
    DiscussionClosed,
    EndVoted,
    Event,
    NewsPlanned,
    NewsRequested,
    NewsSettled,
    NewsThreadOpened,
    NewsTried,
    NoteAdded,
    ParticipantSubstituted,
    PointRaised,
    PointsMerged,
    ScoresGiven,
    SearchFailed,
    SpeechGiven,
    StageClosed,
    StanceTaken,
    StoredEvent,
    TurnFailed,
)
from .state import State
from .text import clip
from .values import NewsChannel, NewsKind

MAX_ATTEMPTS = 8
MAX_THREAD_ATTEMPTS = 2
"""A thread that cannot be made soon is done without: its news are waiting."""
FIRST_RETRY, LONGEST_RETRY = 2.0, 600.0
"""Seconds: the wait doubles from the one to the other."""
CLAIM_SECONDS = 300.0
"""After so long without an outcome, whoever claimed a message has lost it."""
CHAT_ROOM = "chat-room"
"""The platform that stands for a separate session in which a discussion can be read along."""
CHAT_ROOM_LIMIT = 1000
NEWS = "news"
"""The code of notes about news."""

MessageKind = NewsKind | Literal["thread"]
Where = Literal["waiting", "under_way", "delivered", "failed", "given_up"]

_AFTER_A_ROUND = (
    BallotCast
    | EndVoted
    | PointRaised
    | PointsMerged
    | ScoresGiven
    | StanceTaken
    | NoteAdded
    | NewsPlanned
    | NewsRequested
    | NewsThreadOpened
    | NewsTried
    | NewsSettled
)
"""What is recorded about a round after it was closed: its news wait for that."""


@dataclass(frozen=True, slots=True)
class Message:
    """One piece of news for one channel."""

    id: str
    """`{event}/{kind}/{channel}`: the same for whoever reads the ledger."""
    kind: MessageKind
    channel: NewsChannel
    text: str
    """For a thread, its name."""


@dataclass(slots=True)
class Entry:
    """A message in the outbox, with what was done about it."""

    message: Message
    attempts: int = 0
    before: int = 0
    """Attempts made before somebody asked for it again."""
    parts: int = 0
    """Of a long message, the parts that have arrived."""
    tried: NewsTried | None = None
    tried_at: datetime | None = None
    settled: NewsSettled | None = None
    settled_at: datetime | None = None

    @property
    def where(self) -> Where:
        settled, tried = self.settled, self.tried
        if settled is not None and settled.outcome == "delivered":
            return "delivered"
        if tried is not None and (settled is None or settled.attempt < tried.attempt):
            return "under_way"
        return settled.outcome if settled is not None else "waiting"

    @property
    def final(self) -> bool:
        return self.where in ("delivered", "given_up")

    @property
    def due_at(self) -> datetime | None:
        """When it may be tried next: None is at once. A claim runs out; a failure has its wait."""
        match self.where:
            case "under_way":
                assert self.tried_at is not None
                return self.tried_at + timedelta(seconds=CLAIM_SECONDS)
            case "failed":
                assert self.settled_at is not None
                return self.settled_at + timedelta(seconds=self._wait)
            case _:
                return None

    @property
    def last_attempt(self) -> bool:
        """Whether the next attempt is the last."""
        limit = MAX_THREAD_ATTEMPTS if self.message.kind == "thread" else MAX_ATTEMPTS
        return self.attempts - self.before + 1 >= limit

    @property
    def _wait(self) -> float:
        if self.settled is not None and self.settled.retry_after is not None:
            return max(0.0, self.settled.retry_after)
        exponent = max(0, self.attempts - self.before - 1)
        return float(min(LONGEST_RETRY, FIRST_RETRY * 2**exponent))


@dataclass(slots=True)
class Outbox:
    """The fold of a discussion's events into its messages. Only `apply` changes it."""

    state: State = field(default_factory=State)
    entries: dict[str, Entry] = field(default_factory=dict)
    """By message id, in the order in which they became due."""
    threads: dict[str, str] = field(default_factory=dict)
    """By channel name, the thread that was made there."""
    _greeted: set[str] = field(default_factory=set)
    _begun: set[int] = field(default_factory=set)
    _ended: set[int] = field(default_factory=set)
    _round_end: tuple[int, int] | None = None

    @property
    def channels(self) -> tuple[NewsChannel, ...]:
        """Who is told now."""
        plan = self.state.notification_plan
        if plan is None or not plan.enabled:
            return ()
        return tuple({channel.name: channel for channel in plan.channels}.values())

    def pending(self, channel: str) -> Entry | None:
        """What is next for a channel: messages reach it in order."""
        return next(self._pending(channel), None)

    def left(self) -> list[Entry]:
        """What has neither arrived nor been given up, for those who are still told."""
        return [entry for each in self.channels for entry in self._pending(each.name)]

    def _pending(self, channel: str) -> Iterator[Entry]:
        if any(each.name == channel for each in self.channels):
            for entry in self.entries.values():
                if entry.message.channel.name == channel and not entry.final:
                    yield entry

    def apply(self, record: StoredEvent) -> None:
        """Take in the next event. Events must come in order, without gaps."""
        from . import notifications_text

        event, seq = record.event, record.seq
        if self._round_end is not None and not isinstance(event, _AFTER_A_ROUND):
            at, round_ = self._round_end
            self._round_end = None
            self._tell(at, "round_end", lambda _: notifications_text.round_end(self.state, round_))
        self.state.apply(record)
        match event:
            case NewsTried():
                self._tried(event, record.at)
            case NewsSettled():
                self._settled(event, record.at)
            case NewsThreadOpened():
                self.threads[event.channel] = event.thread_id
            case NewsRequested():
                self._requested(event, seq)
            case NewsPlanned() if self.state.closed is None:
                self._greet(seq)
            case _:
                self._happened(event, seq)

    def _happened(self, event: Event, seq: int) -> None:
        from . import notifications_text

        match event:
            case SpeechGiven():
                if event.round > 0 and event.round not in self._begun:
                    self._begun.add(event.round)
                    begins = event.round
                    self._tell(
                        seq,
                        "round_start",
                        lambda _: notifications_text.round_start(self.state, begins),
                    )
                self._tell(seq, "speech", lambda channel: self._speech(event, channel))
            case StageClosed() if event.round in self._begun - self._ended:
                self._ended.add(event.round)
                self._round_end = (seq, event.round)
            case DiscussionClosed(status="failed"):
                self._tell(seq, "failed", lambda _: notifications_text.failed(self.state))
            case DiscussionClosed():
                self._tell(seq, "concluded", lambda _: notifications_text.concluded(self.state))
            case _:
                if less := _degradation(self.state, event):
                    self._tell(
                        seq, "degraded", lambda _: notifications_text.degraded(self.state, less)
                    )

    def _greet(self, seq: int) -> None:
        """Whoever joins the plan hears first what it is about, in a thread where it wants one."""
        from . import notifications_text

        for channel in self.channels:
            if channel.name in self._greeted:
                continue
            self._greeted.add(channel.name)
            if channel.threads:
                self._put(seq, "thread", channel, notifications_text.thread_name(self.state))
            if self.state.notification_plan and "started" in self.state.notification_plan.events:
                self._put(seq, "started", channel, notifications_text.started(self.state))

    def _requested(self, event: NewsRequested, seq: int) -> None:
        if event.message_id:
            if entry := self.entries.get(event.message_id):
                entry.before, entry.parts = entry.attempts, 0
                entry.tried = entry.settled = None
            return
        for channel in self.channels:
            text = self.text(event.kind, channel)
            if text is not None:
                kind: NewsKind = event.kind  # type: ignore[assignment]  # it has a text
                self._put(seq, kind, channel, text)

    def text(self, kind: str, channel: NewsChannel) -> str | None:
        """News of this kind as things stand; None if there is nothing to tell."""
        from . import notifications_text

        state = self.state
        newest = state.said.last_round
        match kind:
            case "started":
                return notifications_text.started(state)
            case "round_start" if newest:
                return notifications_text.round_start(state, newest)
            case "speech" if state.speeches:
                return self._speech(state.speeches[-1], channel)
            case "round_end" if newest:
                return notifications_text.round_end(state, newest)
            case "concluded" if state.closed is not None and state.closed.status != "failed":
                return notifications_text.concluded(state)
            case "failed" if state.closed is not None and state.closed.status == "failed":
                return notifications_text.failed(state)
            case "degraded":
                told = [less for e in _setbacks(state) if (less := _degradation(state, e))]
                return notifications_text.degraded(state, told[-1]) if told else None
            case _:
                return None

    def _speech(self, given: SpeechGiven, channel: NewsChannel) -> str:
        from . import notifications_text

        if channel.platform == CHAT_ROOM:  # all of the message has to keep to its limit
            return clip(
                notifications_text.speech(self.state, given, CHAT_ROOM_LIMIT), CHAT_ROOM_LIMIT
            )
        plan = self.state.notification_plan
        return notifications_text.speech(self.state, given, plan.speech_limit if plan else 200)

    def _tell(self, seq: int, kind: NewsKind, words: Callable[[NewsChannel], str]) -> None:
        plan = self.state.notification_plan
        if plan is not None and kind in plan.events:
            for channel in self.channels:
                self._put(seq, kind, channel, words(channel))

    def _put(self, seq: int, kind: MessageKind, channel: NewsChannel, text: str) -> None:
        message = Message(f"{seq}/{kind}/{channel.name}", kind, channel, text)
        self.entries[message.id] = Entry(message)

    def _tried(self, event: NewsTried, at: datetime) -> None:
        if entry := self.entries.get(event.message_id):
            entry.attempts = max(entry.attempts, event.attempt)
            entry.tried, entry.tried_at = event, at

    def _settled(self, event: NewsSettled, at: datetime) -> None:
        entry = self.entries.get(event.message_id)
        if entry is None or (entry.settled and entry.settled.outcome == "delivered"):
            return
        if event.attempt > entry.before:  # the outcome of what was asked for again, not of before
            entry.settled, entry.settled_at = event, at
            if event.outcome == "failed":
                entry.parts = _parts(event.receipt)


def outbox_of(records: Iterable[StoredEvent]) -> Outbox:
    """The outbox that these events, from the first one on, lead to."""
    outbox = Outbox()
    for record in records:
        outbox.apply(record)
    return outbox


def requested(outbox: Outbox, kind: str, by: str) -> NewsRequested:
    """The wish for news of a kind as things stand, or NotAllowed if there is none to send."""
    state = outbox.state
    if not outbox.channels:
        raise NotAllowed(
            f"Nobody is told of {state.discussion_id}.", "Open a discussion with --notify CHANNEL."
        )
    if outbox.text(kind, outbox.channels[0]) is None:
        raise NotAllowed(
            f"There is no news of the kind {kind} in {state.discussion_id} yet.",
            "Try it when that has happened, or another kind.",
        )
    return NewsRequested(kind=kind, by=by)


def again(outbox: Outbox, message_id: str, by: str) -> NewsRequested:
    """The wish to have a message sent again, or NotAllowed."""
    entry = outbox.entries.get(message_id)
    if entry is None:
        raise NotAllowed(
            f"{outbox.state.discussion_id} has no message {message_id!r}.",
            f"roundtable notify status {outbox.state.discussion_id} lists them.",
        )
    if not any(each.name == entry.message.channel.name for each in outbox.channels):
        raise NotAllowed(
            f"{entry.message.channel.name} is not told of {outbox.state.discussion_id}.",
            "News of it were turned off, or go elsewhere now.",
        )
    return NewsRequested(kind=entry.message.kind, by=by, message_id=message_id)


def announcement(state: State, *, chats: bool = True) -> str:
    """In one line who hears of this discussion: silence is said aloud too. Without `chats` it
    names the channels alone, for those who only read."""
    plan = state.notification_plan
    if plan is None or (plan.enabled and not plan.channels):
        return "News: off, nobody is told (--notify CHANNEL, or [news] in config.toml)."
    if not plan.enabled:
        return "News: off for this discussion, as it was asked for."
    names = ", ".join(
        dict.fromkeys(each.name if chats else each.platform for each in plan.channels)
    )
    return f"News: to {names}; it shows the topic, the roles and excerpts (--confidential: none)."


def _parts(receipt: str) -> int:
    done, _, of = receipt.partition("/")
    return int(done) if done.isdigit() and of.isdigit() else 0


def _setbacks(state: State) -> list[Event]:
    events: list[Event] = [*state.notes, *state.substitutions, *state.failures]
    events += [each for each in state.searches if isinstance(each, SearchFailed)]
    return [*events, state.exhausted] if state.exhausted else events


def _degradation(state: State, event: Event) -> str:
    """What an event takes away from the table, in one sentence; empty if nothing."""
    match event:
        case ParticipantSubstituted():
            return (
                f"{event.to_model} speaks for {state.name_of(event.participant)} in place of "
                f"{event.from_model}, which {reason(event.cause, event.trouble)}."
            )
        case TurnFailed():
            name = state.name_of(event.participant)
            return f"{name} has no speech in round {event.round}: {event.message}"
        case SearchFailed():
            return f"The web search failed: {event.message}"
        case BudgetExhausted():
            return f"The {event.limit} limit ended it: {event.detail}."
        case NoteAdded(code="panel_degraded"):
            return event.text
        case _:
            return ""
