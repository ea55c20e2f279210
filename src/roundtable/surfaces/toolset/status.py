"""Where a discussion stands for whoever leads it through the tools, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.state import State
from ...core.text import clip, redact
from ...core.values import HOST_WIRE_NAME, OUTSIDE, Participant
from ...engine.moderation import newest_round, open_turns
from ...procedures import procedure_spec
from ...views.meeting_status import DISCUSSION, Issue, meeting_status, round_complete
from .results import Point, Seat

SHORT = 300
"""Characters of a topic or a claim in an answer."""
SOME_POINTS = 10
"""Points of a kind in an answer that is about something else."""


@dataclass(frozen=True, slots=True)
class Where:
    """A discussion at one moment, the same for every procedure."""

    round: int
    max_rounds: int | None
    spoke: tuple[str, ...]
    round_complete: bool
    next_speaker: str | None
    waiting_for: tuple[str, ...]
    absent: tuple[str, ...]


def where(state: State) -> Where:
    spec = procedure_spec(state.start.procedure)
    open_now = [plan.participant for plan in open_turns(state, spec.procedure)]
    waiting = tuple(p.id for p in open_now if p.speaker.model == OUTSIDE)
    if spec.name == "meeting":
        status = meeting_status(state)
        return Where(
            status.round,
            status.max_rounds,
            status.spoke,
            status.round_complete,
            status.next_speaker,
            waiting,
            _absent(state, status.round),
        )
    round_ = newest_round(state)
    return Where(
        round_,
        None,
        tuple(dict.fromkeys(s.participant for s in state.speeches if s.round == round_ > 0)),
        not any(plan.id != state.start.host.id for plan in open_now),
        next((plan.id for plan in open_now), None),
        waiting,
        _absent(state, round_),
    )


def complete(state: State, round_: int) -> bool:
    """Whether a round of participants is over; the coordinator's words complete none."""
    if state.start.procedure == "meeting":
        return round_complete(state, round_)
    return where(state).round_complete


def runs_by_itself(state: State) -> bool:
    """Whether the program has a part in it: somebody at the table is called by a process."""
    seats = (*state.participants, state.start.host)
    moderation = procedure_spec(state.start.procedure).moderation
    return not moderation or any(seat.speaker.model != OUTSIDE for seat in seats)


def seat(participant: Participant) -> Seat:
    return Seat(
        profile=participant.id,
        display_name=participant.name,
        role=participant.role,
        perspective=clip(participant.perspective, SHORT),
        model=participant.speaker.model,
    )


def points(
    issues: tuple[Issue, ...], *, most: int | None = None, limit: int = SHORT
) -> list[Point]:
    return [
        Point(
            id=issue.id,
            text=redact(clip(issue.text, limit)),
            agree=list(issue.held_by),
            disagree=list(issue.rejected_by),
            rough=issue.rough,
        )
        for issue in issues[:most]
    ]


def left_out(*lists: Sequence[object]) -> int:
    """How many points an answer does not show."""
    return sum(max(0, len(each) - SOME_POINTS) for each in lists)


def what_next(state: State, now: Where, *, just_completed: bool = False) -> str:
    """What whoever leads the discussion should do, in a sentence or two."""
    if state.closed is not None:
        return f"It is {state.closed.status}: read its result with collect, summarize or read."
    if state.paused is not None:
        return f"{state.paused.by} paused it; it goes on when it is resumed."
    if now.waiting_for:
        who = state.participant(now.waiting_for[0])
        name = f"{now.waiting_for[0]!r}" + (f" ({who.role})" if who else "")
        told = f"Next: speak as {name} in round {max(1, now.round)}."
        if just_completed and state.start.procedure == "meeting":
            return f"The round is complete; sum it up as {HOST_WIRE_NAME!r} if you like. {told}"
        if not state.speeches and state.start.procedure == "meeting":
            return f"Open it as {HOST_WIRE_NAME!r} if you like. {told}"
        return told
    if runs_by_itself(state):
        return "The program speaks now: poll to follow it, collect when it is done."
    return f"Conclude it with end, or speak as {HOST_WIRE_NAME!r}."


def _absent(state: State, round_: int) -> tuple[str, ...]:
    return tuple(
        failure.participant
        for failure in state.failures
        if failure.round == round_ > 0
        and (failure.stage == DISCUSSION or state.start.procedure != "meeting")
    )
