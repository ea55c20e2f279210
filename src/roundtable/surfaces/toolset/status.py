"""Where a discussion stands for whoever asks through the tools, and what that caller should do
next; what of it is worth a line to somebody who waits, and who is told of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...bootstrap import App
from ...core.effects import TurnPlan
from ...core.events import (
    DiscussionClosed,
    NoteAdded,
    ParticipantSubstituted,
    SpeechGiven,
    StageOpened,
    StoredEvent,
    TurnFailed,
    VerdictReached,
)
from ...core.notifications import Outbox, outbox_of
from ...core.record import Record, record_before, record_of
from ...core.state import State
from ...core.text import clip, redact
from ...core.values import HOST_WIRE_NAME, OUTSIDE, Participant
from ...engine.moderation import open_turns
from ...procedures import procedure_spec
from ...procedures.table import unanswered
from ...views.decision_parts import SET_ASIDE_TOLD
from ...views.delivery import Delivery
from ...views.delivery_parts import Seat as Held
from ...views.driving import runs_by_itself, waits_until
from ...views.meeting_status import (
    DISCUSSION,
    awaits_conclusion,
    meeting_status,
    round_complete,
    side_by_side,
)
from .results import Acted, Holding, Phase, Seat
from .results import Delivery as Sent

SHORT = 300
"""Characters of a topic or a claim in an answer."""


@dataclass(frozen=True, slots=True)
class Where:
    """A discussion at one moment, the same for every procedure."""

    state: Phase
    round: int
    max_rounds: int | None
    spoke: tuple[str, ...]
    round_complete: bool
    next_speaker: str | None
    waiting_for: tuple[str, ...]
    """Who is to speak from outside, now: seats, or the coordinator."""
    absent: tuple[str, ...]


def where(state: State) -> Where:
    spec = procedure_spec(state.start.procedure)
    plans = open_turns(state, spec.procedure)
    host = state.start.host.id
    open_now = [HOST_WIRE_NAME if p.participant.id == host else p.participant.id for p in plans]
    outside = [p.participant.speaker.model == OUTSIDE for p in plans]
    waiting = tuple(who for who, out in zip(open_now, outside, strict=True) if out)
    speaking = [who for who in open_now if who != HOST_WIRE_NAME]
    if spec.name == "meeting":
        status = meeting_status(state)
        return Where(
            "awaiting_conclusion" if awaits_conclusion(state) else state.status,
            status.round,
            status.max_rounds,
            status.spoke,
            status.round_complete,
            # Where a round waits for its coordinator nobody else is to speak; where all speak side
            # by side nobody is next.
            None
            if waiting == (HOST_WIRE_NAME,) or side_by_side(state)
            else next(iter(speaking), status.next_speaker),
            waiting,
            _absent(state, status.round),
        )
    round_ = state.newest_round
    return Where(
        state.status,
        round_,
        None,
        tuple(dict.fromkeys(s.participant for s in state.said.in_rounds if s.round == round_)),
        not speaking,
        next((p.participant.id for p in plans), None),
        waiting,
        _absent(state, round_),
    )


def beside_in(state: State, seat: str) -> int:
    """The round in which a seat is to speak side by side with others, and so may know nothing of
    what they say in it; 0 if there is none."""
    if not side_by_side(state):
        return 0
    plans = open_turns(state, procedure_spec(state.start.procedure).procedure)
    return next((each.round for each in plans if each.participant.id == seat), 0)


def record_for(state: State, caller: str) -> Record:
    """The record as far as this caller may know it."""
    round_ = beside_in(state, caller)
    return record_before(state, round_) if round_ else record_of(state)


def deadline(state: State, plan: TurnPlan) -> str:
    """Until when this turn is waited for, in words of a clock; empty where nothing ends the
    wait."""
    until = waits_until(state, plan)
    return until.isoformat(timespec="seconds") if until is not None else ""


def complete(state: State, round_: int) -> bool:
    """Whether a round of participants is over; the coordinator's words complete none."""
    if state.start.procedure == "meeting":
        return round_complete(state, round_)
    return where(state).round_complete


def seat(participant: Participant) -> Seat:
    return Seat(
        profile=participant.id,
        display_name=participant.name,
        role=participant.role,
        perspective=clip(participant.perspective, SHORT),
        model=participant.speaker.model,
    )


def holdings(state: State, limit: int = SHORT) -> list[Holding]:
    """Who holds what on the question, as every surface says it."""
    return [
        Holding(
            participant=seat.participant,
            name=seat.name,
            status=seat.status or "silent",
            opening=clip(seat.opening, limit),
            choice=seat.choice,
            final=clip(seat.final, limit),
            position=clip(seat.position, limit) if _reworded(seat) else "",
            confidence=seat.confidence,
            moved_by=[
                clip(each, limit)
                for each in ([f"{seat.moved_by}: {seat.argument}", *seat.further])
                if seat.moved_by
            ],
            # Its conditions stand in it, and none of them is cut.
            told=seat.told,
        )
        for seat in Delivery.of(state).seats
    ]


def _reworded(seat: Held) -> bool:
    """Whether its last position says more than the option that it holds, in other words."""
    return seat.position.rstrip(".") not in seat.final


def open_ids(state: State, seat: str) -> list[str]:
    """What a seat has not spoken to: votes, then demands and points, first those that name the
    option it holds, then the newest. Nothing for one that abstains. The hint, the form and the list
    of what is unanswered all come from here."""
    record = record_for(state, seat)
    if seat in record.abstained:
        return []
    votes = [each.id for each in record.decisions if record.vote(each, seat).vote is None]
    held = [record.vote(each, seat).choice for each in record.decisions]
    texts = {each.id: (each.text, each.round) for each in record.points}
    texts |= {each.id: (each.text, each.round) for each in record.conditions}

    def urgency(each: str) -> tuple[bool, bool, int]:
        text, round_ = texts[each]
        named = any(option and re.search(rf"\b{option}\b", text) for option in held)
        return not named, not each.startswith("c"), -round_

    return [*votes, *sorted(unanswered(record, seat), key=urgency)]


def may_add(state: State, seat: str) -> list[str]:
    """What a seat can still answer in a declaration without words although it is not its turn:
    between rounds and after the last one, while only the coordinator is to speak."""
    plans = open_turns(state, procedure_spec(state.start.procedure).procedure)
    over = state.closed is None and all(each.round == 0 for each in plans)
    spoken = any(each.participant == seat for each in state.said.in_rounds)
    return open_ids(state, seat) if over and spoken else []


def what_next(state: State, now: Where, caller: str = "") -> str:
    """What this caller should do, in a sentence or two: a seat of the table by its profile, or
    whoever leads it. Nobody is told to speak for somebody else."""
    if state.closed is not None:
        return f"It is {state.closed.status}: collect, summarize or read have its result."
    if state.set_aside:
        return f"{SET_ASIDE_TOLD} To go on by hand: roundtable resume {state.discussion_id}"
    seated = any(each.id == caller for each in state.participants)
    if state.paused is not None:
        told = "it goes on when it is resumed" if seated else "resume lets it go on"
        return f"{state.paused.by} paused it; {told}."
    return _to_a_seat(state, now, caller) if seated else _to_the_chair(state, now, caller)


def _to_a_seat(state: State, now: Where, seat: str) -> str:
    if now.state == "awaiting_conclusion":
        return "The rounds are over, and the coordinator concludes." + _to_add(state, seat)
    if seat in now.waiting_for:
        of = f" of {now.max_rounds}" if now.max_rounds else ""
        told = f"It is your turn in round {max(1, now.round)}{of}: read, then speak and declare."
        return f"{told} {SIDE_BY_SIDE}" if side_by_side(state) else told
    who = "the coordinator" if HOST_WIRE_NAME in now.waiting_for else now.next_speaker
    told = f"It is the turn of {who}" if who else "It is nobody's turn from outside"
    if side_by_side(state) and now.waiting_for:
        told = f"Waiting for: {_waiting(now)}"
    return f"{told}; read with wait=300 answers when yours comes.{_to_add(state, seat)}"


SIDE_BY_SIDE = (
    "All speak at the same time in each round; nobody sees this round's speeches before its own."
)


def _waiting(now: Where) -> str:
    return ", ".join("the coordinator" if w == HOST_WIRE_NAME else w for w in now.waiting_for)


def _to_add(state: State, seat: str) -> str:
    ids = may_add(state, seat)
    return (
        f" You have not answered {some_ids(ids)}: speak with a declaration and no content; "
        "the form is for that."
        if ids
        else ""
    )


NAMED = 8
"""Ids in a sentence; whatever is left out there is counted."""


def some_ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - NAMED} more, which status lists" if len(ids) > NAMED else ""
    return f"{', '.join(ids[:NAMED])}{more}"


def _to_the_chair(state: State, now: Where, caller: str) -> str:
    # Whoever does not say who it is may be a seat: it is not told to conclude.
    you = "" if caller == HOST_WIRE_NAME else "if you coordinate, "
    meeting = state.start.procedure == "meeting"
    if now.state == "awaiting_conclusion":
        plans = open_turns(state, procedure_spec(state.start.procedure).procedure)
        until = next((f" by {when}" for plan in plans if (when := deadline(state, plan))), "")
        told = f"The rounds are over: {you}call end with your conclusion{until}."
        if missing := unanswered_at_the_end(state):
            seats = "; ".join(f"{who}: {some_ids(ids)}" for who, ids in missing.items())
            told += f" Not answered yet: {clip(seats, 2 * SHORT)}."
        return told
    if now.waiting_for == (HOST_WIRE_NAME,):
        return (
            f"Round {now.round} is complete, and {you}the next one waits for you: sum it up as "
            f"{HOST_WIRE_NAME!r}, or advance."
        )
    if now.waiting_for:
        who = state.participant(now.waiting_for[0])
        name = f"{now.waiting_for[0]!r}" + (f" ({who.role})" if who else "")
        told = f"It is the turn of {name} in round {max(1, now.round)}: whoever holds it speaks."
        if side_by_side(state):
            told = f"Waiting for: {_waiting(now)} in round {max(1, now.round)}. {SIDE_BY_SIDE}"
        if now.round > 1 and not now.spoke and meeting:
            done = (
                f"Round {now.round - 1} is complete; sum it up as {HOST_WIRE_NAME!r} if you like."
            )
            return f"{done} {told}"
        if not state.speeches and meeting:
            return f"Open it as {HOST_WIRE_NAME!r} if you like. {told}"
        return told
    if runs_by_itself(state):
        return "The program speaks now: poll to follow it, collect when it is done."
    return f"Conclude it with end, or speak as {HOST_WIRE_NAME!r}."


def acted(state: State, told: str, caller: str) -> Acted:
    """The answer to an act of whoever leads: what was done, and where it stands now."""
    now = where(state)
    return Acted(
        discussion_id=state.discussion_id,
        state=now.state,
        round_complete=now.round_complete,
        next_speaker=now.next_speaker,
        told=told,
        round=now.round,
        max_rounds=now.max_rounds,
        paused=state.paused is not None,
        participants=[each.id for each in state.participants],
        hint=what_next(state, now, caller),
    )


def unanswered_at_the_end(state: State) -> dict[str, list[str]]:
    """By seat from outside what it has not spoken to, while the coordinator is to conclude."""
    if not awaits_conclusion(state):
        return {}
    seats = [each.id for each in state.participants if each.speaker.model == OUTSIDE]
    return {seat: ids for seat in seats if (ids := open_ids(state, seat))}


def _absent(state: State, round_: int) -> tuple[str, ...]:
    return tuple(
        failure.participant
        for failure in state.failures
        if failure.round == round_ > 0
        and (failure.stage == DISCUSSION or state.start.procedure != "meeting")
    )


WORDS = 160


def progress_line(record: StoredEvent, state: State) -> str:
    """One line about an event; empty for what only the machinery cares about."""
    match record.event:
        case StageOpened() as event:
            place = f"round {event.round}" if event.round else "the host"
            return f"{event.stage} begins ({place})"
        case SpeechGiven() as event:
            words = " ".join(redact(event.text).split()) or "declares what it holds"
            return f"{_name(state, event.participant)}, round {event.round}: {clip(words, WORDS)}"
        case TurnFailed() as event:
            who = _name(state, event.participant)
            return (
                f"{who} did not speak in round {event.round}: {redact(clip(event.message, WORDS))}"
            )
        case ParticipantSubstituted() as event:
            return (
                f"{_name(state, event.participant)}: {event.to_model} speaks for {event.from_model}"
            )
        case NoteAdded() as event:
            return f"note: {redact(clip(event.text, WORDS))}"
        case VerdictReached():
            return "the verdict is reached"
        case DiscussionClosed() as event:
            return f"closed: {event.status} ({event.stop_reason})"
        case _:
            return ""


def _name(state: State, participant: str) -> str:
    seated = state.participant(participant)
    return f"{seated.role} ({seated.name})" if seated else participant


NEWEST = 12
"""Messages in an answer."""
SILENT = "Nobody is told of it: give notifications, or set [news] in config.toml."


def notifications_of(state: State) -> Literal["on", "off"]:
    plan = state.notification_plan
    return "on" if plan is not None and plan.enabled and plan.channels else "off"


def unsendable(app: App, state: State) -> list[str]:
    """What is wrong with the news of a discussion: configured but silent is said aloud."""
    notes = app.notifier.warnings(state.notification_plan)
    return [f"{note.text} {note.remedy}".strip() for note in notes]


def deliveries(outbox: Outbox) -> list[Sent]:
    """Where the newest messages stand, the newest first."""
    newest = list(outbox.entries.values())[::-1][:NEWEST]
    return [
        Sent(
            message_id=each.message.id,
            event=each.message.kind,
            channel=each.message.channel.name,
            status=each.where,
            attempts=each.attempts,
            detail=each.settled.detail[:200] if each.settled else "",
        )
        for each in newest
    ]


async def outbox(app: App, discussion_id: str) -> Outbox:
    return outbox_of(await app.service.records(discussion_id))
