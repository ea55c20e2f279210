"""Where a meeting stands: its round, who is next, how close it is, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.convergence import Score
from ..core.effects import turn_id
from ..core.record import SPEECH_ORDER, Point, PointStatus, record_after, record_of
from ..core.standing import convergence
from ..core.state import State
from ..core.values import OUTSIDE, Participant

OPENING, DISCUSSION, SUMMARY, CONCLUSION = "opening", "discussion", "summary", "conclusion"
"""The stages. Host turns sit in round 0, so the summary after round 2 is the stage `summary-2`."""
MINUTES, CLERK = "minutes", "clerk"
"""The host as a clerk, of older meetings and of today's: what it writes is for code, and nobody
hears it."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A point as it stood after a round: who holds it, who rejects it."""

    id: str
    text: str
    status: PointStatus
    held_by: tuple[str, ...]
    rejected_by: tuple[str, ...]
    reasons: dict[str, str]
    """By participant, where one was given."""


@dataclass(frozen=True, slots=True)
class RoundReport:
    """What a round came to. The lists are those of its end; `new` was first raised in it."""

    round: int
    consensus: tuple[Issue, ...]
    """All who could answer the point agree with it."""
    disagreement: tuple[Issue, ...]
    held: tuple[Issue, ...]
    """Some hold it, nobody is against it, and not everybody has said so."""
    rejected: tuple[Issue, ...]
    """All are against it, its author too: no consensus, and part of no score."""
    new: tuple[Issue, ...]
    convergence_score: Score


@dataclass(frozen=True, slots=True)
class MeetingStatus:
    """A meeting at one moment. Round 0 is the host's opening, 1 the first of the participants."""

    round: int
    max_rounds: int
    spoke: tuple[str, ...]
    """Who has spoken in this round."""
    round_complete: bool
    next_speaker: str | None
    """None when no participant is to speak any more."""
    turn: int
    """The participants' turns that are over."""
    of: int
    """The most that there can be: an agreement ends a meeting sooner."""
    seconds_left: float | None
    """At most, at the pace so far; None before anybody has spoken, and where somebody from outside
    takes part, who takes as long as it takes."""
    votes_to_end: tuple[str, ...]
    report: RoundReport


def meeting_status(state: State) -> MeetingStatus:
    round_ = current_round(state)
    limit = max_rounds(state)
    spoke = tuple(speech.participant for speech in state.spoken_in(DISCUSSION, round_))
    order = [p.id for p in state.participants]
    spoken = {speech.turn_id for speech in state.said.of(DISCUSSION)}
    turn = len(spoken | {each.turn_id for each in state.failures if each.stage == DISCUSSION})
    of = len(order) * limit
    return MeetingStatus(
        round=round_,
        max_rounds=limit,
        spoke=spoke,
        round_complete=round_complete(state, round_),
        next_speaker=_next_speaker(state, round_, limit, order),
        turn=turn,
        of=of,
        seconds_left=_seconds_left(state, of - turn),
        votes_to_end=tuple(who for who in order if state.end_votes.get(who)),
        report=round_report(state, round_),
    )


def progress(state: State) -> str:
    """`turn 3 of 12, at most 4 min left`; empty when nobody is to speak."""
    status = meeting_status(state)
    if awaits_conclusion(state):
        return "waits for the coordinator's conclusion"
    if state.closed is not None or status.next_speaker is None:
        return ""
    left = status.seconds_left
    rest = f", at most {max(1, round(left / 60))} min left" if left is not None else ""
    return f"turn {status.turn + 1} of {status.of}{rest}"


def awaits_conclusion(state: State) -> bool:
    """Whether the rounds are over and a coordinator from outside is to conclude. More rounds, or a
    vote to end that is taken back, let the meeting go on."""
    stage = state.stages.get((CONCLUSION, 0))
    if state.closed is not None or stage is None or not speaks_from_outside(state.start.host):
        return False
    turn = state.turn(turn_id(0, CONCLUSION, state.start.host.id))
    if stage.closed is not None or (turn is not None and turn.over):
        return False
    speaking = any(
        name == DISCUSSION and each.closed is None for (name, _), each in state.stages.items()
    )
    return not speaking or all(state.end_votes.get(each.id) for each in state.participants)


def max_rounds(state: State) -> int:
    value = state.start.options.get("max_rounds")
    return (value if isinstance(value, int) else 1) + state.extra_rounds


def current_round(state: State) -> int:
    """The newest round of participants that was opened; 0 before the first."""
    return max((round_ for stage, round_ in state.stages if stage == DISCUSSION), default=0)


def rounds_held(state: State) -> int:
    """The newest round in which somebody spoke: one that was only opened was not held."""
    return max((s.round for s in state.said.of(DISCUSSION)), default=0)


def round_complete(state: State, round_: int) -> bool:
    """Whether nobody is to speak in this round any more."""
    stage = state.stages.get((DISCUSSION, round_))
    return stage is not None and (stage.closed is not None or not _to_speak(state, round_))


def round_report(state: State, round_: int) -> RoundReport:
    """Consensus, disagreement and new points of a round, and its convergence score."""
    return state.derived(f"round_report/{round_}", lambda s: _round_report(s, round_))


def _round_report(state: State, round_: int) -> RoundReport:
    points = record_after(state, round_).points
    before = {point.id for point in record_after(state, round_ - 1).points}

    def listed(*statuses: PointStatus) -> tuple[Issue, ...]:
        return tuple(_issue(point) for point in points if point.status in statuses)

    consensus, disagreement = listed("agreed"), listed("disputed")
    return RoundReport(
        round=round_,
        consensus=consensus,
        disagreement=disagreement,
        held=listed("held"),
        rejected=listed("rejected"),
        new=tuple(_issue(point) for point in points if point.id not in before),
        convergence_score=convergence(points),
    )


def issues(state: State) -> tuple[Issue, ...]:
    """All points on the table, as they stand now."""
    return tuple(_issue(point) for point in record_of(state).points if not point.withdrawn)


def side_by_side(state: State) -> bool:
    """Whether all of a round speak at the same time, unheard by each other."""
    return state.start.options.get(SPEECH_ORDER) == "parallel"


def called(participant: Participant) -> str:
    """`Role(Name)`, as the minutes call everybody."""
    return f"{participant.role}({participant.name})"


def speaks_from_outside(participant: Participant) -> bool:
    """Whether nobody is called for this seat."""
    return participant.speaker.model == OUTSIDE


def _issue(point: Point) -> Issue:
    return Issue(
        id=point.id,
        text=point.text,
        status=point.status,
        held_by=point.holders,
        rejected_by=point.opponents,
        reasons={who: said.text for who, said in point.stances.items() if said.text},
    )


def _next_speaker(state: State, round_: int, limit: int, order: list[str]) -> str | None:
    if state.closed is not None or not order or awaits_conclusion(state):
        return None
    if round_ == 0:
        return order[0]
    if round_complete(state, round_):
        return order[0] if round_ < limit else None
    return _to_speak(state, round_)[0]


def _to_speak(state: State, round_: int) -> list[str]:
    """Who sits there now and has not had a turn: also whoever joined after the round began, and
    nobody who left since."""
    seats = [participant.id for participant in state.participants]
    turns = {who: state.turn(turn_id(round_, DISCUSSION, who)) for who in seats}
    return [who for who, turn in turns.items() if turn is None or not turn.over]


def _seconds_left(state: State, turns: int) -> float | None:
    if any(p.speaker.model == OUTSIDE for p in state.participants):
        return None
    taken = [
        attempt.finished.seconds
        for turn in state.called_turns
        for attempt in turn.attempts
        if attempt.finished is not None and attempt.started.stage == DISCUSSION
    ]
    return turns * sum(taken) / len(taken) if taken else None
